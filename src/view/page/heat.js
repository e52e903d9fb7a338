// The values of a tensor as pictures. For two models there are three, A, B and their difference, which always show the
// same region.
import {h, put, sheet, picker, later} from './dom.js';
import {count, many, percent, real, element} from './format.js';
import {AMBER, gradient, inkOn, rangeColour, valueColour} from './colour.js';
import {ramp} from './chart.js';
import {ask, isReport, sorry} from './api.js';
import {keepPlace} from './place.js';

// One side: `label`, `tensor` and `of` as in requests, and whether it is a difference, which has its own scale.
class Pane {
  constructor(side, heat) {
    Object.assign(this, {side, heat});
    this.canvas = h('canvas', {tabindex: 0, role: 'img', 'aria-label': 'Values, not loaded yet', width: 1, height: 1});
    this.mark = h('i', {class: 'mark', hidden: true, 'aria-hidden': 'true'});
    this.scale = h('div', {class: 'scale'});
    this.over = h('div', {class: 'over', 'aria-hidden': 'true'});
    this.table = h('div', {class: 'wide'});
    this.element = h('figure', {class: 'pane'}, side.label && h('figcaption', {title: `${side.label}: ${side.what || ''}`}, h('b', {}, side.label), ' ', h('span', {class: 'quiet'}, side.what || '')),
      h('div', {class: 'frame'}, this.canvas, this.over, this.mark), this.scale, this.table);
    const canvas = this.canvas;
    canvas.addEventListener('pointermove', (event) => this.drag ? this.pull(event) : heat.point(...this.placeOf(event)));
    canvas.addEventListener('pointerleave', () => heat.unpoint());
    canvas.addEventListener('pointerdown', (event) => { if (event.button === 0) this.drag = {x: event.clientX, y: event.clientY, moved: false, id: event.pointerId}; });
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('pointercancel', () => { this.drag = null; heat.shift(0, 0); });
    canvas.addEventListener('wheel', (event) => { if (!event.ctrlKey && !event.altKey) return; event.preventDefault(); heat.zoom(event.deltaY < 0 ? 0.5 : 2, ...this.placeOf(event)); }, {passive: false});
    canvas.addEventListener('keydown', (event) => heat.key(event));
  }

  placeOf(event) {
    const box = this.canvas.getBoundingClientRect(), x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
    return [Math.min(0.9999, Math.max(0, x)), Math.min(0.9999, Math.max(0, y))];
  }

  pull(event) {
    const across = event.clientX - this.drag.x, down = event.clientY - this.drag.y;
    if (!this.drag.moved && Math.hypot(across, down) < 5) return;
    if (!this.drag.moved) this.canvas.setPointerCapture(this.drag.id);
    this.drag.moved = true;
    this.heat.shift(across, down);
  }

  release(event) {
    const drag = this.drag, box = this.canvas.getBoundingClientRect();
    this.drag = null;
    if (!drag) return;
    this.heat.shift(0, 0);
    if (drag.moved) this.heat.move((drag.y - event.clientY) / box.height, (drag.x - event.clientX) / box.width);
    else this.heat.zoom(0.25, ...this.placeOf(event));
  }

  most() { return this.answer ? this.answer.cells.reduce((most, cell) => typeof cell === 'number' ? Math.max(most, Math.abs(cell)) : most, 0) : 0; }
  at(x, y) { const {width, height, cells} = this.answer; return cells[Math.floor(y * height) * width + Math.floor(x * width)]; }

  fail(error) { this.answer = null; this.canvas.hidden = true; put(this.scale); put(this.table, sorry(error)); }

  paint(scale, view) {
    const {width, height, cells, rows, columns} = this.answer, label = this.side.label ? `${this.side.label}: ` : '';
    this.canvas.hidden = false;
    if (!width || !height) { put(this.table, h('p', {class: 'quiet'}, 'It has no elements.')); return; }
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.style.aspectRatio = `1 / ${Math.min(1, Math.max(0.12, (view.bottom - view.top) / (view.right - view.left)))}`;
    const context = this.canvas.getContext('2d'), image = context.createImageData(width, height);
    cells.forEach((cell, i) => {
      const [r, g, b] = scale.colour(cell);
      image.data.set([r, g, b, 255], i * 4);
    });
    context.putImageData(image, 0, 0);
    const single = width === view.right - view.left && height === view.bottom - view.top && !this.answer.limit;
    this.canvas.setAttribute('aria-label', `${label}Values of rows ${view.top} to ${view.bottom - 1} of ${rows}, columns ${view.left} to ${view.right - 1} of ${columns}; largest magnitude ${real(this.most())}. Plus and minus zoom, arrows move, 0 shows all.`);
    put(this.scale, scaleLegend(cells, scale, single));
    const few = single && width <= 24 && height <= 32, roomy = few && this.canvas.clientWidth / width >= 46 && this.canvas.clientHeight / height >= 15;
    put(this.table, few && this.numbers(scale, view));
    // If the cells have room for them, the picture shows the numbers, and the table is only for screen readers.
    this.table.classList.toggle('unseen', roomy);
    Object.assign(this.over.style, {display: roomy ? 'grid' : 'none', gridTemplateColumns: `repeat(${width}, 1fr)`, gridTemplateRows: `repeat(${height}, 1fr)`});
    put(this.over, roomy && cells.map((cell) => h('span', {style: {color: inkOn(scale.colour(cell))}}, cell === null ? '' : element(cell, 3))));
    return single;
  }

  numbers(scale, view) {
    const {width, height, cells} = this.answer;
    return h('table', {class: 'values'}, h('caption', {class: 'unseen'}, `Values ${this.side.label}`), h('tbody', {}, Array.from({length: height}, (_, y) => h('tr', {}, Array.from({length: width}, (_x, x) => {
      const cell = cells[y * width + x], colour = scale.colour(cell);
      return h('td', {style: {background: `rgb(${colour.join(' ')})`, color: inkOn(colour)}, title: `row ${view.top + y}, column ${view.left + x}`}, element(cell));
    })))));
  }
}

// The colours of cells. A few far values would leave all others pale: unless the full range is wanted, the scale ends at a
// percentile, and values outside have a colour of their own and are counted. By default, it ends only where it has to: at the
// largest value that is at most twice the 98th percentile.
const SCALES = [['root', 'square root'], ['linear', 'linear'], ['log', 'logarithmic'], ['range', 'least to largest']];
const RANGES = [['auto', 'without outliers'], ['99.9', 'clipped at 99.9 %'], ['99', 'clipped at 99 %'], ['full', 'full range']];
const drawn = {by: 'max', scale: 'root', range: 'auto'};

// Where the scale ends, of numbers in ascending order that are measured from `middle`.
function boundOf(sorted, middle) {
  const last = sorted.length - 1, at = (share) => sorted[Math.floor(share * last)];
  if (last < 0 || drawn.range === 'full') return sorted[last] ?? middle;
  if (drawn.range !== 'auto') return at(Number(drawn.range) / 100);
  // If there are few values, the bound is the second largest.
  const bound = middle + 2 * ((last < 50 ? sorted[Math.max(0, last - 1)] : at(0.98)) - middle);
  let end = last;
  while (end > 0 && sorted[end] > bound) --end;
  return sorted[end];
}

function scaleOf(lists) {
  const all = lists.flat().filter((cell) => typeof cell === 'number');
  if (drawn.scale === 'range') {
    const sorted = Float64Array.from(all).sort(), middle = sorted[sorted.length >> 1] ?? 0, low = -boundOf(sorted.map((v) => -v).reverse(), -middle), high = boundOf(sorted, middle), wide = high - low || 1;
    return {low, high, colour: (cell) => typeof cell === 'string' ? AMBER : rangeColour(cell === null ? null : (cell - low) / wide), ends: [0, 0.25, 0.5, 0.75, 1].map(rangeColour)};
  }
  // Zeros do not show how large the others are.
  const limit = boundOf(Float64Array.from(all.filter((cell) => cell !== 0).map(Math.abs)).sort(), 0);
  return {low: -limit, high: limit, colour: (cell) => typeof cell === 'string' ? AMBER : valueColour(cell === null ? null : limit ? cell / limit : 0, drawn.scale), ends: [-1, -0.75, -0.5, -0.25, -0.1, 0, 0.1, 0.25, 0.5, 0.75, 1].map((v) => valueColour(v, drawn.scale))};
}

function scaleLegend(cells, {low, high, ends}, single) {
  const odd = cells.filter((cell) => typeof cell === 'string').length, beyond = (cell) => typeof cell === 'number' && (cell > high || cell < low), outside = cells.filter(beyond);
  const swatches = [outside.some((v) => v < low) && -2, outside.some((v) => v > high) && 2].filter(Boolean).map((v) => h('i', {style: {background: `rgb(${valueColour(v).join(' ')})`}}));
  const far = outside.reduce((far, v) => Math.abs(v) > Math.abs(far) ? v : far, 0), thing = single ? 'value' : 'cell';
  return [odd > 0 && h('span', {class: 'chip warned'}, h('i', {style: {background: `rgb(${AMBER.join(' ')})`}}), `${count(odd)} with NaN or ∞`),
    odd < cells.length && (low < high ? ramp(real(low), gradient(ends), real(high)) : `every ${odd > 0 ? 'other ' : ''}${thing} is ${real(low)}`),
    outside.length > 0 && h('span', {class: 'chip outside'}, swatches, `${many(outside.length, thing)} outside (${percent(outside.length / cells.length)}), up to ${real(far)}`)];
}

// The pictures on the page, and possibly some that were removed.
const repainted = new Set();
addEventListener('repaint', () => {
  for (const heat of repainted) if (heat.element.isConnected) heat.paint(); else repainted.delete(heat);
});

export class Heat {
  // `place`: as in the address; `at` is the region, "top-bottom,left-right".
  constructor(sides, signal, place = {}) {
    Object.assign(this, {top: 0, left: 0, bottom: null, right: null, turn: 0, asking: null});
    for (const [key, known] of [['by', ['max', 'mean', 'sample']], ['scale', SCALES.map(([name]) => name)], ['range', RANGES.map(([name]) => name)]]) if (known.includes(place[key])) drawn[key] = place[key];
    const at = /^(\d+)-(\d+),(\d+)-(\d+)$/.exec(place.at || '');
    if (at) [this.top, this.bottom, this.left, this.right] = at.slice(1).map(Number);
    if (signal) signal.addEventListener('abort', () => this.asking && this.asking.abort(), {once: true});
    this.panes = sides.map((side) => new Pane(side, this));
    this.reading = h('div', {class: 'reading'});
    this.limit = h('p', {class: 'small quiet', hidden: true});
    repainted.add(this);
    const button = (text, label, act) => h('button', {class: 'plain', type: 'button', 'aria-label': label, onclick: act}, text);
    this.element = sheet('Values', [
      !isReport && picker('Each cell shows', [['max', 'largest of cell'], ['mean', 'mean of cell'], ['sample', 'one of cell']], drawn.by, (by) => { drawn.by = by; this.load(); }),
      picker('Colours', SCALES, drawn.scale, (scale) => { drawn.scale = scale; this.paint(); this.keep(); }),
      picker('Range of colours', RANGES, drawn.range, (range) => { drawn.range = range; this.paint(); this.keep(); }),
      h('span', {class: 'together'}, button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)), button('all', 'The whole tensor', () => this.all())),
    ], h('div', {class: `heat${sides.length > 1 ? ' several' : ''}`}, this.panes.map((pane) => pane.element)), this.reading,
    this.limit, h('p', {class: 'small quiet hides'}, sides.length > 1 ? 'The pictures move together. Click or + zooms in, − out, drag or arrows move.' : 'Click or + zooms in, − out, drag or arrows move.'));
    for (const heat of repainted) if (heat !== this && !heat.element.isConnected) repainted.delete(heat);
    // Whether the cells have room for numbers depends on the width.
    new ResizeObserver(later(() => this.element.isConnected && this.single && this.paint())).observe(this.element);
    this.load();
  }

  shown() { return this.panes.find((pane) => pane.answer && pane.answer.width); }
  all() { this.top = this.left = 0; this.bottom = this.right = null; this.load(); }

  // Updates all sides or none: pictures of different regions next to each other would mislead.
  async load() {
    const turn = ++this.turn, {top, bottom, left, right} = this, by = isReport ? 'max' : drawn.by, wide = this.panes.length > 1;
    if (this.asking) this.asking.abort();
    this.asking = new AbortController();
    const {signal} = this.asking;
    const answers = await Promise.all(this.panes.map(({side}) => ask('heat', {tensor: side.tensor, of: side.of, by, top, bottom, left, right, height: wide ? 96 : 128, width: wide ? 128 : 192}, 'GET', signal).catch((error) => error)));
    if (turn !== this.turn) return;
    answers.forEach((answer, i) => { if (answer instanceof Error) this.panes[i].fail(answer); else this.panes[i].answer = answer; });
    const first = answers.find((answer) => !(answer instanceof Error));
    if (first) Object.assign(this, {top: first.top, bottom: first.bottom, left: first.left, right: first.right});
    this.paint();
    this.keep();
  }

  keep() {
    if (!this.element.isConnected) return;
    const pane = this.shown(), whole = !pane || this.bottom - this.top === pane.answer.rows && this.right - this.left === pane.answer.columns;
    keepPlace({at: whole ? undefined : `${this.top}-${this.bottom},${this.left}-${this.right}`, by: drawn.by === 'max' ? undefined : drawn.by, scale: drawn.scale === 'root' ? undefined : drawn.scale, range: drawn.range === 'auto' ? undefined : drawn.range});
  }

  // A and B have one scale; their difference has its own.
  paint() {
    const cells = (differs) => this.panes.filter((pane) => pane.answer && Boolean(pane.side.differs) === differs).map((pane) => pane.answer.cells), common = scaleOf(cells(false));
    let single = false;
    for (const pane of this.panes) if (pane.answer) single = pane.paint(pane.side.differs ? scaleOf(cells(true)) : common, this) || single;
    this.single = single;
    // A report has cells instead of values.
    const limited = this.panes.find((pane) => pane.answer && pane.answer.limit);
    this.limit.hidden = !limited;
    this.limit.textContent = limited ? limited.answer.limit : '';
    this.unpoint();
  }

  describe() {
    const span = (name, low, high, all) => high - low === 1 ? `${name} ${count(low)} of ${count(all)}` : `${name}s ${count(low)}–${count(high - 1)} of ${count(all)}`;
    const pane = this.shown();
    if (!pane) return '';
    const {rows, columns, width, height, exact} = pane.answer;
    return `${span('row', this.top, this.bottom, rows)}, ${span('column', this.left, this.right, columns)}: ` +
      (this.single ? 'every value' : `${count(this.bottom - this.top)} × ${count(this.right - this.left)} values in ${height} × ${width} cells${exact ? '' : ', some rows of each'}`);
  }

  point(x, y) {
    if (!this.shown()) return;
    const row = Math.floor(this.top + y * (this.bottom - this.top)), column = Math.floor(this.left + x * (this.right - this.left));
    this.reading.textContent = `row ${count(row)}, column ${count(column)}: ${this.panes.filter((pane) => pane.answer && pane.answer.width).map((pane) => `${pane.side.label ? `${pane.side.label} ` : ''}${real(pane.at(x, y), pane.answer.limit ? 3 : 6)}`).join(',  ')}`;
    if (this.panes.length > 1) for (const pane of this.panes) { pane.mark.hidden = false; Object.assign(pane.mark.style, {left: `${x * 100}%`, top: `${y * 100}%`}); }
  }

  unpoint() { this.reading.textContent = this.describe(); for (const pane of this.panes) pane.mark.hidden = true; }
  shift(across, down) { for (const pane of this.panes) pane.canvas.style.transform = across || down ? `translate(${across}px, ${down}px)` : ''; }

  zoom(factor, x = 0.5, y = 0.5) {
    const pane = this.shown();
    if (!pane) return;
    const span = (low, high, most, at) => {
      const wide = high - low, next = Math.min(most, Math.max(8, Math.round(wide * factor))), middle = low + wide * at;
      const begin = Math.round(Math.min(most - next, Math.max(0, middle - next / 2)));
      return [begin, begin + next];
    };
    [this.top, this.bottom] = span(this.top, this.bottom, pane.answer.rows, y);
    [this.left, this.right] = span(this.left, this.right, pane.answer.columns, x);
    this.load();
  }

  // Moves by a share of the visible region.
  move(down, across) {
    const pane = this.shown();
    if (!pane) return;
    const tall = this.bottom - this.top, wide = this.right - this.left;
    this.top = Math.round(Math.min(pane.answer.rows - tall, Math.max(0, this.top + down * tall)));
    this.left = Math.round(Math.min(pane.answer.columns - wide, Math.max(0, this.left + across * wide)));
    this.bottom = this.top + tall; this.right = this.left + wide;
    this.load();
  }

  show(row, column) {
    const pane = this.shown();
    if (!pane) return;
    const near = (at, most, room) => { const begin = Math.max(0, Math.min(most - room, at - Math.floor(room / 2))); return [begin, Math.min(most, begin + room)]; };
    [this.top, this.bottom] = near(row, pane.answer.rows, 16);
    [this.left, this.right] = near(column, pane.answer.columns, 16);
    this.load();
    pane.canvas.scrollIntoView({block: 'center'});
  }

  key(event) {
    const moves = {ArrowUp: [-0.25, 0], ArrowDown: [0.25, 0], ArrowLeft: [0, -0.25], ArrowRight: [0, 0.25]}[event.key];
    if (moves) this.move(...moves);
    else if (event.key === '+' || event.key === '=') this.zoom(0.5);
    else if (event.key === '-') this.zoom(2);
    else if (event.key === '0') this.all();
    else return;
    event.preventDefault();
  }
}
