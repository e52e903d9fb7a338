// The summary of the model: sizes, differences between layers, the map of the file.
import {h, s, put, say, sheet, markedSheet, sideMark, emptyState, loading, choice, picker, facts, breakable} from './dom.js';
import {bytes, count, many, middle, rough, bitsText, percent} from './format.js';
import {typeColour, bitsColour, chip, gradient, inkOn} from './colour.js';
import {legend, ramp, swatch} from './chart.js';
import {ask, isReport, sorry} from './api.js';
import {Link, layerTable} from './grid.js';
import {keepPlace} from './place.js';
import {lossSheet} from './compare.js';

const goTo = (tensor, side) => { location.hash = `#/tensors/${tensor}${side === 'b' ? '?of=b' : ''}`; };

function modelFacts(model) {
  const config = model.config, words = model.vocabulary;
  return facts([
    ['Format', (model.title || model.format).replace(/ directory$/, ''), [/ directory$/.test(model.title) && 'directory', model.version && `version ${model.version}`].filter(Boolean).join(', ')],
    model.family && ['Family', model.family, [config.model_type !== model.family && config.model_type, config.hidden_size && `width ${count(config.hidden_size)}`].filter(Boolean).join(', ')],
    ['Parameters', rough(model.elements), `${model.elements >= 1e6 ? `${count(model.elements)} ` : ''}in ${many(model.tensors, 'tensor')}${model.broken_count ? `, ${count(model.broken_count)} broken` : ''}`],
    ['Size', bytes(model.file_bytes || model.bytes), model.file_count > 1 ? many(model.file_count, 'file') : `${bytes(model.bytes)} of tensors`],
    ['Bits per weight', bitsText(model.bits)],
    model.layers > 0 && ['Layers', count(model.layers), config.num_attention_heads && `${config.num_attention_heads} heads${config.num_key_value_heads ? `, ${config.num_key_value_heads} KV heads` : ''}`],
    config.max_position_embeddings && ['Context', count(config.max_position_embeddings), config.rope_theta && `rope theta ${config.rope_theta}`],
    words && ['Tokenizer', count(words.tokens), ['tokens', words.kind, words.merges && many(words.merges, 'merge')].filter(Boolean).join(', ')],
  ]);
}

// `brief`: without the sentences, if two tables share the width.
function typesTable(model, brief) {
  return [
    h('div', {class: 'stack', 'aria-hidden': 'true'}, model.types.map((type) => h('span', {title: `${type.type}: ${bytes(type.bytes)}`,
      style: {background: typeColour(type.type), flex: `${Math.max(type.bytes, 1)} 1 0`}}))),
    h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Type'), h('th', {class: 'right'}, 'Tensors'), h('th', {class: 'right hides'}, 'Parameters'),
      h('th', {class: 'right'}, 'Bytes'), h('th', {class: 'right'}, 'Share'), h('th', {class: 'right'}, 'Bits'), !brief && h('th', {class: 'hides'}, ''))),
    h('tbody', {}, model.types.map((type) => h('tr', {}, h('td', {}, chip(type.type)), h('td', {class: 'right'}, count(type.tensors)), h('td', {class: 'right hides'}, rough(type.elements)),
      h('td', {class: 'right'}, bytes(type.bytes)), h('td', {class: 'right'}, percent(model.bytes ? type.bytes / model.bytes : 0)), h('td', {class: 'right'}, bitsText(type.bits)),
      !brief && h('td', {class: 'quiet small hides'}, type.title)))))),
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
const colourOf = (entry) => kept.colour === 'type' ? typeColour(entry.type) : bitsColour(entry.bits);
// What the colours of the treemap and of the layers mean.
function colourLegend(model, mixed) {
  if (kept.colour === 'bits') return legend([ramp('1', gradient([1, 2, 4, 8, 16, 32].map(bitsColour)), '32 bits per weight')]);
  return legend([...model.types.slice(0, 12).map((type) => chip(type.type)), mixed && swatch(typeColour('mixed'), 'several types')]);
}

function describe(tile) {
  return `${tile.under || tile.label}: ${bytes(tile.bytes)}, ${many(tile.tensors, 'tensor')}, ${tile.type === 'mixed' ? 'several types' : tile.type}, ${bitsText(tile.bits)} bits per weight`;
}

// The treemap: arrow keys go from tile to tile, Enter opens, Backspace goes up.
// `scale`: the share of the larger model's bytes, so that areas of two models can be compared.
// `drawn`: called once it is on the page.
function treemapSheet(model, side, link, mark, place, scale, drawn) {
  const key = side === 'b' ? 'under_b' : 'under', area = h('div', {}, loading(Math.max(110, 460 * scale))), reading = h('div', {class: 'reading'}), path = h('div', {class: 'crumb'}), meaning = h('div', {});
  let under = place[key] || '', tiles = [], at = -1, turn = 0;
  const tell = link.join((where) => load(where, true));
  const go = (where) => { load(where); tell(where); };
  const tall = (width) => { const whole = width < 600 ? 420 : 460; return Math.round(Math.max(110, whole * scale)); };
  const up = () => go(isReport ? '' : under.replace(/[^.]*\.?$/, '').replace(/[^.]*$/, ''));
  const open = (tile) => { if (tile.tensor !== null) goTo(tile.tensor, side); else if (tile.under) go(tile.under); };
  const point = (index) => { at = index; reading.textContent = tiles[at] ? describe(tiles[at]) : ''; area.querySelectorAll('.at').forEach((e) => e.classList.remove('at')); const e = area.querySelector(`[data-tile="${at}"]`); if (e) e.classList.add('at'); };
  function draw(answer) {
    tiles = answer.tiles;
    if (!tiles.length) { put(area, emptyState('There are no bytes to show.', model.tensors ? 'All tensors are empty.' : 'The model has no tensors.')); put(meaning); return; }
    const picture = s('svg', {class: 'plot map', viewBox: `0 0 ${answer.width} ${answer.height}`, tabindex: 0, role: 'group', 'aria-label': 'Tensors by bytes; arrow keys move, Enter opens, Backspace goes up'});
    tiles.forEach((tile, i) => {
      picture.append(s('rect', {class: tile.opened ? 'tile group' : 'tile', 'data-tile': i, x: tile.x + 0.5, y: tile.y + 0.5, width: Math.max(0.4, tile.width - 1), height: Math.max(0.4, tile.height - 1), rx: 2,
        fill: tile.opened ? undefined : colourOf(tile)}));
      const room = Math.floor((tile.width - 8) / 6.1);
      if (tile.height > 13 && room > 2) picture.append(s('text', {x: tile.x + 5, y: tile.y + 11.5, style: tile.opened ? undefined : {fill: inkOn(colourOf(tile))}}, tile.label.length > room ? `${tile.label.slice(0, room - 1)}…` : tile.label));
    });
    const tileAt = (event) => event.target.dataset && event.target.dataset.tile;
    picture.addEventListener('click', (event) => { const i = tileAt(event); if (i !== undefined) open(tiles[i]); });
    picture.addEventListener('pointerover', (event) => { const i = tileAt(event); if (i !== undefined) point(Number(i)); });
    picture.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (step) { point(Math.min(tiles.length - 1, Math.max(0, at + step))); say(reading.textContent); }
      else if (event.key === 'Enter' && tiles[at]) open(tiles[at]);
      else if (event.key === 'Backspace' && under) up();
      else return;
      event.preventDefault();
    });
    put(area, picture);
    const closed = tiles.some((tile) => !tile.opened && tile.tensor === null), bundled = tiles.some((tile) => !tile.under && tile.tensor === null && tile.tensors > 1);
    put(meaning, colourLegend(model, tiles.some((tile) => !tile.opened && tile.type === 'mixed')), h('p', {class: 'small quiet'}, bundled ? 'There are too many tensors for a tile each: a tile “a … b” is several of about the same size. ' : closed ? 'Groups without room for their tensors are closed. ' : '', 'Click a group to look into it, a tensor to see its values.', scale < 1 && scale * 460 >= 110 ? ' Areas of A and B have the same scale.' : ''));
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
      let answer = await ask('treemap', {under: isReport ? '' : where, width, height: tall(width), of: side});
      if (here !== turn) return;
      if (isReport && where) answer = cropped(answer, where);
      if (!answer.tiles.length && where && (follows || isReport)) return;
      under = where;
      if (area.isConnected) keepPlace({[key]: under});
      draw(answer);
    } catch (error) { if (here === turn) put(area, sorry(error)); }
    drawn();
  }
  const whole = markedSheet(mark, 'Size by tensor', [side !== 'b' && choice('Colour', [['type', 'by type'], ['bits', 'by bits per weight']], kept.colour, (value) => { kept.colour = value; keepPlace({colour: value === 'type' ? undefined : value}); dispatchEvent(new Event('recolour')); })], path, area, reading, meaning);
  onRecolour(area, () => load());
  queueMicrotask(() => load());
  return whole;
}

function layersSheet(model, side, link, mark, turn) {
  const area = h('div', {class: 'wide'}, loading(90)), reading = h('div', {class: 'reading'}), others = h('div', {});
  let answer;
  const hrefOf = (cell) => `#/tensors/${cell.tensor}${side === 'b' ? '?of=b' : ''}`;
  const look = (cell) => { const background = colourOf(cell), text = kept.colour === 'bits' ? bitsText(cell.bits) : undefined;
    return {label: `${cell.type}, ${cell.tensors > 1 ? many(cell.tensors, 'tensor') : cell.shape}, ${bytes(cell.bytes)}, ${bitsText(cell.bits)} bits${cell.odd ? '; differs from most layers' : ''}`, href: hrefOf(cell), background, ink: inkOn(background), text, odd: cell.odd}; };
  function draw() {
    if (!answer.layers.length) { put(area, h('p', {class: 'quiet'}, 'The names of the tensors say nothing about layers.')); return; }
    put(area, layerTable(answer, 'Layers and what each holds', look, link, reading, model.two ? 520 : 1180), !answer.complete && h('p', {class: 'small quiet'}, `The first ${count(answer.layers.length)} layers and ${count(answer.roles.length)} roles; the list of tensors has all.`));
    put(others, answer.others.length > 0 && legend(answer.others.map((other) => h('a', {class: 'chip', style: {color: 'inherit'}, href: hrefOf(other.cell)}, h('i', {style: {background: colourOf(other.cell)}}), h('bdi', {}, middle(other.role, 40)), ' ', h('span', {class: 'quiet'}, other.cell.type)))));
  }
  turn.then(() => ask('layers', {of: side})).then((got) => { answer = got; draw(); }, (error) => put(area, sorry(error)));
  onRecolour(area, () => answer && draw());
  return markedSheet(mark, 'Layers', [h('span', {class: 'small quiet'}, '● differs from most')], area, reading, others);
}

// The file as a band. Its buttons, + and - zoom it; the arrow keys move it.
// The address has the file and the bytes of it, as "0:4096-8192", or the offset of a finding.
function mapSheet(model, side, mark, place, begin) {
  const start = place.offset !== undefined && (place.of === 'b') === (side === 'b') ? {file: Number(place.file || 0), offset: Number(place.offset)} : null, key = side === 'b' ? 'map_b' : 'map';
  const area = h('div', {}, loading(62)), reading = h('div', {class: 'reading'}), words = h('p', {class: 'small quiet'}), meaning = h('div', {});
  let file = start ? start.file : 0, size = 1, from = 0, to = null;
  if (start && start.offset !== undefined) { from = Math.max(0, start.offset - 2048); to = start.offset + 2048; }
  const kept = /^(\d+):(\d+)-(\d+)$/.exec(place[key] || '');
  if (kept) [file, from, to] = kept.slice(1).map(Number);
  const kinds = {header: 'var(--head)', gap: 'var(--gap)', end: 'var(--head)', attachment: '#aa7799', several: typeColour('mixed')};
  function draw(answer) {
    size = answer.bytes; from = answer.from; to = answer.to;
    if (area.isConnected) keepPlace({[key]: file === 0 && from === 0 && to === size ? undefined : `${file}:${from}-${to}`});
    const has = (kind) => answer.spans.some((span) => span.kind === kind);
    const W = 1000, px = (offset) => (offset - from) / Math.max(1, to - from) * W;
    const band = s('svg', {class: 'plot', viewBox: `0 0 ${W} 34`, preserveAspectRatio: 'none', tabindex: 0, style: {height: '36px'}, role: 'group', 'aria-label': `Bytes ${from} to ${to} of ${answer.name}; plus and minus zoom, arrows move`});
    for (const span of answer.spans) {
      const x = Math.max(0, px(span.offset)), right = Math.min(W, px(span.offset + span.bytes));
      const text = `${span.name || {header: 'before the tensors', gap: 'gap', end: 'after the tensors', several: many(span.parts || 1, 'part')}[span.kind] || span.kind}${span.type ? `, ${span.type === 'mixed' ? 'several types' : span.type}` : ''}: ${count(span.bytes)} bytes at ${count(span.offset)}${span.kind === 'shared' ? ', shared' : ''}`;
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
    put(meaning, legend([...model.types.slice(0, 10).map((type) => chip(type.type)), answer.spans.some((span) => span.type === 'mixed') && swatch(typeColour('mixed'), 'several types'), has('header') && swatch('var(--head)', 'header'), has('attachment') && swatch('#aa7799', 'attached file'), has('gap') && swatch('var(--gap)', 'gap')]));
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
  begin.then(load);
  return markedSheet(mark, 'File layout', [
    model.file_count > 1 && picker('File', model.files.map((f, i) => [String(i), f.name]), String(file), (value) => { file = Number(value); from = 0; to = null; load(); }),
    h('span', {class: 'together'}, button('+', 'Zoom in', () => zoom(0.5)), button('−', 'Zoom out', () => zoom(2)), button('all', 'The whole file', () => { from = 0; to = null; load(); })),
  ], area, reading, words, meaning);
}

function factsSheet(model, mark) {
  return [
    h('section', {class: 'sheet'}, h('div', {class: 'head'}, h('h1', {}, mark, mark && ' ', h('bdi', {}, model.name)), model.path !== model.name && h('span', {class: 'crumb mono'}, h('bdi', {}, breakable(model.path)))), modelFacts(model)),
    model.broken.length > 0 && sheet('Broken tensors', [], model.broken.map((broken) => h('div', {class: 'finding error'}, h('div', {class: 'kind'}, 'error'), h('div', {}, h('span', {class: 'mono'}, broken.name), h('p', {}, broken.sentence, ' ', h('span', {class: 'quiet small'}, broken.rule)))))),
  ];
}

// For two models, everything is shown twice, side by side, after what matters most: what B saves, and what it costs.
export function overviewView(state, place) {
  const tiles = new Link(), cells = new Link(), two = state.models.length > 1, largest = Math.max(...state.models.map((model) => model.bytes));
  if (place.colour) kept.colour = place.colour === 'bits' ? 'bits' : 'type';
  // The treemap comes first: the rest is drawn when the browser has painted it.
  let missing = state.models.length, begin;
  const painted = new Promise((resolve) => { begin = resolve; }), drawn = () => { if (--missing === 0) requestAnimationFrame(() => setTimeout(begin)); };
  const both = (make) => two ? h('div', {class: 'two'}, state.models.map((model, i) => h('div', {}, make(model, i ? 'b' : undefined, sideMark(i ? 'b' : 'a'))))) : make(state.models[0], undefined, null);
  return [
    two && lossSheet(state),
    both((model, side, mark) => factsSheet(model, mark)),
    both((model, side, mark) => markedSheet(mark, 'Types', [], typesTable(model, two))),
    both((model, side, mark) => treemapSheet(model, side, tiles, mark, place, two ? model.bytes / (largest || 1) : 1, drawn)),
    both((model, side, mark) => layersSheet({...model, two}, side, cells, mark, painted)),
    both((model, side, mark) => mapSheet(model, side, mark, place, painted)),
  ];
}
