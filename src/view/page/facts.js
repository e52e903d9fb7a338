// Config and metadata as trees, and the attachments of the model.
import {h, put, sheet, copier, emptyState} from './dom.js';
import {bytes, count, many} from './format.js';
import {ask, sorry} from './api.js';
import {keepPlace} from './place.js';

// `open`: the places of nested values that the address shows open.
function valueTree(what, side, place) {
  const open = new Set((place[what] || '').split('-').filter(Boolean));
  async function grow(parent, at, from = 0, wanted = () => true) {
    try {
      const answer = await ask('metadata', {what: what === 'config' ? 'config' : undefined, at, from: from || undefined, of: side});
      if (!wanted()) return;
      if (answer.found === 0 && !at) parent.append(emptyState(what === 'config' ? 'The model has no config.' : 'The model has no metadata.'));
      for (const entry of answer.entries) parent.append(node(entry, at === '' ? String(entry.place) : `${at}.${entry.place}`));
      const left = answer.found - from - answer.entries.length;
      if (left > 0) parent.append(h('li', {}, h('button', {class: 'plain', type: 'button', onclick: (event) => { event.target.parentElement.remove(); grow(parent, at, from + answer.entries.length, wanted); }}, `${count(left)} more`)));
    } catch (error) { parent.append(h('li', {}, sorry(error))); }
  }
  function node(entry, at) {
    const nested = entry.kind === 'map' || entry.kind === 'list', inner = h('ul', {role: 'group'}), mark = h('span', {class: 'mark', 'aria-hidden': 'true'}, nested ? '▸' : '');
    let opened = false, turn = 0;
    const act = () => {
      if (!nested) return;
      opened = !opened;
      mark.textContent = opened ? '▾' : '▸';
      item.setAttribute('aria-expanded', String(opened));
      const here = ++turn;
      open[opened ? 'add' : 'delete'](at);
      keepPlace({[what]: [...open].slice(0, 40).join('-')});
      if (opened) grow(inner, at, 0, () => here === turn); else put(inner);
    };
    const long = entry.kind === 'text' && entry.size > 160;
    const shown = nested ? entry.preview || many(entry.size, entry.kind === 'map' ? 'key' : 'entry').replace('entrys', 'entries') : entry.preview;
    const whole = async () => entry.kind === 'text' && entry.size > entry.preview.length ? (await ask('metadata', {what: what === 'config' ? 'config' : undefined, at, of: side})).text : entry.preview;
    const item = h('li', {role: 'treeitem', tabindex: nested ? 0 : undefined, 'aria-expanded': nested ? 'false' : undefined, onkeydown: (event) => { if (event.target === item && (event.key === 'Enter' || event.key === ' ')) { act(); event.preventDefault(); } }},
      h('div', {class: 'node', onclick: act}, mark, h('span', {class: 'mono key'}, h('bdi', {}, entry.key)), h('span', {class: 'mono quiet value'}, long ? `${shown.slice(0, 160)}… (${many(entry.size, 'byte')})` : shown), !nested && copier(whole)), inner);
    if (nested && open.has(at)) queueMicrotask(act);
    return item;
  }
  const list = h('ul', {class: 'tree values-tree', role: 'tree', 'aria-label': what});
  grow(list, '');
  return list;
}

function attachmentsSheet(side, place) {
  const list = h('ul', {class: 'tree files'}), shown = h('div', {});
  ask('attachments', {of: side}).then((answer) => {
    if (!answer.rows.length) put(list, emptyState('No files are attached.'));
    for (const file of answer.rows) list.append(h('li', {}, h('button', {class: 'plain', type: 'button', style: {marginBottom: '4px'}, 'data-attachment': file.attachment, onclick: async () => {
      keepPlace({attached: file.attachment});
      try {
        const answered = await ask('attachment', {attachment: file.attachment, of: side});
        put(shown, h('h3', {class: 'mono', style: {margin: '12px 0 6px'}}, answered.name), answered.text !== null ? [copier(answered.text), h('pre', {}, answered.text)] : h('pre', {}, (answered.hex.match(/.{1,64}/g) || []).join('\n')), !answered.complete && h('p', {class: 'small quiet'}, `The beginning of ${bytes(answered.bytes)}.`));
      } catch (error) { put(shown, sorry(error)); }
    }}, h('span', {class: 'mono'}, file.name), h('span', {class: 'quiet'}, ` ${bytes(file.bytes)}`))));
    const chosen = place.attached !== undefined && list.querySelector(`[data-attachment="${Number(place.attached)}"]`);
    if (chosen) chosen.click();
  }, (error) => put(list, sorry(error)));
  return sheet('Attached files', [], list, shown);
}

export function factsView(state, place) {
  const side = place.of === 'b' ? 'b' : undefined;
  return [sheet('Config', [], valueTree('config', side, place)), sheet('Metadata', [], valueTree('metadata', side, place)), attachmentsSheet(side, place)];
}
