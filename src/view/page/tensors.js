// The list of tensors, as table rows or as a tree, and the selected tensor.
import {h, put, say, picker, choice, emptyState, later} from './dom.js';
import {bytes, count, many, middle, shapeText} from './format.js';
import {chip, typeColour} from './colour.js';
import {ask, isReport, sorry} from './api.js';
import {Rows} from './virtual.js';
import {tensorDetail} from './tensor.js';
import {keepPlace, placeText} from './place.js';

const asked = {search: '', type: '', sort: 'file', way: 'up', form: 'list', open: ''};
const LARGEST_FIRST = ['bytes', 'elements', 'bits'];
const ORDERS = [['file', 'as in the file'], ['name', 'by name'], ['bytes', 'by bytes'], ['elements', 'by elements'], ['bits', 'by bits'], ['type', 'by type'], ['layer', 'by layer']];

// What is open in the tree, as in the address: the beginnings of names, separated by commas.
const MOST_OPEN = 40;
function treeOf(side, open, keep) {
  const opened = new Set(asked.open.split(',').filter(Boolean));
  const list = h('ul', {class: 'tree', role: 'tree', 'aria-label': 'Tensors by name'});
  async function grow(parent, under, from = 0, wanted = () => true) {
    try {
      const answer = await ask('tree', {under, from, count: 200, of: side});
      if (!wanted()) return;
      for (const branch of answer.branches) parent.append(node(branch));
      const left = answer.found - from - answer.branches.length;
      if (left > 0) parent.append(h('li', {}, h('button', {class: 'plain', type: 'button', onclick: (event) => { event.target.parentElement.remove(); grow(parent, under, from + answer.branches.length, wanted); }}, `${count(left)} more`)));
    } catch (error) { parent.append(sorry(error)); }
  }
  function node(branch) {
    const leaf = branch.tensor !== null, inner = h('ul', {role: 'group'}), mark = h('span', {class: 'mark', 'aria-hidden': 'true'}, leaf ? '' : '▸');
    let isOpen = false, turn = 0;
    const act = () => {
      if (leaf) { open(branch.tensor); return; }
      isOpen = !isOpen;
      mark.textContent = isOpen ? '▾' : '▸';
      item.setAttribute('aria-expanded', String(isOpen));
      opened[isOpen ? 'add' : 'delete'](branch.under);
      asked.open = [...opened].slice(0, MOST_OPEN).join(',');
      keep();
      const here = ++turn;
      if (isOpen) grow(inner, branch.under, 0, () => here === turn); else put(inner);
    };
    const head = h('div', {class: 'node', onclick: act}, mark, h('span', {class: 'mono'}, branch.label), h('span', {class: 'sub'}, leaf ? chip(branch.type) : many(branch.tensors, 'tensor')), h('span', {class: 'sub'}, bytes(branch.bytes)));
    const item = h('li', {role: 'treeitem', tabindex: 0, 'aria-expanded': leaf ? undefined : 'false', onkeydown: (event) => {
      if (event.target !== item) return;
      const all = [...list.querySelectorAll('[role="treeitem"]')], at = all.indexOf(item);
      if (event.key === 'Enter' || event.key === ' ' || (event.key === 'ArrowRight' && !isOpen) || (event.key === 'ArrowLeft' && isOpen)) act();
      else if (event.key === 'ArrowDown' && all[at + 1]) all[at + 1].focus();
      else if (event.key === 'ArrowUp' && all[at - 1]) all[at - 1].focus();
      else return;
      event.preventDefault();
    }}, head, inner);
    if (!leaf && opened.has(branch.under)) queueMicrotask(act);
    return item;
  }
  grow(list, '');
  return h('div', {class: 'rows', style: {padding: '8px 14px'}}, list);
}

// Before a tensor is chosen: the largest ones, which is where most begin.
async function beginHere(side, go) {
  try {
    const answer = await ask('tensors', {sort: 'bytes', way: 'down', count: 8, of: side});
    if (!answer.all) return '';
    return h('section', {class: 'sheet hides'}, h('div', {class: 'head'}, h('h2', {}, 'Choose a tensor')), h('p', {class: 'quiet'}, 'Its values, statistics and bytes are shown here. The largest:'),
      h('table', {}, h('tbody', {}, answer.rows.map((row) => h('tr', {class: 'goes', onclick: () => go(row.tensor)}, h('td', {class: 'name'}, h('a', {href: placeText('tensors', row.tensor, {of: side}), style: {color: 'inherit'}}, h('bdi', {}, middle(row.name, 70)))), h('td', {}, chip(row.type)), h('td', {class: 'right'}, shapeText(row.shape)), h('td', {class: 'right'}, bytes(row.bytes)))))));
  } catch (error) { return sorry(error); }
}

export function tensorsView(state, place) {
  const side = place.of === 'b' ? 'b' : undefined, model = state.models[side ? 1 : 0];
  const detail = h('div', {}), body = h('div', {}), found = h('span', {class: 'small quiet'});
  // The address has the choices for the list, without those that are the default.
  const take = (from) => { for (const key of ['search', 'type', 'sort', 'form', 'open']) if (from[key] !== undefined) asked[key] = from[key]; asked.way = LARGEST_FIRST.includes(asked.sort) ? 'down' : 'up'; };
  const listed = () => ({search: asked.search, type: asked.type, sort: asked.sort === 'file' ? undefined : asked.sort, form: asked.form === 'list' ? undefined : asked.form, open: asked.form === 'tree' ? asked.open : undefined});
  const go = (tensor) => { location.hash = placeText('tensors', tensor, {of: side, ...listed()}); };
  take(place);
  const query = () => ({search: asked.search, type: asked.type, sort: asked.sort === 'file' ? undefined : asked.sort, way: asked.way === 'up' ? undefined : asked.way, of: side});
  const rows = new Rows({label: 'Tensors', height: 46, load: (from, number) => ask('tensors', {...query(), from, count: number}), open: (row) => go(row.tensor),
    draw: (row) => [h('div', {class: 'name', title: row.name, dir: 'ltr'}, h('bdi', {}, middle(row.name, Math.max(14, Math.floor((rows.element.clientWidth - 56 - 22 - 6.9 * row.type.length) / 7.75))))), chip(row.type), h('div', {class: 'sub'}, shapeText(row.shape), row.layer === null ? '' : ` · layer ${row.layer} · ${row.role}`), h('div', {class: 'sub right'}, bytes(row.bytes))]});
  let turn = 0, looking = null;
  async function load() {
    if (!whole.isConnected) return;
    const here = ++turn;
    keepPlace(listed());
    if (asked.form === 'tree') { put(body, treeOf(side, go, () => keepPlace(listed()))); found.textContent = ''; return; }
    try {
      const first = await ask('tensors', {...query(), from: 0, count: 100, with: chosen});
      if (here !== turn) return;
      hits = first.rows;
      if (!first.found) {
        found.textContent = `0 of ${many(first.all, 'tensor')}`;
        say(found.textContent);
        put(body, emptyState(first.all ? 'No tensor matches.' : 'The model has no tensors.', (asked.search || asked.type) && h('button', {class: 'plain', type: 'button', onclick: () => { asked.search = search.value = ''; asked.type = types.value = ''; load(); }}, 'Show all')));
        return;
      }
      if (!rows.element.isConnected) put(body, rows.element);
      found.textContent = first.found === first.all ? many(first.all, 'tensor') : `${count(first.found)} of ${many(first.all, 'tensor')}`;
      say(found.textContent);
      await rows.begin(first);
      rows.mark(chosen);
      if (typeof first.place === 'number') rows.reveal(first.place);
    } catch (error) { if (here === turn) put(body, sorry(error)); }
  }
  let chosen = place.tensor === undefined ? undefined : Number(place.tensor), hits = [];
  const search = h('input', {type: 'search', placeholder: 'Search, as in  l12 q_proj', 'aria-label': 'Search tensors', maxlength: 200, value: asked.search, spellcheck: 'false', oninput: later(() => { asked.search = search.value; load(); })});
  search.addEventListener('keydown', (event) => { if (event.key === 'ArrowDown') { rows.element.focus(); rows.choose(0, false); event.preventDefault(); }
    // The best hit, also if the list does not show it yet.
    if (event.key === 'Enter') {
      event.preventDefault();
      asked.search = search.value;
      ask('tensors', {...query(), from: 0, count: 1}).then((answer) => answer.rows[0] && go(answer.rows[0].tensor), () => {});
    }
  });
  const types = picker('Type', [['', 'all types'], ...model.types.map((type) => [type.type, type.type])], asked.type, (value) => { asked.type = value; load(); });
  const whole = h('div', {class: `split${place.tensor !== undefined ? ' chosen' : ''}`},
    h('section', {class: 'sheet listing', 'aria-label': 'All tensors'},
      h('div', {class: 'tools'}, search,
        types,
        picker('Order', ORDERS, asked.sort, (value) => { take({sort: value}); load(); }),
        choice('As', [['list', 'list'], ['tree', 'tree']], asked.form, (value) => { asked.form = value; load(); })),
      found, body),
    detail);
  async function show(next) {
    whole.leave();
    looking = new AbortController();
    const {signal} = looking;
    chosen = next.tensor === undefined ? undefined : Number(next.tensor);
    whole.classList.toggle('chosen', next.tensor !== undefined);
    rows.mark(chosen);
    // Back and forth in the history: what the list showed then.
    const before = JSON.stringify(listed());
    take(next);
    if (begun && JSON.stringify(listed()) !== before) { search.value = asked.search; types.value = asked.type; load(); }
    else if (begun) keepPlace(listed());
    if (next.tensor === undefined) { put(detail); const made = await beginHere(side, go); if (!signal.aborted) put(detail, made); return; }
    try {
      const made = await tensorDetail(state, next, signal);
      if (!signal.aborted) put(detail, made);
    } catch (error) { if (!signal.aborted) put(detail, sorry(error)); }
  }
  // The tensor is no longer shown, so reading for it stops.
  whole.leave = () => { if (looking) looking.abort(); };
  whole.show = show;
  let begun = false;
  queueMicrotask(() => { begun = true; load(); });
  show(place);
  return whole;
}
