// Two models: what the second lost, over all tensors.
import {h, put, say, sheet, choice, facts, later} from './dom.js';
import {bytes, count, many, real, bitsText, percent} from './format.js';
import {typeColour, chip} from './colour.js';
import {dots, legend} from './chart.js';
import {ask, work, isReport, sorry} from './api.js';

const order = {key: 'relative_rms', down: true, only: 'all', search: ''};
const COLUMNS = [['name', 'Tensor', ''], ['type_b', 'A → B', ''], ['bits_b', 'Bits', 'right'], ['relative_rms', 'Relative error', 'right'], ['rms', 'RMS', 'right'], ['cosine', 'Cosine', 'right'], ['changed', 'Changed', 'right']];
const MOST = 300;

function words(row) {
  if (row.only_in) return `only in ${row.only_in.toUpperCase()}`;
  if (row.shapes) return `shape ${row.shapes[0]} → ${row.shapes[1]}`;
  return row.problem || '';
}

function table(all, draw) {
  const rows = all.filter((row) => row.name.includes(order.search) && (order.only === 'all' || (order.only === 'one' ? row.only_in : order.only === 'changed' ? row.changed > 0 : words(row))))
    .sort((a, b) => (order.down ? -1 : 1) * (typeof a[order.key] === 'string' ? a[order.key].localeCompare(b[order.key], 'en', {numeric: true}) : (a[order.key] ?? -1) - (b[order.key] ?? -1)));
  const open = (row) => { if (row.a !== null) location.hash = `#/tensors/${row.a}${row.b === null ? '' : '?of=error'}`; else location.hash = `#/tensors/${row.b}?of=b`; };
  return [h('div', {class: 'wide'}, h('table', {}, h('thead', {}, h('tr', {}, COLUMNS.map(([key, text, kind]) => h('th', {class: kind, 'aria-sort': order.key === key ? (order.down ? 'descending' : 'ascending') : undefined},
    h('button', {type: 'button', onclick: () => { order.down = order.key === key ? !order.down : key !== 'name'; order.key = key; draw(); }}, text, order.key === key ? (order.down ? ' ↓' : ' ↑') : ''))))),
  h('tbody', {}, rows.slice(0, MOST).map((row) => h('tr', {class: 'goes', onclick: () => open(row)}, h('td', {class: 'name'}, h('a', {href: row.a !== null ? `#/tensors/${row.a}${row.b === null ? '' : '?of=error'}` : `#/tensors/${row.b}?of=b`, style: {color: 'inherit', textDecoration: 'none'}}, row.name)),
    h('td', {}, row.type_a && chip(row.type_a), row.type_b && row.type_b !== row.type_a && [' → ', chip(row.type_b)]), h('td', {class: 'right'}, bitsText(row.bits_b || row.bits_a)),
    words(row) ? h('td', {colspan: 4, class: 'quiet right'}, words(row)) : [h('td', {class: 'right'}, real(row.relative_rms)), h('td', {class: 'right'}, real(row.rms)), h('td', {class: 'right'}, row.cosine === undefined ? '' : row.cosine.toFixed(6)), h('td', {class: 'right'}, percent(row.changed || 0))])))),
  ), rows.length > MOST && h('p', {class: 'small quiet'}, `and ${count(rows.length - MOST)} more; search to find them`)];
}

export function compareView(state) {
  const area = h('div', {}), meter = h('div', {class: 'meter'}, h('span', {}));
  function draw(answer) {
    const rows = answer.tensors, both = rows.filter((row) => row.compared), same = both.filter((row) => row.changed === 0);
    const worst = both.reduce((a, b) => (b.relative_rms > (a ? a.relative_rms : -1) ? b : a), null);
    const weight = both.reduce((sum, row) => sum + row.elements, 0), mean = weight ? Math.sqrt(both.reduce((sum, row) => sum + row.relative_rms ** 2 * row.elements, 0) / weight) : 0;
    const list = h('div', {}), redraw = () => put(list, table(rows, redraw));
    const search = h('input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search compared tensors', value: order.search, oninput: later(() => { order.search = search.value; redraw(); })});
    redraw();
    const types = [...new Set(both.map((row) => row.type_b))];
    put(area,
      h('section', {class: 'sheet'}, h('div', {class: 'head'}, h('h1', {}, `${state.models[0].name} and ${state.models[1].name}`)),
        facts([['A', bytes(state.models[0].bytes), `${state.models[0].format}, ${bitsText(state.models[0].bits)} bits`], ['B', bytes(state.models[1].bytes), `${state.models[1].format}, ${bitsText(state.models[1].bits)} bits`],
          ['Compared', many(both.length, 'tensor'), answer.renamed ? 'names brought to one convention' : undefined], ['Equal', many(same.length, 'tensor')], ['Relative error', real(mean), 'root mean square over all'],
          worst && ['Worst', real(worst.relative_rms), worst.name], ['Only in one', count(rows.filter((row) => row.only_in).length)]])),
      sheet('Error against bits per weight', [], dots(both.map((row) => ({x: row.bits_b, y: row.relative_rms, colour: typeColour(row.type_b), title: `${row.name}: ${bitsText(row.bits_b)} bits, relative error ${real(row.relative_rms)}`, row})),
        {label: 'Relative error of each tensor against its bits per weight', xLabel: 'bits per weight in B', yLabel: 'relative error', open: (p) => { location.hash = `#/tensors/${p.row.a}?of=error`; }}),
      legend(types.slice(0, 12).map(chip)), same.length > 0 && h('p', {class: 'small quiet'}, `${many(same.length, 'tensor')} without any error ${same.length === 1 ? 'is' : 'are'} not drawn.`)),
      sheet('Tensors', [search, choice('Which', [['all', 'all'], ['changed', 'changed'], ['other', 'not compared']], order.only, (value) => { order.only = value; redraw(); })], list,
        h('p', {class: 'small quiet'}, `From up to ${count(answer.sampled)} values of each tensor.${answer.pairs > rows.length ? ` The ${count(rows.length)} largest of ${count(answer.pairs)} are shown.` : ''}`)));
  }
  put(area, h('p', {class: 'quiet'}, 'Comparing…'), meter);
  (isReport ? ask('compare') : work('compare/start', 'compare', {}, (share) => { meter.firstChild.style.width = `${share * 100}%`; }, () => area.isConnected))
    .then((answer) => answer.done && draw(answer), (error) => put(area, sorry(error)));
  return area;
}
