// One tensor: facts, values as a picture, distribution, norms, slices, the first block.
import {h, put, say, sheet, choice, emptyState, facts, copier, loading, meterBar, notice} from './dom.js';
import {bytes, count, many, rough, real, element, bitsText, shapeText, percent} from './format.js';
import {chip} from './colour.js';
import {bars, line, legend, swatch} from './chart.js';
import {ask, work, isReport, heldValues, sorry} from './api.js';
import {heldWords} from './held.js';
import {Heat} from './heat.js';
import {keepPlace} from './place.js';

const oddText = (nan, infinite) => [nan > 0 && `${count(nan)} NaN`, infinite > 0 && `${count(infinite)} infinite`].filter(Boolean).join(', ');

// For a tensor that both models have: one of the two, or their difference.
const whichSide = (sides, chosen, change) => sides.length > 1 && choice('Of', sides.map((side) => [side.of, side.label, side.model]), chosen.of, (of) => change(sides.find((side) => side.of === of)));

const chart = {kind: 'values', bars: 'counts', full: false};

// `first`: the place above everything else, for a note on values that are not finite.
function distributionSheet(sides, begin, heat, signal, first, place) {
  const area = h('div', {}, loading(212)), words = h('div', {}, loading(56)), places = h('div', {class: 'wide'}, loading(300)), norms = h('div', {}, loading(460)), marks = [], how = h('div', {});
  const sampleMark = () => { const mark = h('span', {class: 'sampled', hidden: true}, 'sample'); marks.push(mark); return mark; };
  let shown, side = begin, turn = 0, running = 0;
  if (['values', 'magnitudes'].includes(place.dist)) chart.kind = place.dist;
  if (place.bars) chart.bars = place.bars === 'log' ? 'log' : 'counts';
  if (place.full !== undefined) chart.full = place.full === '1';
  const keep = () => keepPlace({dist: chart.kind === 'values' ? undefined : chart.kind, bars: chart.bars === 'counts' ? undefined : chart.bars, full: chart.full ? 1 : undefined});
  const whether = h('span', {}, choice('Range', [['inner', 'most values'], ['full', 'all values']], chart.full ? 'full' : 'inner', (value) => { chart.full = value === 'full'; keep(); histogram(); }));
  function histogram() {
    if (!shown) return;
    const log = chart.bars === 'log', {inner} = shown;
    whether.hidden = !inner || chart.kind !== 'values';
    if (shown.min === null) { put(area, emptyState('There is no finite value.')); return; }
    if (chart.kind === 'values') {
      const clipped = inner && !chart.full, counts = clipped ? inner.histogram : shown.histogram, low = clipped ? inner.low : Number(shown.min), high = clipped ? inner.high : Number(shown.max), width = high / counts.length - low / counts.length;
      const outside = clipped ? inner.below + inner.above : 0, far = shown.outliers.map(({value}) => Number(value));
      put(area, bars(counts, {low, high, log, label: 'Histogram of the values', ends: clipped ? [inner.below, inner.above] : undefined, marks: inner && !clipped ? far.filter((v) => v < inner.low || v > inner.high) : [], names: (i, n) => `${real(low + i * width)} to ${real(low + (i + 1) * width)}: ${count(n)}`}),
        outside > 0 && h('p', {class: 'small outliers'}, `${many(outside, 'value')} (${percent(outside / shown.counted)}) ${outside === 1 ? 'lies' : 'lie'} outside, from ${element(shown.min)} to ${element(shown.max)}.`));
      return;
    }
    const {negative, positive, first_exponent: least} = shown.magnitudes, used = positive.map((n, i) => n + negative[i] > 0);
    const low = Math.max(0, used.indexOf(true)), high = Math.max(low, used.lastIndexOf(true));
    const entries = positive.slice(low, high + 1).map((n, i) => [n, negative[low + i]]);
    put(area, bars(entries, {log, label: 'Histogram of the magnitudes, by powers of two', colours: ['#cc6677', '#4477aa'], names: (i, n, k) => `${k ? 'negative' : 'positive'}, 2^${least + low + i} and more: ${count(n)}`}),
      legend([h('span', {}, `2^${least + low} … 2^${least + high}`), swatch('#cc6677', 'positive'), swatch('#4477aa', 'negative')]));
  }
  const request = () => ({tensor: side.tensor, of: side.of});
  const progress = meterBar(true, () => { ++running; progress.hidden = true; ask('numbers/stop', request(), 'POST').catch(() => {}); tellHow(shown); say('Cancelled.'); });
  async function readAll() {
    const here = turn, run = ++running, alive = () => here === turn && run === running && words.isConnected;
    put(how);
    progress.hidden = false;
    progress.set(0);
    try {
      const whole = await work('numbers/all', 'numbers', request(), progress.set, alive);
      if (whole && alive()) { draw(whole); say('Every value was read.'); }
    } catch (error) { if (alive()) put(how, sorry(error)); }
    if (here === turn && run === running) progress.hidden = true;
  }
  // States whether the figures are of a sample, and offers better ones.
  function tellHow(answer) {
    for (const mark of marks) mark.hidden = answer.exact;
    put(how, answer.exact ? h('p', {class: 'small quiet'}, 'Of every value.') : h('p', {class: 'small basis'}, h('b', {}, 'A sample: '), `${rough(answer.counted)} of ${rough(answer.elements)} values (${percent(answer.counted / answer.elements)}). Others may be larger. `, !isReport && h('button', {class: 'plain', type: 'button', onclick: readAll}, 'Read all values')));
  }
  function draw(answer) {
    shown = answer;
    const odd = answer.nan + answer.infinite;
    put(first, odd > 0 && notice(h('b', {}, `${many(odd, 'value')} ${odd === 1 ? 'is' : 'are'} not finite`), `${side.label ? ` in ${side.label}` : ''}: ${oddText(answer.nan, answer.infinite)}${answer.exact ? '' : ', in a sample'}. They are amber in the picture, and not in the figures below.`));
    const of = answer.exact ? '' : ' of sample';
    put(words, facts([
      odd > 0 && ['Not finite', count(odd), oddText(answer.nan, answer.infinite)],
      ...(answer.min === null ? [] : [[`Min${of}`, element(answer.min)], [`Max${of}`, element(answer.max)], ['Mean', real(answer.mean)], ['Standard deviation', real(answer.std)]]),
      ['Zeros', percent(answer.counted ? answer.zeros / answer.counted : 0)],
    ]));
    tellHow(answer);
    histogram();
    if (answer.min === null) { put(places, emptyState('There is no finite value.')); put(norms, emptyState('There is no finite value.')); return; }
    put(places, h('table', {}, h('thead', {}, h('tr', {}, h('th', {class: 'right'}, 'Value'), h('th', {class: 'right'}, 'Row'), h('th', {class: 'right'}, 'Column'), h('th', {}, h('span', {class: 'unseen'}, 'In the picture')))),
      h('tbody', {}, answer.outliers.map((place) => h('tr', {}, h('td', {class: 'right mono'}, element(place.value, 6)), h('td', {class: 'right'}, count(place.row)), h('td', {class: 'right'}, count(place.column)),
        h('td', {}, h('button', {class: 'copy', type: 'button', onclick: () => heat.show(place.row, place.column)}, 'show')))))));
    put(norms, h('h3', {}, 'Rows'), line(answer.row_norms, {label: 'Root mean square of rows'}), h('h3', {}, 'Columns'), line(answer.column_norms, {label: 'Root mean square of columns'}));
  }
  async function load() {
    const here = ++turn;
    progress.hidden = true;
    try {
      const answer = await ask('numbers', {...request(), all: isReport ? undefined : 1}, 'GET', signal);
      if (here !== turn) return;
      if (answer.done) { draw(answer); return; }
      // The work is already running: a sample is shown until it is done.
      const sample = await ask('numbers', request(), 'GET', signal);
      if (here !== turn) return;
      draw(sample);
      if (answer.started) readAll();
    } catch (error) { if (here === turn) { put(words, sorry(error)); put(area); put(places); put(norms); put(how); } }
  }
  load();
  return [
    sheet('Distribution', [sampleMark(), whichSide(sides, side, (next) => { side = next; keepPlace({side: next === begin ? undefined : next.of}); load(); }),
      choice('Of', [['values', 'values'], ['magnitudes', 'magnitudes']], chart.kind, (value) => { chart.kind = value; keep(); histogram(); }), whether,
      choice('Bars', [['counts', 'linear'], ['log', 'logarithmic']], chart.bars, (value) => { chart.bars = value; keep(); histogram(); })], words, how, progress, h('div', {style: {height: '12px'}}), area),
    h('div', {class: 'two'}, sheet('Largest magnitudes', [sampleMark()], places), sheet('Norms', [sampleMark(), h('span', {class: 'small quiet'}, 'root mean square')], norms)),
  ];
}

function sliceSheet(sides, begin, shape, signal, place) {
  let side = sides.find((entry) => entry.of === place.slice_of) || begin, turn = 0;
  const result = h('div', {class: 'wide'}), first = shape.length < 2 ? ':16' : `${'0, '.repeat(shape.length - 2)}:8, :8`;
  const input = h('input', {type: 'text', value: place.slice ?? (shape.length ? first : '...'), 'aria-label': 'Slice, as in NumPy', maxlength: 200, class: 'mono', spellcheck: 'false', size: 24});
  async function load() {
    const here = ++turn;
    try {
      const answer = await ask('values', {tensor: side.tensor, of: side.of, slice: input.value}, 'GET', signal);
      if (here !== turn) return;
      const columns = answer.shape.length ? answer.shape[answer.shape.length - 1] || 1 : 1, wide = Math.min(columns, 64), lines = [];
      for (let i = 0; i < answer.values.length && lines.length < 128; i += columns) lines.push(h('tr', {}, answer.values.slice(i, i + wide).map((value) => h('td', {}, element(value, 6)))));
      put(result, h('p', {class: 'small quiet'}, `${shapeText(answer.shape)}, ${many(answer.elements, 'value')}${answer.complete ? '' : `; the first ${count(answer.values.length)} are read`}`, ' ', copier(JSON.stringify(answer.values).replace(/"(-?\d+)"/g, '$1'))),
        h('table', {class: 'values'}, h('caption', {class: 'unseen'}, 'Values of the slice'), h('tbody', {}, lines)));
    } catch (error) { if (here === turn) put(result, sorry(error)); }
  }
  const form = h('form', {style: {display: 'flex', gap: '6px', flexWrap: 'wrap', marginBottom: '8px'}, onsubmit: (event) => { event.preventDefault(); keepPlace({slice: input.value}); load(); }}, input, h('button', {class: 'plain'}, 'Read'));
  const held = isReport && heldValues(side.tensor, side.of);
  load();
  return sheet('Slice', [whichSide(sides, side, (next) => { side = next; keepPlace({slice_of: next === begin ? undefined : next.of}); load(); }), h('span', {class: 'small quiet'}, 'as in NumPy: 0, :8, ::2, -1')], form,
    isReport && h('p', {class: 'small quiet'}, held ? `The report holds ${heldWords(held)} of this tensor${held.single ? '' : ', and slices of those are shown; \`tare view\` reads any'}.` : 'The report holds no values of this tensor.'), result);
}

const FIELDS = ['#88ccee', '#ddcc77', '#ee8866', '#44aa99', '#cc99bb', '#bbcc33'];

function fieldOf(field, i, several) {
  const place = field.runs > 1 ? `${count(field.runs)} times ${many(field.bytes, 'byte')}, ${count(field.stride)} apart, from ${count(field.offset)}` : `${many(field.bytes, 'byte')} at ${count(field.offset)}`;
  return h('div', {style: {margin: '0 0 12px'}},
    h('div', {class: 'small', style: {marginBottom: '3px'}}, h('b', {class: 'mono'}, field.name), ` ${field.what} `, h('span', {class: 'quiet'}, `${field.kind}${field.bits ? ` of ${field.bits}` : ''}, ${place}${several && field.component !== field.name ? ` of ${field.component}` : ''}`)),
    h('div', {class: 'hex'}, (field.hex.match(/../g) || []).slice(0, 128).map((pair) => h('span', {style: {background: FIELDS[i % FIELDS.length]}}, pair))),
    field.values.length > 0 && h('div', {class: 'mono small quiet', style: {overflowWrap: 'anywhere'}}, `= ${field.values.slice(0, 48).map((v) => element(v)).join(' ')}${field.values.length > 48 ? ' …' : ''}`));
}

// The terms of the formula for the first weights, and the results.
function termsTable(answer) {
  const weights = Math.min(answer.values.length, 16);
  const line = (name, values) => h('tr', {}, h('th', {scope: 'row', class: 'mono'}, name), values.length === 1 ? h('td', {colspan: weights, style: {textAlign: 'left'}}, element(values[0], 6)) : values.slice(0, weights).map((value) => h('td', {}, element(value, 5))));
  return h('div', {class: 'wide'}, h('table', {class: 'values terms'}, h('caption', {class: 'unseen'}, 'The first weights and what they are made of'), h('tbody', {}, answer.terms.map((term) => line(term.name, term.values)), line('w', answer.values.slice(0, weights)))));
}

function blockSheet(tensor, of, signal, label) {
  const area = h('div', {}), end = label ? ` in ${label}` : '', whole = sheet(`First bytes${end}`, [], area);
  ask('block', {tensor, of}, 'GET', signal).then((answer) => {
    const several = answer.fields.some((field) => field.component !== answer.fields[0].component);
    if (answer.formula) whole.querySelector('h2').textContent = `First block${end}: ${many(answer.weights, 'weight')}`;
    put(area, answer.formula && h('p', {class: 'mono'}, answer.formula), answer.fields.map((field, i) => fieldOf(field, i, several)),
      answer.values.length > 0 && (answer.terms.length > 0 ? termsTable(answer) : answer.fields.length !== 1 &&
        h('div', {}, h('div', {class: 'small'}, h('b', {}, 'decoded'), answer.values.length === 1 ? ' the first value' : ` the first ${answer.values.length} values`), h('div', {class: 'mono small quiet', style: {overflowWrap: 'anywhere'}}, answer.values.slice(0, 64).map((v) => element(v)).join(' '), answer.values.length > 64 ? ' …' : ''))));
  }, (error) => put(area, sorry(error)));
  return whole;
}

function storageSheet(answer) {
  return sheet('Storage', [], h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Component'), h('th', {}, 'Type'), h('th', {class: 'right'}, 'Offset'), h('th', {class: 'right'}, 'Bytes'), h('th', {class: 'right'}, 'Stored'), h('th', {}, 'Encoding'), h('th', {}, 'Digest'))),
    h('tbody', {}, answer.components.map((part) => h('tr', {}, h('td', {class: 'mono'}, part.role), h('td', {class: 'mono'}, part.type), h('td', {class: 'right'}, part.offset === null ? '' : count(part.offset)), h('td', {class: 'right'}, count(part.bytes)), h('td', {class: 'right'}, count(part.stored_bytes)), h('td', {}, part.encoding), h('td', {class: 'name'}, part.digest)))))),
  Object.keys(answer.attributes).length > 0 && [h('h3', {style: {margin: '14px 0 4px'}}, 'Attributes'), h('pre', {}, JSON.stringify(answer.attributes, null, 2))]);
}

// A name of any length: the first lines of a long one, and a button for the rest.
function nameHeading(name) {
  const heading = h('h1', {class: `mono tensor${name.length > 300 ? ' long' : ''}`, dir: 'ltr'}, h('bdi', {}, name));
  const more = h('button', {class: 'copy', type: 'button', onclick: () => { heading.classList.toggle('long'); more.textContent = heading.classList.contains('long') ? 'whole name' : 'shorten'; }}, 'whole name');
  return [heading, name.length > 300 && more];
}

// A tensor of which nothing else is known has its name as its role, possibly shortened in the middle.
const isCutName = (role, name) => name.startsWith(role.split(/…|\.\.\./)[0]);

// `signal`: aborted when another tensor is selected.
export async function tensorDetail(state, place, signal) {
  const side = place.of === 'b' ? 'b' : undefined, tensor = place.tensor;
  const answer = await ask('tensor', {tensor, of: side}, 'GET', signal), item = answer.item, other = answer.others[0], name = answer.full_name || item.name;
  // A, B and their difference, as they are compared, by the number in the first model.
  const number = String(item.tensor), first = other && (side ? other : item), second = other && (side ? item : other);
  const names = state.models.map((model) => model.name);
  const sides = !other ? [{label: '', tensor: number, of: side}] : ['left', 'right', 'error'].map((of, i) => ({of, tensor: String(first.tensor), label: ['A', 'B', 'B − A'][i], model: [names[0], names[1], 'the difference'][i], what: [`${names[0]}, ${first.type}`, `${names[1]}, ${second.type}`, 'the difference'][i], differs: i === 2}));
  const begin = sides.find((entry) => entry.of === (place.side || (place.of === 'error' ? 'error' : side ? 'right' : 'left'))) || sides[0], alarm = h('div', {});
  const heat = answer.decodes && item.elements > 0 ? new Heat(sides, signal, place) : null;
  return [
    h('a', {class: 'back', href: `#/tensors${side ? '?of=b' : ''}`}, '← all tensors'),
    h('section', {class: 'sheet'}, h('div', {class: 'head'}, nameHeading(name), copier(name)),
      facts([['Shape', shapeText(item.shape), `${rough(item.elements)} ${item.elements === 1 ? 'element' : 'elements'}`], ['Type', chip(item.type), answer.codec], ['Size', bytes(item.bytes), answer.decoded_bytes !== item.bytes && `${bytes(answer.decoded_bytes)} decompressed`],
        ['Bits per weight', bitsText(item.bits)], (item.layer !== null || !isCutName(item.role, name)) && ['Role', item.role, item.layer === null ? undefined : `layer ${item.layer}`], other && [`In ${side ? 'A' : 'B'}, ${names[side ? 0 : 1]}`, chip(other.type), `${other.name === item.name ? '' : `${other.name}, `}${bitsText(other.bits)} bits`]])),
    alarm,
    heat ? heat.element : h('section', {class: 'sheet'}, answer.decodes ? emptyState('It has no elements.', `Its shape is ${shapeText(item.shape)}.`) : emptyState('Tare does not decode this layout.', 'Its bytes are below.')),
    heat && distributionSheet(sides, begin, heat, signal, alarm, place),
    heat && sliceSheet(sides, begin, item.shape, signal, place),
    item.elements > 0 && blockSheet(number, side, signal),
    other && other.elements > 0 && blockSheet(String(other.tensor), side ? undefined : 'b', signal, side ? 'A' : 'B'),
    storageSheet(answer),
  ];
}
