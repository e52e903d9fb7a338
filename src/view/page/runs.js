// Two models on the same text: their predictions are compared, and their layers.
import {h, put, say, sheet, facts, meterBar, breakable} from './dom.js';
import {count, many, real, fixed, percent} from './format.js';
import {curves, legend, swatch} from './chart.js';
import {ask, work, isReport, sorry} from './api.js';

const SERIES = [['difference', 'after it, with everything before', 'var(--head)', '5 4'], ['own', 'its own part', 'var(--bar)', undefined]];
const withError = ({value, error}) => `± ${real(error, 2)}`;

function verdictOf({kl_largest: largest, parting, casts, settings}) {
  if (largest === 0) return 'They say the same.';
  if (!parting) return casts.length ? 'No place parts by more than the rounding of its types.' : 'No place parts.';
  if (!parting.tensor) return `They part at ${parting.place}, where no weight differs: settings do.`;
  return `They part at ${parting.place}: ${parting.tensor} differs${parting.relative_rms === null ? '' : ` by ${real(parting.relative_rms)}`}.`;
}

function curveOf({places, complete}) {
  if (!places.length) return h('p', {class: 'quiet'}, 'The two have other layers, which cannot be compared one by one.');
  const label = 'Relative difference of the hidden states, by layer';
  return [h('h3', {}, 'By layer'), curves(SERIES.map(([key, , colour, dash]) => ({values: places.map((place) => place[key]), colour, dash})), {label, names: places.map((place) => place.name)}),
    legend(SERIES.map(([, text, colour]) => swatch(colour, text))), !complete && h('p', {class: 'small quiet'}, `The first ${count(places.length)} places.`),
    h('details', {}, h('summary', {}, 'As a table'), h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Place'), h('th', {class: 'right'}, 'Difference'), h('th', {class: 'right'}, 'Own'))),
      h('tbody', {}, places.map((place) => h('tr', {}, h('td', {}, place.name), h('td', {class: 'right'}, real(place.difference)), h('td', {class: 'right'}, real(place.own))))))))];
}

function worstOf({worst}) {
  if (!worst.length) return null;
  const piece = (text) => h('td', {class: 'mono'}, h('bdi', {}, text));
  return [h('h3', {}, 'Where they disagree most'), h('div', {class: 'wide'}, h('table', {class: 'worst'}, h('thead', {}, h('tr', {}, ['Text so far', 'Next', 'A expects', 'B expects'].map((text) => h('th', {}, text)), h('th', {class: 'right'}, 'KL'))),
    h('tbody', {}, worst.map((one) => h('tr', {}, piece(one.text), piece(one.next), piece(one.said_a), piece(one.said_b), h('td', {class: 'right'}, real(one.kl)))))))];
}

function drawRuns(area, answer) {
  const {kl, kl_99: most, ratio, perplexity_a: a, perplexity_b: b, top_1: top, settings, casts} = answer;
  put(area, h('p', {class: 'verdict-line', role: 'status', 'data-runs': 'done'}, h('b', {}, breakable(verdictOf(answer)))),
    facts([['KL divergence', real(kl.value), withError(kl)], ['at 99 % of the tokens', real(most.value), withError(most)], ['largest', real(answer.kl_largest)],
      ['Perplexity of A', fixed(a.value, 3), withError(a)], ['Perplexity of B', fixed(b.value, 3), withError(b)], ['B / A', fixed(ratio.value, 4), withError(ratio)],
      ['Same best token', percent(top.value)], ['Tokens', count(answer.tokens)]]),
    settings.length > 0 && h('p', {class: 'small'}, 'Settings that differ: ', settings.map(({name, change}) => `${name} (${change})`).join(', '), '.'),
    casts.length > 0 && h('p', {class: 'small quiet'}, 'Types: ', casts.map(({change, tensors}) => `${change} (${many(tensors, 'tensor')})`).join(', '), '.'),
    curveOf(answer), worstOf(answer));
}

export function runsSheet(alive) {
  if (isReport) return null;
  const area = h('div', {}), slot = h('div', {});
  let turn = 0;
  const button = h('button', {class: 'plain', type: 'button', onclick: run}, 'Run both');
  const meter = meterBar(false, () => { ++turn; ask('run/stop', {}, 'POST').catch(() => {}); put(slot); button.disabled = false; say('Cancelled.'); });
  async function run() {
    const here = ++turn;
    button.disabled = true;
    put(slot, meter);
    meter.set(0);
    try {
      const answer = await work('run/start', 'run', {}, meter.set, () => alive() && here === turn);
      if (answer && here === turn) { drawRuns(area, answer); say(verdictOf(answer)); }
    } catch (error) { if (here === turn) put(area, sorry(error)); }
    if (here !== turn) return;
    put(slot);
    button.disabled = false;
  }
  put(area, h('p', {class: 'quiet'}, 'Both models read a text of 6 KB that comes with Tare. What they expect next is compared, and what each layer adds to it.'));
  // Results of an earlier run, or the progress of the current one.
  ask('run').then((answer) => { if (answer.done) drawRuns(area, answer); else if (answer.started) run(); }, () => {});
  return sheet('What they say', [button], slot, area);
}
