// Two models: the loss of the second, over all tensors. A sample answers at once; every value is compared on request.
import {h, put, say, sheet, choice, facts, later, meterBar} from './dom.js';
import {bytes, count, many, rough, real, fixed, bitsText, percent} from './format.js';
import {typeColour, chip} from './colour.js';
import {dots, legend} from './chart.js';
import {ask, work, isReport, sorry} from './api.js';

const order = {sort: 'relative_rms', way: 'down', only: 'all', search: ''};
const COLUMNS = [['name', 'Tensor', ''], ['type', 'A → B', ''], ['bits', 'Bits', 'right'], ['relative_rms', 'Relative error', 'right'], ['rms', 'RMS', 'right'], ['cosine', 'Cosine', 'right'], ['changed', 'Changed', 'right']];
const MOST = 300;
const FEW = 5e7;  // up to this many values are compared at once: about a second's work

function words(row) {
  if (row.only_in) return `only in ${row.only_in.toUpperCase()}`;
  if (row.shapes) return `shape ${row.shapes[0]} → ${row.shapes[1]}`;
  return row.problem || '';
}

const placeOfPair = (row) => row.a !== null ? `#/tensors/${row.a}${row.b === null ? '' : '?of=error'}` : `#/tensors/${row.b}?of=b`;

function table(answer, draw) {
  const sorted = (key) => order.sort === key ? (order.way === 'down' ? 'descending' : 'ascending') : undefined;
  const sort = (key) => { order.way = order.sort === key ? (order.way === 'down' ? 'up' : 'down') : key === 'name' || key === 'cosine' ? 'up' : 'down'; order.sort = key; draw(); };
  return [h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, COLUMNS.map(([key, text, kind]) => h('th', {class: kind, 'aria-sort': sorted(key)},
    h('button', {type: 'button', onclick: () => sort(key)}, text, order.sort === key ? (order.way === 'down' ? ' ↓' : ' ↑') : ''))))),
  h('tbody', {}, answer.tensors.map((row) => h('tr', {class: 'goes', onclick: () => { location.hash = placeOfPair(row); }}, h('td', {class: 'name'}, h('a', {href: placeOfPair(row), style: {color: 'inherit', textDecoration: 'none'}}, row.name)),
    h('td', {}, row.type_a && chip(row.type_a), row.type_b && row.type_b !== row.type_a && [' → ', chip(row.type_b)]), h('td', {class: 'right'}, bitsText(row.bits_b || row.bits_a)),
    words(row) ? h('td', {colspan: 4, class: 'quiet right'}, words(row)) : [h('td', {class: 'right'}, real(row.relative_rms)), h('td', {class: 'right'}, real(row.rms)), h('td', {class: 'right'}, typeof row.cosine === 'number' ? fixed(row.cosine, 6) : row.cosine && real(row.cosine)), h('td', {class: 'right'}, percent(row.changed || 0))])))),
  ), answer.found > answer.tensors.length && h('p', {class: 'small quiet'}, `and ${count(answer.found - answer.tensors.length)} more; search to find them`)];
}

function summarySheet(state, answer) {
  const {summary} = answer, [a, b] = state.models, alone = summary.only_in_a + summary.only_in_b, other = summary.shapes + summary.problems;
  return h('section', {class: 'sheet'}, h('div', {class: 'head'}, h('h1', {}, `${a.name} and ${b.name}`)),
    facts([['A', bytes(a.bytes), `${a.format}, ${bitsText(a.bits)} bits`], ['B', bytes(b.bytes), `${b.format}, ${bitsText(b.bits)} bits`],
      ['Compared', many(summary.compared, 'tensor'), answer.renamed ? 'names matched across formats' : undefined], ['Equal', many(summary.equal, 'tensor')], ['Relative error', real(summary.relative_rms), 'of all values together'],
      summary.worst && ['Worst', real(summary.worst.relative_rms), summary.worst.name], ['Unmatched', count(alone), alone > 0 && `${count(summary.only_in_a)} in A, ${count(summary.only_in_b)} in B`],
      other > 0 && ['Not comparable', count(other), 'see below']]));
}

function plotSheet(answer) {
  const points = answer.plot, types = [...new Set(points.map((point) => point.type))], {equal} = answer.summary;
  return sheet('Error against bits per weight', [], dots(points.map((point) => ({x: point.bits, y: point.relative_rms === 'inf' ? Infinity : point.relative_rms, colour: typeColour(point.type), point,
    title: `${point.name}${point.tensors > 1 ? ` and ${count(point.tensors - 1)} more` : ''}: ${bitsText(point.bits)} bits, relative error ${real(point.relative_rms)}`})),
  {label: 'Relative error of each tensor against its bits per weight', xLabel: 'bits per weight in B', yLabel: 'relative error', open: (p) => { location.hash = placeOfPair(p.point); }}),
  legend(types.slice(0, 12).map(chip)), equal > 0 && h('p', {class: 'small quiet'}, `${many(equal, 'tensor')} without any error ${equal === 1 ? 'is' : 'are'} not drawn.`));
}

export function compareView(state) {
  const area = h('div', {}), meter = meterBar(), top = h('div', {}), how = h('div', {}), plot = h('div', {}), list = h('div', {});
  const alive = () => area.isConnected;
  let turn = 0;
  async function rows() {
    const here = ++turn;
    try {
      const answer = await ask('compare', {...order, count: MOST});
      if (here === turn) put(list, table(answer, rows));
    } catch (error) { if (here === turn) put(list, sorry(error)); }
  }
  function draw(answer) { put(top, summarySheet(state, answer)); put(plot, plotSheet(answer)); tellHow(answer); rows(); }
  // States the basis of the figures, and offers better ones.
  function tellHow(answer) {
    const {exact, compared} = answer.summary, every = answer.every_value, running = every.started && !every.done;
    const text = exact === compared ? `Every value of all ${many(compared, 'tensor')} was compared.` : `From a sample: up to ${count(answer.sampled)} values of each tensor. ${count(exact)} of ${many(compared, 'tensor')} are compared in full.`;
    const share = running && every.expected ? Math.min(1, every.progress / every.expected) : 0;
    const far = running && meterBar();
    if (far) far.set(share, every.waiting);
    put(how, h('p', {class: 'small quiet', role: 'status', 'data-exact': String(exact === compared)}, text, ' ', every.problem),
      exact < compared && !isReport && (running ? [far, h('p', {class: 'small'}, `${rough(every.progress)} of ${rough(every.expected)} values `, h('button', {class: 'plain', type: 'button', onclick: () => ask('compare/stop', {count: 0}, 'POST').catch(() => {})}, 'Stop'))]
        : h('p', {}, h('button', {class: 'plain', type: 'button', onclick: everyValue}, 'Compare every value'))));
  }
  async function everyValue() {
    try {
      let answer = await ask('compare/all', {count: 0, plot: 1}, 'POST'), drawn = Date.now();
      while (!answer.every_value.done && alive()) {
        tellHow(answer);
        await new Promise((resolve) => setTimeout(resolve, 300));
        const whole = Date.now() - drawn > 3000;
        answer = await ask('compare', {count: 0, plot: 1});
        if (whole) { draw(answer); drawn = Date.now(); }
      }
      if (alive()) { draw(answer); say(answer.every_value.problem || 'Every value was compared.'); }
    } catch (error) { put(how, sorry(error)); }
  }
  function begin(answer) {
    const search = h('input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search compared tensors', maxlength: 200, value: order.search, oninput: later(() => { order.search = search.value; rows(); })});
    put(area, top, plot, sheet('Tensors', [search, choice('Which', [['all', 'all'], ['changed', 'changed'], ['other', 'not compared']], order.only, (value) => { order.only = value; rows(); })], how, list));
    draw(answer);
    const {exact, compared} = answer.summary, every = answer.every_value;
    if (!isReport && exact < compared && (every.started ? !every.done : answer.elements <= FEW)) everyValue();
  }
  put(area, h('p', {class: 'quiet'}, 'Comparing…'), meter);
  (isReport ? ask('compare', {count: 0}) : work('compare/start', 'compare', {count: 0, plot: 1}, meter.set, alive))
    .then((answer) => answer && answer.done && begin(answer), (error) => put(area, sorry(error)));
  return area;
}
