// Two models: the loss of the second, over all tensors. A sample answers at once; every value is compared on request.
import {h, put, say, sheet, sideMark, emptyState, loading, choice, facts, later, meterBar, breakable} from './dom.js';
import {bytes, count, many, rough, real, fixed, bitsText, percent} from './format.js';
import {typeColour, chip, errorColour, savedColour, gradient, inkOn} from './colour.js';
import {dots, legend, ramp, swatch} from './chart.js';
import {ask, work, isReport, sorry} from './api.js';
import {Link, layerTable} from './grid.js';
import {runsSheet} from './runs.js';
import {keepPlace} from './place.js';

const ORDER = {sort: 'relative_rms', way: 'down', only: 'all', search: ''}, order = {...ORDER};
const COLUMNS = [['name', 'Tensor', ''], ['relative_rms', 'Relative error', 'right'], ['type', 'Type in A → B', ''], ['bits', 'Bits in B', 'right hides'], ['rms', 'RMS', 'right hides'], ['cosine', 'Cosine', 'right hides'], ['changed', 'Changed', 'right hides']];
const FIRST = 30, MORE = 300, MOST = 10000, PART = 1000;  // rows: at first, for each "Show more", from an address, in one answer
const FEW = 5e7;  // up to this many values are compared at once: about a second's work

function words(row) {
  if (row.only_in) return `only in ${row.only_in.toUpperCase()}`;
  if (row.shapes) return `shape ${row.shapes[0]} → ${row.shapes[1]}`;
  return row.problem || '';
}

const placeOfPair = (row) => row.a !== null ? `#/tensors/${row.a}${row.b === null ? '' : '?of=error'}` : `#/tensors/${row.b}?of=b`;

function tableRow(row) {
  const why = words(row), cell = (text, kind = 'right') => h('td', {class: kind}, why ? '' : text);
  return h('tr', {class: 'goes', onclick: () => { location.hash = placeOfPair(row); }}, h('td', {class: 'name'}, h('a', {href: placeOfPair(row), style: {color: 'inherit', textDecoration: 'none'}}, h('bdi', {}, breakable(row.name))), why && h('div', {class: 'quiet'}, why)),
    cell(real(row.relative_rms)), h('td', {class: 'types'}, row.type_a && chip(row.type_a), row.type_b && row.type_b !== row.type_a && [' ', h('span', {class: 'becomes'}, '→ ', chip(row.type_b))]), h('td', {class: 'right hides'}, bitsText(row.bits_b || row.bits_a)),
    cell(real(row.rms), 'right hides'), cell(typeof row.cosine === 'number' ? fixed(row.cosine, 6) : row.cosine && real(row.cosine), 'right hides'), cell(percent(row.changed || 0), 'right hides'));
}

// `draw`: called after a change of the order; `more`: with how many further rows are wanted.
function table(answer, draw, more) {
  const sorted = (key) => order.sort === key ? (order.way === 'down' ? 'descending' : 'ascending') : undefined;
  const sort = (key) => { order.way = order.sort === key ? (order.way === 'down' ? 'up' : 'down') : key === 'name' || key === 'cosine' ? 'up' : 'down'; order.sort = key; draw(); };
  const have = answer.tensors.length, left = answer.found - have;
  return [h('div', {class: 'wide'}, h('table', {class: 'compared'}, h('thead', {}, h('tr', {}, COLUMNS.map(([key, text, kind]) => h('th', {class: kind, 'aria-sort': sorted(key)},
    h('button', {type: 'button', onclick: () => sort(key)}, text, order.sort === key ? (order.way === 'down' ? ' ↓' : ' ↑') : ''))))), h('tbody', {}, answer.tensors.map(tableRow)))), !have && emptyState('No tensor matches.'),
  left > 0 && h('p', {class: 'rest'}, h('button', {class: 'plain', type: 'button', onclick: () => more(Math.min(left, MORE))}, left > MORE ? `Show ${MORE} more` : `Show the other ${left}`), h('span', {class: 'small quiet'}, ` ${count(have)} of ${count(answer.found)}`))];
}

const saved = (a, b) => a ? 1 - b / a : 0;
const savedText = (share) => share === 0 ? 'the same size' : share < 0 ? `${percent(-share)} more` : `${percent(share)} saved`;
// A share of the larger model, drawn to scale.
function sizeBars(a, b) {
  const most = Math.max(a.bytes, b.bytes) || 1;
  return h('div', {class: 'sizes'}, [a, b].map((model, i) => [sideMark(i ? 'b' : 'a'), h('span', {class: 'mono'}, h('bdi', {}, model.name)), h('div', {class: 'bar'}, h('i', {class: i ? 'second' : 'first', style: {width: `${model.bytes / most * 100}%`}})), h('span', {class: 'right'}, bytes(model.bytes)), h('span', {class: 'quiet small'}, `${model.format}, ${bitsText(model.bits)} bits per weight`)]));
}

function summaryFacts(state, answer) {
  const {summary} = answer, [a, b] = state.models, alone = summary.only_in_a + summary.only_in_b, other = summary.shapes + summary.problems, share = saved(a.bytes, b.bytes), sample = summary.exact < summary.compared;
  return facts([['Size of B', share === 0 ? 'the same' : share < 0 ? `${percent(-share)} more` : `${percent(share)} less`, share === 0 ? bytes(b.bytes) : `${bytes(b.bytes)} instead of ${bytes(a.bytes)}`],
    ['Relative error of B', real(summary.relative_rms), sample ? 'from a sample of each tensor' : 'of all values together'], summary.worst && summary.worst.relative_rms !== 0 && ['Worst tensor', real(summary.worst.relative_rms), summary.worst.name],
    ['Compared', many(summary.compared, 'tensor'), answer.renamed ? 'names matched across formats' : undefined], ['Equal', many(summary.equal, 'tensor')],
    ['Unmatched', count(alone), alone > 0 && `${count(summary.only_in_a)} only in A, ${count(summary.only_in_b)} only in B`], other > 0 && ['Not comparable', count(other), 'other shapes, or not decoded']]);
}

const isEqual = ({compared, equal, only_in_a: a, only_in_b: b, shapes, problems}) => compared > 0 && equal === compared && a + b + shapes + problems === 0;

function summarySheet(state, answer) {
  const [a, b] = state.models, {summary} = answer, title = !isEqual(summary) ? 'What B lost against A' : summary.exact === summary.compared ? 'All values of A and B are equal' : 'The samples of A and B are equal';
  return h('section', {class: 'sheet', 'aria-label': 'Summary'}, h('div', {class: 'head'}, h('h1', {}, title)), sizeBars(a, b), summaryFacts(state, answer));
}

// The same on the overview, from a sample.
export function lossSheet(state) {
  const area = h('div', {}, loading(62)), [a, b] = state.models;
  const whole = h('section', {class: 'sheet', 'aria-label': 'B against A'}, h('div', {class: 'head'}, h('h2', {}, 'B against A'), h('a', {href: '#/compare'}, 'Compare them in detail')), sizeBars(a, b), area);
  (isReport ? ask('compare', {count: 0}) : work('compare/start', 'compare', {count: 0}, () => {}, () => whole.isConnected))
    .then((answer) => answer && answer.done && put(area, summaryFacts(state, answer)), (error) => put(area, sorry(error)));
  return whole;
}

// Layers and roles twice: by error and by size. Errors are on a logarithmic scale from the least to the worst.
// Nothing for models without a difference.
function gridSheets({grid, summary}, [a, b]) {
  if (isEqual(summary) && a.bytes === b.bytes) return null;
  if (!grid || !grid.layers.length) return null;
  const link = new Link(), cells = [...grid.layers.flat(), ...grid.others.map((other) => other.cell)].filter(Boolean), errors = cells.map((cell) => cell.relative_rms).filter((error) => typeof error === 'number' && error > 0);
  const high = Math.max(...errors, 1e-12), low = Math.min(high / 10, ...errors), share = (error) => Math.log(error / low) / Math.log(high / low);
  const none = 'var(--wash)', lost = 'rgb(255 170 0)', colourOfError = ({relative_rms: error}) => error === 'inf' ? lost : error > 0 ? errorColour(share(error)) : none;
  const short = (error) => error === 'inf' ? '∞' : error > 0 ? (error >= 0.0995 ? String(Math.round(error * 100)) : error >= 0.00095 ? fixed(error * 100, 1) : '<0.1') : '0';
  const wordsOf = (cell) => `${cell.type_a} → ${cell.type_b}, relative error ${real(cell.relative_rms)}${cell.exact ? '' : ' (sample)'}, ${bytes(cell.bytes_a)} → ${bytes(cell.bytes_b)}, ${savedText(saved(cell.bytes_a, cell.bytes_b))}${cell.tensors > 1 ? `, ${many(cell.tensors, 'tensor')}, worst ${cell.name}` : ''}`;
  const byError = (cell) => { const background = colourOfError(cell); return {label: wordsOf(cell), href: placeOfPair(cell), background, ink: background === none ? 'var(--ink)' : inkOn(background), text: short(cell.relative_rms)}; };
  const bySize = (cell) => { const part = saved(cell.bytes_a, cell.bytes_b), background = savedColour(part); return {label: wordsOf(cell), href: placeOfPair(cell), background, ink: inkOn(background), text: `${part < -0.005 ? '−' : ''}${Math.round(Math.abs(part) * 100)}`}; };
  const part = (title, unit, look, meaning) => {
    const reading = h('div', {class: 'reading'});
    return h('div', {}, sheet(title, [h('span', {class: 'small quiet'}, unit)], h('div', {class: 'wide'}, layerTable(grid, title, look, link, reading, 520), !grid.complete && h('p', {class: 'small quiet'}, 'Not all layers and roles are shown; the table at the end has all tensors.')), legend(meaning), reading,
      grid.others.length > 0 && legend(grid.others.map(({role, cell}) => { const {background, label, text} = look(cell); return h('a', {class: 'chip', title: label, style: {color: 'inherit'}, href: placeOfPair(cell)}, h('i', {style: {background}}), role, h('span', {class: 'quiet'}, text)); }))));
  };
  const worse = gradient([0, 0.25, 0.5, 0.75, 1].map(errorColour)), grown = cells.some((cell) => cell.bytes_b > cell.bytes_a);
  return h('div', {class: 'two'},
    part('Error of B by layer', 'relative error in %', byError, [errors.length > 0 && ramp(`${short(low)} %`, worse, `${short(high)} %`), cells.some((cell) => cell.relative_rms === 0) && swatch(none, 'no error'), cells.some((cell) => cell.relative_rms === 'inf') && swatch(lost, 'NaN or infinite')]),
    part('Size saved by B', 'bytes saved in %', bySize, [ramp('0 %', gradient([0, 0.33, 0.67, 1].map(savedColour)), '100 %'), grown && swatch(savedColour(-1), 'larger in B')]));
}

function plotSheet(answer) {
  const points = answer.plot, types = [...new Set(points.map((point) => point.type))], {equal} = answer.summary;
  return points.length > 0 && sheet('Error against bits per weight', [], dots(points.map((point) => ({x: point.bits, y: point.relative_rms === 'inf' ? Infinity : point.relative_rms, colour: typeColour(point.type), point,
    title: `${point.name}${point.tensors > 1 ? ` and ${count(point.tensors - 1)} more` : ''}: ${bitsText(point.bits)} bits, relative error ${real(point.relative_rms)}`})),
  {height: 240, label: 'Relative error of each tensor against its bits per weight', xLabel: 'bits per weight in B', yLabel: 'relative error', open: (p) => { location.hash = placeOfPair(p.point); }}),
  legend(types.slice(0, 12).map(chip)), equal > 0 && h('p', {class: 'small quiet'}, `${many(equal, 'tensor')} without any error ${equal === 1 ? 'is' : 'are'} not drawn.`));
}

export function compareView(state, place) {
  const area = h('div', {}), meter = meterBar(), top = h('div', {}), how = h('div', {}), grids = h('div', {}), plot = h('div', {}), list = h('div', {});
  const alive = () => area.isConnected;
  let turn = 0, most = Math.min(MOST, Math.max(FIRST, Number(place.rows) || 0));
  for (const key of Object.keys(order)) if (place[key] !== undefined) order[key] = place[key];
  const keepRows = () => keepPlace({...Object.fromEntries(Object.entries(order).map(([key, value]) => [key, value === ORDER[key] ? undefined : value])), rows: most === FIRST ? undefined : most});
  // The table begins anew.
  const reorder = () => { most = FIRST; return rows(); };
  const more = async (further) => {
    const from = most;
    most += further;
    await rows();
    const next = list.querySelectorAll('tr.goes a')[from];
    if (next) next.focus({preventScroll: true});
  };
  async function rows() {
    const here = ++turn;
    if (alive()) keepRows();
    try {
      const answer = await ask('compare', {...order, count: Math.min(most, PART)}), {tensors} = answer;
      while (here === turn && tensors.length < Math.min(most, answer.found)) {
        const next = await ask('compare', {...order, from: tensors.length, count: Math.min(most - tensors.length, PART)});
        if (!next.tensors.length) break;
        tensors.push(...next.tensors);
      }
      if (here === turn) put(list, table(answer, reorder, more));
    } catch (error) { if (here === turn) put(list, sorry(error)); }
  }
  function draw(answer) { put(top, summarySheet(state, answer)); put(grids, gridSheets(answer, state.models)); put(plot, plotSheet(answer)); tellHow(answer); rows(); }
  const far = meterBar(false, () => ask('compare/stop', {count: 0}, 'POST').catch(() => {}));
  // States the basis of the figures, and offers better ones.
  function tellHow(answer) {
    const {exact, compared} = answer.summary, every = answer.every_value, running = every.started && !every.done;
    const text = exact === compared ? `Every value of all ${many(compared, 'tensor')} was compared.` : `From a sample: up to ${count(answer.sampled)} values of each tensor. ${count(exact)} of ${many(compared, 'tensor')} are compared in full.`;
    const share = running && every.expected ? Math.min(1, every.progress / every.expected) : 0;
    if (running) far.set(share, every.waiting);
    put(how, h('p', {class: 'small quiet', role: 'status', 'data-exact': String(exact === compared)}, text, ' ', every.problem),
      exact < compared && !isReport && (running ? [far, h('p', {class: 'small'}, `${rough(every.progress)} of ${rough(every.expected)} values`)]
        : h('p', {}, h('button', {class: 'plain', type: 'button', onclick: everyValue}, 'Compare every value'))));
  }
  async function everyValue() {
    try {
      let answer = await ask('compare/all', {count: 0, plot: 1, grid: 1}, 'POST'), drawn = Date.now();
      while (!answer.every_value.done && alive()) {
        tellHow(answer);
        await new Promise((resolve) => setTimeout(resolve, 300));
        const whole = Date.now() - drawn > 3000;
        answer = await ask('compare', {count: 0, plot: 1, grid: 1});
        if (whole) { draw(answer); drawn = Date.now(); }
      }
      if (alive()) { draw(answer); say(answer.every_value.problem || 'Every value was compared.'); }
    } catch (error) { put(how, sorry(error)); }
  }
  function begin(answer) {
    const search = h('input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search compared tensors', maxlength: 200, value: order.search, oninput: later(() => { order.search = search.value; reorder(); })});
    put(area, top, grids, plot, runsSheet(alive), sheet('Tensors', [search, choice('Which', [['all', 'all'], ['changed', 'changed'], ['other', 'not compared']], order.only, (value) => { order.only = value; reorder(); })], how, list));
    draw(answer);
    const {exact, compared} = answer.summary, every = answer.every_value;
    if (!isReport && exact < compared && (every.started ? !every.done : answer.elements <= FEW)) everyValue();
  }
  put(area, h('section', {class: 'sheet'}, h('h2', {}, 'Comparing a sample of each tensor'), meter));
  (isReport ? ask('compare', {count: 0}) : work('compare/start', 'compare', {count: 0, plot: 1, grid: 1}, meter.set, alive))
    .then((answer) => answer && answer.done && begin(answer), (error) => put(area, sorry(error)));
  return area;
}
