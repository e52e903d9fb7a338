// Config and metadata as trees, and the attachments of the model.
import {h, put, sheet, copier} from './dom.js';
import {bytes, count, many} from './format.js';
import {ask, sorry} from './api.js';

function valueTree(what, side) {
  async function grow(parent, at, from = 0, wanted = () => true) {
    try {
      const answer = await ask('metadata', {what: what === 'config' ? 'config' : undefined, at, from: from || undefined, of: side});
      if (!wanted()) return;
      if (answer.found === 0 && !at) parent.append(h('p', {class: 'quiet'}, 'Nothing.'));
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
      if (opened) grow(inner, at, 0, () => here === turn); else put(inner);
    };
    const long = entry.kind === 'text' && entry.size > 160;
    const shown = nested ? entry.preview || many(entry.size, entry.kind === 'map' ? 'key' : 'entry').replace('entrys', 'entries') : entry.preview;
    const whole = async () => entry.kind === 'text' && entry.size > entry.preview.length ? (await ask('metadata', {what: what === 'config' ? 'config' : undefined, at, of: side})).text : entry.preview;
    const item = h('li', {role: 'treeitem', tabindex: nested ? 0 : undefined, 'aria-expanded': nested ? 'false' : undefined, onkeydown: (event) => { if (event.target === item && (event.key === 'Enter' || event.key === ' ')) { act(); event.preventDefault(); } }},
      h('div', {class: 'node', onclick: act}, mark, h('span', {class: 'mono', style: {flex: '0 1 auto'}}, entry.key), h('span', {class: 'mono quiet', style: {overflowWrap: 'anywhere'}}, long ? `${shown.slice(0, 160)}… (${many(entry.size, 'byte')})` : shown), !nested && copier(whole)), inner);
    return item;
  }
  const list = h('ul', {class: 'tree', role: 'tree', 'aria-label': what});
  grow(list, '');
  return list;
}

function attachmentsSheet(side) {
  const list = h('ul', {class: 'tree'}), shown = h('div', {});
  ask('attachments', {of: side}).then((answer) => {
    if (!answer.rows.length) put(list, h('p', {class: 'quiet'}, 'None.'));
    for (const file of answer.rows) list.append(h('li', {}, h('button', {class: 'plain', type: 'button', style: {marginBottom: '4px'}, onclick: async () => {
      try {
        const answered = await ask('attachment', {attachment: file.attachment, of: side});
        put(shown, h('h3', {class: 'mono', style: {margin: '12px 0 6px'}}, answered.name), answered.text !== null ? [copier(answered.text), h('pre', {}, answered.text)] : h('pre', {}, (answered.hex.match(/.{1,64}/g) || []).join('\n')), !answered.complete && h('p', {class: 'small quiet'}, `The beginning of ${bytes(answered.bytes)}.`));
      } catch (error) { put(shown, sorry(error)); }
    }}, h('span', {class: 'mono'}, file.name), h('span', {class: 'quiet'}, ` ${bytes(file.bytes)}`))));
  }, (error) => put(list, sorry(error)));
  return sheet('Attached files', [], list, shown);
}

export function factsView(state, place) {
  const side = place.of === 'b' ? 'b' : undefined;
  return [sheet('Config', [], valueTree('config', side)), sheet('Metadata', [], valueTree('metadata', side)), attachmentsSheet(side)];
}
