// One tensor: facts, values as a picture, distribution, norms, slices, the first block.
import {h, s, put, say, sheet, choice, picker, facts, copier} from './dom.js';
import {bytes, count, many, rough, real, bitsText, shapeText, percent} from './format.js';
import {valueColour, chip, isDark} from './colour.js';
import {bars, line, legend} from './chart.js';
import {ask, work, isReport, sorry} from './api.js';

// The heat map. A click zooms in at a place, the arrow keys move, + and - zoom, 0 shows all.
class Heat {
  constructor(tensor, sides) {
    Object.assign(this, {tensor, of: sides.of, by: 'max', top: 0, left: 0, bottom: null, right: null});
    this.canvas = h('canvas', {tabindex: 0, role: 'img', width: 1, height: 1});
    this.reading = h('div', {class: 'reading'});
    this.scale = h('div', {class: 'scale'});
    this.table = h('div', {class: 'wide'});
    this.canvas.addEventListener('pointermove', (event) => this.point(event));
    this.canvas.addEventListener('click', (event) => this.zoomAt(event, 0.25));
    this.canvas.addEventListener('wheel', (event) => { if (!event.ctrlKey && !event.altKey) return; event.preventDefault(); this.zoomAt(event, event.deltaY < 0 ? 0.5 : 2); }, {passive: false});
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    addEventListener('repaint', () => this.canvas.isConnected && this.answer && this.paint());
    const button = (text, label, act) => h('button', {class: 'plain', type: 'button', 'aria-label': label, onclick: act}, text);
    this.element = sheet('Values', [
      !isReport && sides.choice && sides.choice((next) => { this.of = next.of; this.tensor = next.tensor; this.load(); }),
      !isReport && picker('Each cell shows', [['max', 'largest of each cell'], ['mean', 'mean of each cell'], ['sample', 'one of each cell']], 'max', (by) => { this.by = by; this.load(); }),
      !isReport && [button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)), button('all', 'The whole tensor', () => this.all())],
    ], h('div', {class: 'heat'}, this.canvas, this.scale), this.reading, this.table);
    this.load();
  }

  all() { this.top = this.left = 0; this.bottom = this.right = null; this.load(); }

  async load() {
    this.turn = (this.turn || 0) + 1;
    const turn = this.turn;
    try {
      const answer = await ask('heat', {tensor: this.tensor, of: this.of, by: this.by, top: this.top, bottom: this.bottom, left: this.left, right: this.right, height: 128, width: 192});
      if (turn !== this.turn) return;
      this.answer = answer;
      Object.assign(this, {top: answer.top, bottom: answer.bottom, left: answer.left, right: answer.right});
      this.paint();
    } catch (error) { put(this.table, sorry(error)); this.canvas.hidden = true; }
  }

  paint() {
    const {width, height, cells, rows, columns} = this.answer;
    if (!width || !height) { put(this.table, h('p', {class: 'quiet'}, 'It has no elements.')); return; }
    this.most = cells.reduce((most, cell) => cell === null ? most : Math.max(most, Math.abs(cell)), 0);
    this.canvas.width = width;
    this.canvas.height = height;
    const ratio = Math.min(1, Math.max(0.08, (this.bottom - this.top) / (this.right - this.left)));
    this.canvas.style.aspectRatio = `${1} / ${Math.max(ratio, 0.12)}`;
    const context = this.canvas.getContext('2d'), image = context.createImageData(width, height);
    cells.forEach((cell, i) => {
      const [r, g, b] = valueColour(cell === null ? null : this.most ? cell / this.most : 0);
      image.data.set([r, g, b, 255], i * 4);
    });
    context.putImageData(image, 0, 0);
    const exact = width === this.right - this.left && height === this.bottom - this.top;
    this.canvas.setAttribute('aria-label', `Values of rows ${this.top} to ${this.bottom - 1} of ${rows}, columns ${this.left} to ${this.right - 1} of ${columns}; largest magnitude ${real(this.most)}. Plus and minus zoom, arrows move, 0 shows all.`);
    const ends = [-1, -0.5, -0.15, 0, 0.15, 0.5, 1].map((v) => `rgb(${valueColour(v).join(' ')})`);
    put(this.scale, h('span', {}, real(-this.most)), h('i', {style: {background: `linear-gradient(90deg, ${ends.join(', ')})`}}), h('span', {}, real(this.most)),
      h('span', {class: 'hides'}, exact ? 'every value' : `${count(this.bottom - this.top)} × ${count(this.right - this.left)} values in ${height} × ${width} cells${this.answer.exact ? '' : ', some rows of each'}`));
    this.reading.textContent = `rows ${count(this.top)}–${count(this.bottom - 1)} of ${count(rows)}, columns ${count(this.left)}–${count(this.right - 1)} of ${count(columns)}`;
    put(this.table, exact && width <= 24 && height <= 32 && this.numbers());
  }

  numbers() {
    const {width, height, cells} = this.answer;
    return h('table', {class: 'values'}, h('caption', {class: 'unseen'}, 'Values'), h('tbody', {}, Array.from({length: height}, (_, y) => h('tr', {}, Array.from({length: width}, (_x, x) => {
      const cell = cells[y * width + x], share = cell === null ? null : this.most ? cell / this.most : 0, colour = valueColour(share);
      const bright = colour[0] * 0.3 + colour[1] * 0.59 + colour[2] * 0.11 > 140;
      return h('td', {style: {background: `rgb(${colour.join(' ')})`, color: bright ? '#14171c' : '#fff'}, title: `row ${this.top + y}, column ${this.left + x}`}, real(cell));
    })))));
  }

  placeOf(event) {
    const box = this.canvas.getBoundingClientRect(), x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
    return [Math.min(0.9999, Math.max(0, x)), Math.min(0.9999, Math.max(0, y))];
  }

  point(event) {
    if (!this.answer || !this.answer.width) return;
    const [x, y] = this.placeOf(event), {width, height, cells} = this.answer;
    const row = Math.floor(this.top + y * (this.bottom - this.top)), column = Math.floor(this.left + x * (this.right - this.left));
    this.reading.textContent = `row ${count(row)}, column ${count(column)}: ${real(cells[Math.floor(y * height) * width + Math.floor(x * width)], 6)}`;
  }

  zoomAt(event, factor) { const [x, y] = this.placeOf(event); this.zoom(factor, x, y); }

  zoom(factor, x = 0.5, y = 0.5) {
    if (isReport || !this.answer) return;
    const span = (low, high, most, at) => {
      const wide = high - low, next = Math.min(most, Math.max(8, Math.round(wide * factor))), middle = low + wide * at;
      const begin = Math.round(Math.min(most - next, Math.max(0, middle - next / 2)));
      return [begin, begin + next];
    };
    [this.top, this.bottom] = span(this.top, this.bottom, this.answer.rows, y);
    [this.left, this.right] = span(this.left, this.right, this.answer.columns, x);
    this.load();
  }

  move(down, across) {
    const tall = this.bottom - this.top, wide = this.right - this.left;
    this.top = Math.round(Math.min(this.answer.rows - tall, Math.max(0, this.top + down * tall / 4)));
    this.left = Math.round(Math.min(this.answer.columns - wide, Math.max(0, this.left + across * wide / 4)));
    this.bottom = this.top + tall; this.right = this.left + wide;
    this.load();
  }

  show(row, column) {
    const near = (at, most, room) => { const begin = Math.max(0, Math.min(most - room, at - Math.floor(room / 2))); return [begin, Math.min(most, begin + room)]; };
    [this.top, this.bottom] = near(row, this.answer.rows, 16);
    [this.left, this.right] = near(column, this.answer.columns, 16);
    this.load();
    this.canvas.scrollIntoView({block: 'center'});
  }

  key(event) {
    if (isReport || !this.answer) return;
    const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (moves) this.move(...moves);
    else if (event.key === '+' || event.key === '=') this.zoom(0.5);
    else if (event.key === '-') this.zoom(2);
    else if (event.key === '0') this.all();
    else return;
    event.preventDefault();
  }
}

function distributionSheet(tensor, sides, heat) {
  const area = h('div', {}), words = h('div', {}), places = h('div', {class: 'wide'}), norms = h('div', {});
  let shown, kind = 'values', log = 'counts', of = sides.of;
  function histogram() {
    if (kind === 'values') {
      const width = (shown.max - shown.min) / shown.histogram.length;
      put(area, bars(shown.histogram, {low: shown.min, high: shown.max, log: log === 'log', label: 'Histogram of the values', names: (i, n) => `${real(shown.min + i * width)} to ${real(shown.min + (i + 1) * width)}: ${count(n)}`}));
      return;
    }
    const {negative, positive, first_exponent: first} = shown.magnitudes, used = positive.map((n, i) => n + negative[i] > 0);
    const low = Math.max(0, used.indexOf(true)), high = Math.max(low, used.lastIndexOf(true));
    const entries = positive.slice(low, high + 1).map((n, i) => [n, negative[low + i]]);
    put(area, bars(entries, {log: log === 'log', label: 'Histogram of the magnitudes, by powers of two', colours: ['#cc6677', '#4477aa'], names: (i, n, k) => `${k ? 'negative' : 'positive'}, 2^${first + low + i} and more: ${count(n)}`}),
      legend([h('span', {}, `2^${first + low} … 2^${first + high}`), h('span', {class: 'chip'}, h('i', {style: {background: '#cc6677'}}), 'positive'), h('span', {class: 'chip'}, h('i', {style: {background: '#4477aa'}}), 'negative')]));
  }
  const progress = h('div', {class: 'meter', hidden: true}, h('span', {}));
  function draw(answer) {
    shown = answer;
    put(words, facts([
      ['Least', real(answer.min)], ['Largest', real(answer.max)], ['Mean', real(answer.mean)], ['Standard deviation', real(answer.std)],
      ['Zeros', percent(answer.counted ? answer.zeros / answer.counted : 0)], (answer.nan > 0 || answer.infinite > 0) && ['Not finite', count(answer.nan + answer.infinite), `${count(answer.nan)} NaN`],
      ['Looked at', answer.exact ? 'every value' : `${rough(answer.counted)} of ${rough(answer.elements)}`],
    ]), !answer.exact && !isReport && h('p', {}, h('button', {class: 'plain', type: 'button', onclick: async (event) => {
      event.target.disabled = true;
      progress.hidden = false;
      try { draw(await work('numbers/all', 'numbers', {tensor, of}, (share) => { progress.firstChild.style.width = `${share * 100}%`; }, () => words.isConnected)); }
      catch (error) { put(area, sorry(error)); }
      progress.hidden = true;
    }}, 'Look at every value')), progress);
    histogram();
    put(places, h('table', {}, h('thead', {}, h('tr', {}, h('th', {class: 'right'}, 'Value'), h('th', {class: 'right'}, 'Row'), h('th', {class: 'right'}, 'Column'), h('th', {}, ''))),
      h('tbody', {}, answer.outliers.map((place) => h('tr', {}, h('td', {class: 'right mono'}, real(place.value, 6)), h('td', {class: 'right'}, count(place.row)), h('td', {class: 'right'}, count(place.column)),
        h('td', {}, !isReport && h('button', {class: 'copy', type: 'button', onclick: () => heat.show(place.row, place.column)}, 'show')))))));
    put(norms, h('h3', {}, 'Rows'), line(answer.row_norms, {label: 'Root mean square of rows'}), h('h3', {}, 'Columns'), line(answer.column_norms, {label: 'Root mean square of columns'}));
  }
  async function load() {
    try { draw(await ask('numbers', {tensor, of, all: isReport ? undefined : 1})); } catch (error) { put(words, sorry(error)); put(area); put(places); put(norms); }
  }
  load();
  return [
    sheet('Distribution', [sides.choice && !isReport && sides.choice((next) => { of = next.of; tensor = next.tensor; load(); }),
      choice('Of', [['values', 'values'], ['magnitudes', 'magnitudes']], kind, (value) => { kind = value; if (shown) histogram(); }),
      choice('Bars', [['counts', 'linear'], ['log', 'logarithmic']], log, (value) => { log = value; if (shown) histogram(); })], words, h('div', {style: {height: '12px'}}), area),
    h('div', {class: 'two'}, sheet('Largest magnitudes', [], places), sheet('Norms', [h('span', {class: 'small quiet'}, 'root mean square')], norms)),
  ];
}

function sliceSheet(tensor, shape, sides) {
  const result = h('div', {class: 'wide'}), first = shape.length < 2 ? ':16' : `${'0, '.repeat(shape.length - 2)}:8, :8`;
  const input = h('input', {type: 'text', value: shape.length ? first : '...', 'aria-label': 'Slice, as in NumPy', class: 'mono', spellcheck: 'false', size: 24});
  async function load() {
    try {
      const answer = await ask('values', {tensor, of: sides.of, slice: input.value});
      const columns = answer.shape.length ? answer.shape[answer.shape.length - 1] || 1 : 1, wide = Math.min(columns, 64), lines = [];
      for (let i = 0; i < answer.values.length && lines.length < 128; i += columns) lines.push(h('tr', {}, answer.values.slice(i, i + wide).map((value) => h('td', {}, real(value, 6)))));
      put(result, h('p', {class: 'small quiet'}, `${shapeText(answer.shape)}, ${many(answer.elements, 'value')}${answer.complete ? '' : `; the first ${count(answer.values.length)} are read`}`, ' ', copier(JSON.stringify(answer.values))),
        h('table', {class: 'values'}, h('caption', {class: 'unseen'}, 'Values of the slice'), h('tbody', {}, lines)));
    } catch (error) { put(result, sorry(error)); }
  }
  const form = h('form', {style: {display: 'flex', gap: '6px', flexWrap: 'wrap', marginBottom: '8px'}, onsubmit: (event) => { event.preventDefault(); load(); }}, input, h('button', {class: 'plain'}, 'Read'));
  if (!isReport) load();
  return !isReport && sheet('Slice', [h('span', {class: 'small quiet'}, 'as in NumPy: 0, :8, ::2, -1')], form, result);
}

const FIELDS = ['#88ccee', '#ddcc77', '#ee8866', '#44aa99', '#cc99bb', '#bbcc33'];

function blockSheet(tensor, of) {
  const area = h('div', {}), whole = sheet('First bytes', [], area);
  ask('block', {tensor, of}).then((answer) => {
    if (answer.formula) whole.querySelector('h2').textContent = `First block: ${many(answer.weights, 'weight')}`;
    put(area, answer.formula && h('p', {class: 'mono'}, answer.formula),
      answer.fields.map((field, i) => h('div', {style: {margin: '0 0 12px'}},
        h('div', {class: 'small', style: {marginBottom: '3px'}}, h('b', {class: 'mono'}, field.name), ` ${field.what} `, h('span', {class: 'quiet'}, `${field.kind}${field.bits ? ` of ${field.bits}` : ''}, ${many(field.bytes, 'byte')} at ${count(field.offset)}${answer.fields.some((f) => f.component !== field.component) ? ` of ${field.component}` : ''}`)),
        h('div', {class: 'hex'}, (field.hex.match(/../g) || []).slice(0, 128).map((pair) => h('span', {style: {background: FIELDS[i % FIELDS.length]}}, pair))),
        field.values.length > 0 && h('div', {class: 'mono small quiet', style: {overflowWrap: 'anywhere'}}, `= ${field.values.slice(0, 48).map((v) => real(v)).join(' ')}${field.values.length > 48 ? ' …' : ''}`))),
      answer.values.length > 0 && h('div', {}, h('div', {class: 'small'}, h('b', {}, 'decoded'), ` the first ${answer.values.length} values`), h('div', {class: 'mono small quiet', style: {overflowWrap: 'anywhere'}}, answer.values.slice(0, 64).map((v) => real(v)).join(' '), answer.values.length > 64 ? ' …' : '')));
  }, (error) => put(area, sorry(error)));
  return whole;
}

function storageSheet(answer) {
  return sheet('Storage', [], h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Component'), h('th', {}, 'Type'), h('th', {class: 'right'}, 'Offset'), h('th', {class: 'right'}, 'Bytes'), h('th', {class: 'right'}, 'Stored'), h('th', {}, 'Encoding'), h('th', {}, 'Digest'))),
    h('tbody', {}, answer.components.map((part) => h('tr', {}, h('td', {class: 'mono'}, part.role), h('td', {class: 'mono'}, part.type), h('td', {class: 'right'}, part.offset === null ? '' : count(part.offset)), h('td', {class: 'right'}, count(part.bytes)), h('td', {class: 'right'}, count(part.stored_bytes)), h('td', {}, part.encoding), h('td', {class: 'name'}, part.digest)))))),
  Object.keys(answer.attributes).length > 0 && [h('h3', {style: {margin: '14px 0 4px'}}, 'Attributes'), h('pre', {}, JSON.stringify(answer.attributes, null, 2))]);
}

export async function tensorDetail(state, place) {
  const side = place.of === 'b' ? 'b' : undefined, tensor = place.tensor;
  const answer = await ask('tensor', {tensor, of: side}), item = answer.item, other = answer.others[0];
  // A, B and their difference, in the same place: a picture keeps its part when the side changes.
  const number = String(item.tensor), first = place.of === 'error' ? 'error' : 'a';
  const sides = {of: place.of === 'error' ? 'error' : side, choice: other && !side && ((change) => choice('Of', [['a', 'A'], ['b', 'B'], ['error', 'B − A']], first,
    (of) => change({of, tensor: of === 'b' ? String(other.tensor) : number})))};
  const heat = answer.decodes ? new Heat(number, sides) : null;
  return [
    h('a', {class: 'back', href: '#/tensors'}, '← all tensors'),
    h('section', {class: 'sheet'}, h('div', {class: 'head'}, h('h1', {class: 'mono', style: {fontSize: '1.08rem'}}, item.name), copier(item.name)),
      facts([['Shape', shapeText(item.shape), `${rough(item.elements)} elements`], ['Type', chip(item.type), answer.codec], ['Size', bytes(item.bytes), answer.decoded_bytes !== item.bytes && `${bytes(answer.decoded_bytes)} decompressed`],
        ['Bits per weight', bitsText(item.bits)], ['Role', item.role, item.layer === null ? undefined : `layer ${item.layer}`], other && ['In B', chip(other.type), `${other.name === item.name ? '' : `${other.name}, `}${bitsText(other.bits)} bits`]])),
    heat ? heat.element : h('p', {class: 'quiet'}, 'Its layout is not one that Tare decodes.'),
    heat && distributionSheet(number, sides, heat),
    heat && sliceSheet(number, item.shape, sides),
    blockSheet(number, side),
    storageSheet(answer),
  ];
}
