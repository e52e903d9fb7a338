// Runs verify, and shows each finding with its bytes.
import {h, put, say, sheet, facts, meterBar} from './dom.js';
import {bytes, count, many} from './format.js';
import {ask, work, isReport, sorry} from './api.js';

function hexLines(answer) {
  const pairs = answer.hex.match(/../g) || [], lines = [];
  for (let i = 0; i < pairs.length; i += 16) {
    const part = pairs.slice(i, i + 16), text = part.map((pair) => { const c = parseInt(pair, 16); return c >= 32 && c < 127 ? String.fromCharCode(c) : '.'; }).join('');
    lines.push(`${(answer.from + i).toString(16).padStart(10, '0')}  ${part.join(' ').padEnd(48)} ${text}`);
  }
  return lines.join('\n');
}

function findingOf(finding, side) {
  const dump = h('div', {}), where = finding.offset === null ? null : `byte ${count(finding.offset)}${finding.file === null ? '' : ` of ${finding.file_name}`}`;
  return h('div', {class: `finding ${finding.severity}`}, h('div', {class: 'kind'}, finding.severity), h('div', {},
    finding.item && h('div', {class: 'mono small'}, finding.item), h('div', {}, finding.sentence), h('div', {class: 'small quiet'}, h('span', {class: 'mono'}, finding.rule), where && ` · ${where}`,
      where && finding.file !== null && [' ', h('button', {class: 'copy', type: 'button', onclick: async () => {
        try { put(dump, h('pre', {}, hexLines(await ask('bytes', {file: finding.file, from: Math.max(0, finding.offset - finding.offset % 16 - 32), count: 128, of: side})))); } catch (error) { put(dump, sorry(error)); }
      }}, 'show bytes'), h('a', {class: 'small', href: `#/overview?file=${finding.file}&offset=${finding.offset}${side ? '&of=b' : ''}`}, 'on the map')]), dump));
}

export function checkView(state, place) {
  const side = place.of === 'b' ? 'b' : undefined, area = h('div', {});
  let running = 0;
  const meter = meterBar(true, () => { ++running; ask('check/stop', {of: side}, 'POST').catch(() => {}); meter.hidden = true; button.disabled = false; say('Cancelled.'); });
  function draw(answer) {
    const verdict = !answer.ok ? `Invalid: ${many(answer.errors, 'error')}${answer.warnings ? `, ${many(answer.warnings, 'warning')}` : ''}` : answer.warnings ? `Valid, ${many(answer.warnings, 'warning')}` : 'No problems found';
    say(verdict);
    put(area, h('p', {class: `verdict ${!answer.ok ? 'bad' : answer.warnings ? 'warned' : 'good'}`}, h('span', {class: 'sign', 'aria-hidden': 'true'}, !answer.ok ? '✕' : answer.warnings ? '!' : '✓'), ' ', verdict),
      h('div', {class: 'findings'}, answer.findings.map((finding) => findingOf(finding, side))), answer.found > answer.findings.length && h('p', {class: 'quiet'}, `The first ${answer.findings.length} of ${count(answer.found)}.`),
      facts([['Format', answer.format || 'unknown', answer.version], ['Tensors', count(answer.tensors)], ['Checked', bytes(answer.bytes)], ['Findings', count(answer.found)]]));
  }
  async function run() {
    const run = ++running;
    button.disabled = true;
    meter.hidden = false;
    meter.set(0);
    try { const answer = await work('check/start', 'check', {of: side}, meter.set, () => area.isConnected && run === running); if (answer) draw(answer); } catch (error) { if (run === running) put(area, sorry(error)); }
    if (run !== running) return;
    meter.hidden = true;
    button.disabled = false;
  }
  const button = h('button', {class: 'plain strong', type: 'button', onclick: run}, 'Check everything');
  put(area, h('p', {class: 'quiet'}, 'Structure, bounds, padding, digests, and the data of every tensor: everything that can be checked. It reads the whole model.'));
  // Shows findings of an earlier run, or the progress of the current one.
  ask('check', {of: side}).then((answer) => { if (answer.done) draw(answer); else if (answer.started) run(); }, () => {});
  return sheet('Check', [!isReport && button], meter, area);
}
