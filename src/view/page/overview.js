// The summary of the model: sizes, differences between layers, the map of the file.
import {h, s, put, say, sheet, choice, picker, facts} from './dom.js';
import {bytes, count, many, rough, bitsText, percent} from './format.js';
import {typeColour, bitsColour, chip} from './colour.js';
import {legend} from './chart.js';
import {ask, isReport, sorry} from './api.js';

const goTo = (tensor, side) => { location.hash = `#/tensors/${tensor}${side === 'b' ? '?of=b' : ''}`; };

function modelFacts(model) {
  const config = model.config, words = model.vocabulary;
  return facts([
    ['Format', model.title || model.format, model.version && `version ${model.version}`],
    model.family && ['Family', model.family, [config.model_type !== model.family && config.model_type, config.hidden_size && `width ${count(config.hidden_size)}`].filter(Boolean).join(', ')],
    ['Parameters', rough(model.elements), model.elements >= 1e6 && count(model.elements)],
    ['Size', bytes(model.file_bytes || model.bytes), model.file_count > 1 ? many(model.file_count, 'file') : `${bytes(model.bytes)} of tensors`],
    ['Bits per weight', bitsText(model.bits)],
    model.layers > 0 && ['Layers', count(model.layers), config.num_attention_heads && `${config.num_attention_heads} heads${config.num_key_value_heads ? `, ${config.num_key_value_heads} KV heads` : ''}`],
    config.max_position_embeddings && ['Context', count(config.max_position_embeddings), config.rope_theta && `rope theta ${config.rope_theta}`],
    words && ['Tokenizer', `${count(words.tokens)} tokens`, [words.kind, words.merges && many(words.merges, 'merge')].filter(Boolean).join(', ')],
    ['Tensors', count(model.tensors), model.broken_count ? `${model.broken_count} broken` : undefined],
  ]);
}

function typesTable(model) {
  return [
    h('div', {class: 'stack', 'aria-hidden': 'true'}, model.types.map((type) => h('span', {title: `${type.type}: ${bytes(type.bytes)}`,
      style: {background: typeColour(type.type), flex: `${Math.max(type.bytes, 1)} 1 0`}}))),
    h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Type'), h('th', {class: 'right'}, 'Tensors'), h('th', {class: 'right'}, 'Parameters'),
      h('th', {class: 'right'}, 'Bytes'), h('th', {class: 'right'}, 'Share'), h('th', {class: 'right'}, 'Bits'), h('th', {class: 'hides'}, ''))),
    h('tbody', {}, model.types.map((type) => h('tr', {}, h('td', {}, chip(type.type)), h('td', {class: 'right'}, count(type.tensors)), h('td', {class: 'right'}, rough(type.elements)),
      h('td', {class: 'right'}, bytes(type.bytes)), h('td', {class: 'right'}, percent(model.bytes ? type.bytes / model.bytes : 0)), h('td', {class: 'right'}, bitsText(type.bits)),
      h('td', {class: 'quiet small hides'}, type.title)))))),
  ];
}

const kept = {colour: 'type'};
// What to redraw, as long as it is on the page.
const recoloured = new Map();
addEventListener('recolour', () => { for (const [area, draw] of recoloured) if (area.isConnected) draw(); else recoloured.delete(area); });
function onRecolour(area, draw) {
  for (const other of recoloured.keys()) if (!other.isConnected) recoloured.delete(other);
  queueMicrotask(() => recoloured.set(area, draw));  // once it is on the page
}
const colourOf = (entry) => kept.colour === 'type' ? (entry.type === 'mixed' ? '#b3b8c2' : typeColour(entry.type)) : bitsColour(entry.bits);

function describe(tile) {
  return `${tile.under || tile.label}: ${bytes(tile.bytes)}, ${many(tile.tensors, 'tensor')}, ${tile.type === 'mixed' ? 'several types' : tile.type}, ${bitsText(tile.bits)} bits per weight`;
}

// Opening a group in one of two treemaps opens it in the other, if it exists; the same for the cells of layers.
class Link {
  constructor() { this.members = []; }
  join(follow) { this.members.push(follow); return (...what) => this.members.forEach((member) => member !== follow && member(...what)); }
}

// The treemap: arrow keys go from tile to tile, Enter opens, Backspace goes up.
function treemapSheet(side, link) {
  const area = h('div', {}), reading = h('div', {class: 'reading'}), path = h('div', {class: 'crumb'});
  let under = '', tiles = [], at = -1, turn = 0;
  const tell = link.join((where) => load(where, true));
  const go = (where) => { load(where); tell(where); };
  const up = () => go(isReport ? '' : under.replace(/[^.]*\.?$/, '').replace(/[^.]*$/, ''));
  const open = (tile) => { if (tile.tensor !== null) goTo(tile.tensor, side); else if (tile.under) go(tile.under); };
  const point = (index) => { at = index; reading.textContent = tiles[at] ? describe(tiles[at]) : ''; area.querySelectorAll('.at').forEach((e) => e.classList.remove('at')); const e = area.querySelector(`[data-tile="${at}"]`); if (e) e.classList.add('at'); };
  function draw(answer) {
    tiles = answer.tiles;
    const picture = s('svg', {class: 'plot map', viewBox: `0 0 ${answer.width} ${answer.height}`, tabindex: 0, role: 'group', 'aria-label': 'Tensors by bytes; arrow keys move, Enter opens, Backspace goes up'});
    tiles.forEach((tile, i) => {
      picture.append(s('rect', {class: tile.opened ? 'tile group' : 'tile', 'data-tile': i, x: tile.x + 0.5, y: tile.y + 0.5, width: Math.max(0.4, tile.width - 1), height: Math.max(0.4, tile.height - 1), rx: 2,
        fill: tile.opened ? undefined : colourOf(tile), onclick: () => open(tile), onpointerenter: () => point(i)}));
      const room = Math.floor((tile.width - 8) / 6.1);
      if (tile.height > 13 && room > 2) picture.append(s('text', {x: tile.x + 5, y: tile.y + 11.5}, tile.label.length > room ? `${tile.label.slice(0, room - 1)}…` : tile.label));
    });
    picture.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (step) { point(Math.min(tiles.length - 1, Math.max(0, at + step))); say(reading.textContent); }
      else if (event.key === 'Enter' && tiles[at]) open(tiles[at]);
      else if (event.key === 'Backspace' && under) up();
      else return;
      event.preventDefault();
    });
    put(area, picture);
    put(path, under && [h('button', {class: 'plain', type: 'button', onclick: up}, '↑ up'), ' ', h('span', {class: 'mono'}, under)]);
  }
  // A report has one picture; a part of it is enlarged to full size.
  function cropped(answer, where) {
    const whole = answer.tiles.find((tile) => tile.under === where && tile.tensor === null);
    if (!whole) return {...answer, tiles: []};
    const across = answer.width / whole.width, down = answer.height / whole.height, inside = (tile) => tile !== whole && tile.x >= whole.x - 0.01 && tile.y >= whole.y - 0.01 && tile.x + tile.width <= whole.x + whole.width + 0.01 && tile.y + tile.height <= whole.y + whole.height + 0.01;
    return {...answer, tiles: answer.tiles.filter(inside).map((tile) => ({...tile, x: (tile.x - whole.x) * across, y: (tile.y - whole.y) * down, width: tile.width * across, height: tile.height * down}))};
  }
  async function load(where = under, follows = false) {
    const here = ++turn;
    try {
      const width = Math.round(Math.min(1280, Math.max(300, area.clientWidth || 960)));
      let answer = await ask('treemap', {under: isReport ? '' : where, width, height: width < 600 ? 420 : 460, of: side});
      if (here !== turn) return;
      if (isReport && where) answer = cropped(answer, where);
      if (!answer.tiles.length && where && (follows || isReport)) return;
      under = where;
      draw(answer);
    } catch (error) { if (here === turn) put(area, sorry(error)); }
  }
  const whole = sheet('Size by tensor', [side !== 'b' && choice('Colour', [['type', 'by type'], ['bits', 'by bits per weight']], kept.colour, (value) => { kept.colour = value; dispatchEvent(new Event('recolour')); })], path, area, reading,
    h('p', {class: 'small quiet'}, 'Click a group to look into it, a tensor to see its values.'));
  onRecolour(area, () => load());
  queueMicrotask(() => load());
  return whole;
}

// Layers and roles. One cell is in the tab order; arrow keys reach the others.
function layersSheet(side, link) {
  const area = h('div', {class: 'wide'}), reading = h('div', {class: 'reading'});
  let answer, marked;
  const mark = (found) => { if (marked) marked.classList.remove('at'); marked = found; if (found) found.classList.add('at'); reading.textContent = found ? found.getAttribute('aria-label') : ''; };
  const tell = link.join((cell) => mark([...area.querySelectorAll('a[data-cell]')].find((found) => found.dataset.cell === cell)));
  function cellOf(cell, role, layer) {
    if (!cell) return h('td', {});
    const text = `${layer === null ? '' : `layer ${layer}, `}${role}: ${cell.type}, ${cell.tensors > 1 ? many(cell.tensors, 'tensor') : cell.shape}, ${bytes(cell.bytes)}, ${bitsText(cell.bits)} bits${cell.odd ? '; differs from most layers' : ''}`;
    const place = `${layer}\n${role}`, here = (event) => { mark(event.currentTarget); tell(place); };
    return h('td', {}, h('a', {'data-cell': place, href: `#/tensors/${cell.tensor}${side === 'b' ? '?of=b' : ''}`, class: cell.odd ? 'odd' : undefined, tabindex: -1, 'aria-label': text, style: {background: colourOf(cell)}, onpointerenter: here, onfocus: here}, cell.type));
  }
  function draw() {
    if (!answer.layers.length) { put(area, h('p', {class: 'quiet'}, 'The names of the tensors say nothing about layers.')); return; }
    const table = h('table', {class: `grid${answer.layers.length > 48 ? ' dense' : ''}`},
      h('caption', {class: 'unseen'}, 'Layers and what each holds; arrow keys move between cells'),
      h('thead', {}, h('tr', {}, h('th', {}), answer.roles.map((role) => h('th', {scope: 'col'}, h('span', {}, role))))),
      h('tbody', {}, answer.layers.map((row, layer) => h('tr', {}, h('th', {scope: 'row'}, answer.layers.length > 48 && layer % 8 ? '' : layer),
        row.map((cell, i) => cellOf(cell, answer.roles[i], layer))))));
    const first = table.querySelector('a');
    if (first) first.tabIndex = 0;
    table.addEventListener('keydown', (event) => {
      const move = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key], cell = event.target.closest('td');
      if (!move || !cell) return;
      let row = cell.parentElement.rowIndex, column = cell.cellIndex, next;
      do { row += move[0]; column += move[1]; next = table.rows[row] && table.rows[row].cells[column]; } while (next && !next.querySelector('a') && row > 0 && column > 0);
      const link = next && next.querySelector('a');
      if (link) { event.target.tabIndex = -1; link.tabIndex = 0; link.focus(); }
      event.preventDefault();
    });
    put(area, table, answer.others.length > 0 && legend(answer.others.map((other) => h('a', {class: 'chip', style: {color: 'inherit'}, href: `#/tensors/${other.cell.tensor}${side === 'b' ? '?of=b' : ''}`}, h('i', {style: {background: colourOf(other.cell)}}), other.role, ' ', h('span', {class: 'quiet'}, other.cell.type)))));
  }
  ask('layers', {of: side}).then((got) => { answer = got; draw(); }, (error) => put(area, sorry(error)));
  onRecolour(area, () => answer && draw());
  return sheet('Layers', [h('span', {class: 'small quiet'}, '● differs from most')], area, reading);
}

// The file as a band. Its buttons, + and - zoom it; the arrow keys move it.
function mapSheet(model, side, start) {
  const area = h('div', {}), reading = h('div', {class: 'reading'}), words = h('p', {class: 'small quiet'});
  let file = start ? start.file : 0, size = 1, from = 0, to = null;
  if (start && start.offset !== undefined) { from = Math.max(0, start.offset - 2048); to = start.offset + 2048; }
  const kinds = {header: 'var(--faint)', gap: 'var(--line)', end: 'var(--faint)', attachment: '#8a8f99', several: '#b3b8c2'};
  function draw(answer) {
    size = answer.bytes; from = answer.from; to = answer.to;
    const W = 1000, px = (offset) => (offset - from) / Math.max(1, to - from) * W;
    const band = s('svg', {class: 'plot', viewBox: `0 0 ${W} 34`, preserveAspectRatio: 'none', tabindex: 0, style: {height: '36px'}, role: 'group', 'aria-label': `Bytes ${from} to ${to} of ${answer.name}; plus and minus zoom, arrows move`});
    for (const span of answer.spans) {
      const x = Math.max(0, px(span.offset)), right = Math.min(W, px(span.offset + span.bytes));
      const text = `${span.name || {header: 'before the tensors', gap: 'gap', end: 'after the tensors', several: `${span.parts} parts`}[span.kind] || span.kind}${span.type ? `, ${span.type}` : ''}: ${count(span.bytes)} bytes at ${count(span.offset)}${span.kind === 'shared' ? ', shared' : ''}`;
      band.append(s('rect', {x, y: 0, width: Math.max(0.6, right - x - (right - x > 3 ? 0.6 : 0)), height: 34, fill: span.type ? typeColour(span.type) : kinds[span.kind] || 'var(--line)', style: {cursor: span.tensor !== undefined ? 'pointer' : 'default'},
        onpointerenter: () => { reading.textContent = text; }, onclick: () => span.tensor !== undefined && goTo(span.tensor, side)}, s('title', {}, text)));
    }
    if (start && start.offset !== undefined && start.offset >= from && start.offset < to) band.append(s('path', {d: `M${px(start.offset)} 0v34`, stroke: 'var(--bad)', 'stroke-width': 2}));
    band.addEventListener('keydown', (event) => {
      const width = to - from;
      if (event.key === '+' || event.key === '=') zoom(0.5);
      else if (event.key === '-') zoom(2);
      else if (event.key === 'ArrowRight') move(width / 4);
      else if (event.key === 'ArrowLeft') move(-width / 4);
      else return;
      event.preventDefault();
    });
    put(area, band, h('div', {class: 'small quiet', style: {display: 'flex', justifyContent: 'space-between', marginTop: '4px'}}, h('span', {}, count(from)), h('span', {}, count(to))));
    words.textContent = `${many(answer.components, 'component')} in ${bytes(answer.tensor_bytes)}; ${answer.gap_bytes ? `${count(answer.gap_bytes)} bytes of gaps` : 'no gaps'}; every one at a multiple of ${count(answer.alignment || 1)} bytes`;
  }
  let turn = 0;
  const load = async () => {
    const here = ++turn;
    try { const answer = await ask('map', {file, from, to, of: side}); if (here === turn) draw(answer); } catch (error) { if (here === turn) put(area, sorry(error)); }
  };
  function zoom(factor) { const middle = (from + to) / 2, half = Math.max(32, (to - from) * factor / 2); from = Math.max(0, Math.floor(middle - half)); to = Math.min(size, Math.ceil(middle + half)); load(); }
  function move(by) { const width = to - from; from = Math.round(Math.max(0, Math.min(size - width, from + by))); to = from + width; load(); }
  const button = (text, label, act) => h('button', {class: 'plain', type: 'button', 'aria-label': label, onclick: act}, text);
  load();
  return sheet('File layout', [
    model.file_count > 1 && picker('File', model.files.map((f, i) => [String(i), f.name]), String(file), (value) => { file = Number(value); from = 0; to = null; load(); }),
    [button('+', 'Zoom in', () => zoom(0.5)), button('−', 'Zoom out', () => zoom(2)), button('all', 'The whole file', () => { from = 0; to = null; load(); })],
  ], area, reading, words, legend([...model.types.slice(0, 8).map((type) => chip(type.type)), h('span', {class: 'chip'}, h('i', {style: {background: 'var(--line)'}}), 'gap'), h('span', {class: 'chip'}, h('i', {style: {background: 'var(--faint)'}}), 'header')]));
}

function factsSheet(model) {
  return [
    h('section', {class: 'sheet'}, h('div', {class: 'head'}, h('h1', {}, model.name), h('span', {class: 'crumb mono'}, model.path)), modelFacts(model)),
    model.broken.length > 0 && sheet('Broken tensors', [], model.broken.map((broken) => h('div', {class: 'finding error'}, h('div', {class: 'kind'}, 'error'), h('div', {}, h('span', {class: 'mono'}, broken.name), h('p', {}, broken.sentence, ' ', h('span', {class: 'quiet small'}, broken.rule)))))),
  ];
}

// For two models, everything is shown twice, side by side.
export function overviewView(state, place) {
  const tiles = new Link(), cells = new Link(), two = state.models.length > 1;
  const start = (side) => place.offset !== undefined && (place.of === 'b') === (side === 'b') ? {file: Number(place.file || 0), offset: Number(place.offset)} : null;
  const both = (make) => two ? h('div', {class: 'two'}, state.models.map((model, i) => h('div', {}, make(model, i ? 'b' : undefined)))) : make(state.models[0], undefined);
  return [
    both((model) => factsSheet(model)),
    both((model) => sheet('Types', [], typesTable(model))),
    both((model, side) => treemapSheet(side, tiles)),
    both((model, side) => layersSheet(side, cells)),
    both((model, side) => mapSheet(model, side, start(side))),
  ];
}
