// Small charts as SVG.
import {h, s} from './dom.js';
import {count, real} from './format.js';

// A picture that is as wide as its place, and drawn again when that changes, so that its text keeps its size.
// `draw(plot, width)` fills it.
function fitted(label, height, draw) {
  const plot = s('svg', {class: 'plot', viewBox: `0 0 720 ${height}`, role: 'img', 'aria-label': label});
  let drawn = 0;
  plot.fit = (width) => {
    if (width < 1 || width === drawn) return;
    drawn = width;
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    plot.replaceChildren();
    draw(plot, width);
  };
  new ResizeObserver(() => plot.fit(Math.round(plot.clientWidth))).observe(plot);
  return plot;
}
// Paper has another width, and printing does not wait for observers. The numbers are those of A4 and Letter, nearly.
function fitAll(widthOf) { for (const plot of document.querySelectorAll('svg.plot')) if (plot.fit) plot.fit(widthOf(plot)); }
addEventListener('beforeprint', () => fitAll((plot) => plot.closest('.two') ? 320 : 680));
addEventListener('afterprint', () => fitAll((plot) => Math.round(plot.clientWidth)));

function axisText(x, y, text, anchor = 'middle') { return s('text', {x, y, 'text-anchor': anchor}, text); }

// Bars from `low` to `high`. `ends`: how many values are below and above, each marked at its end; `marks`: single values.
export function bars(values, {height = 190, label, ...how}) { return fitted(label, height + 22, (plot, wide) => drawBars(plot, wide, height, values, how)); }

function drawBars(plot, W, height, values, {low, high, log, names, colours, ends = [0, 0], marks = []}) {
  const scale = (n) => log ? Math.log10(n + 1) : n, room = ends.map((n) => n > 0 ? 54 : 0);
  const most = Math.max(1e-9, ...values.flat().map(scale)), wide = W - room[0] - room[1], width = wide / values.length;
  plot.append(s('line', {class: 'axis', x1: 0, x2: W, y1: height + 0.5, y2: height + 0.5}));
  values.forEach((entry, i) => {
    let base = height;
    const parts = [entry].flat(), all = parts.reduce((a, b) => a + b, 0);
    parts.forEach((value, k) => {
      const tall = all > 0 ? scale(all) / most * (height - 6) * value / all : 0;
      base -= tall;
      if (tall > 0) plot.append(s('rect', {x: room[0] + i * width + 0.5, y: base, width: Math.max(0.7, width - 1), height: Math.max(tall, 0.8), fill: colours ? colours[k] : 'var(--bar)'},
        s('title', {}, names ? names(i, value, k) : String(value))));
    });
  });
  // Values outside have a block at their end of the chart. Its height has no meaning.
  ends.forEach((n, k) => {
    if (!n) return;
    const x = k ? W - 46 : 0;
    plot.append(s('rect', {class: 'outside', x, y: height - 26, width: 46, height: 26, rx: 3}, s('title', {}, `${count(n)} ${n === 1 ? 'value lies' : 'values lie'} ${k ? 'above' : 'below'}`)),
      s('text', {class: 'outside', x: x + 23, y: height - 9, 'text-anchor': 'middle'}, `${k ? '' : '◂ '}${n < 1e4 ? n : `${Math.round(n / 1000)}k`}${k ? ' ▸' : ''}`));
  });
  for (const mark of marks) if (mark >= low && mark <= high) plot.append(s('path', {class: 'outlier', d: `M${room[0] + (mark - low) / (high - low) * wide} ${height + 1}l-3.5 6h7z`}, s('title', {}, real(mark))));
  if (low !== undefined) plot.append(axisText(room[0], height + 17, real(low), 'start'), axisText(W - room[1], height + 17, real(high), 'end'));
  if (low < 0 && high > 0) {
    const x = room[0] + wide * (-low / 2) / (high / 2 - low / 2);
    if (x > 60 + room[0] && x < W - 60 - room[1]) plot.append(s('line', {class: 'axis', x1: x, x2: x, y1: 0, y2: height}), axisText(x, height + 17, '0'));
  }
}

export function line(values, {height = 170, label}) { return fitted(label, height + 36, (plot, wide) => drawLine(plot, wide, height, values)); }

function drawLine(plot, wide, height, values) {
  const known = values.filter((v) => v !== null), most = Math.max(0, ...known) || 1, top = 20;
  const point = ([v, i]) => `${(values.length > 1 ? i / (values.length - 1) : 0.5) * wide} ${top + height - v / most * height}`;
  const drawn = values.map((v, i) => [v, i]).filter(([v]) => v !== null);  // in a sample, some are unknown
  plot.append(s('line', {class: 'axis', x1: 0, x2: wide, y1: top + height + 0.5, y2: top + height + 0.5}), s('line', {class: 'axis', x1: 0, x2: wide, y1: top, y2: top, 'stroke-dasharray': '2 4'}));
  if (values.length === 1) plot.append(s('circle', {cx: wide / 2, cy: top, r: 3, fill: 'var(--bar)'}));
  else if (drawn.length > 0) plot.append(s('path', {d: `M${drawn.map(point).join('L')}`, fill: 'none', stroke: 'var(--bar)', 'stroke-width': 1.6, 'stroke-linejoin': 'round'}));
  plot.append(axisText(0, height + top + 14, '0', 'start'), axisText(wide, top - 6, `largest ${real(Math.max(0, ...known))}`, 'end'));
}

// Dots at (x, y), y on a logarithmic scale; infinite values are on a line above all others.
export function dots(points, {height = 300, label, ...how}) { return fitted(label, height + 38, (plot, wide) => drawDots(plot, wide, height, points, how)); }

function drawDots(plot, wide, height, points, {xLabel, yLabel, open}) {
  const left = 52, drawn = points.filter((p) => p.y > 0), known = drawn.filter((p) => p.y < Infinity);
  const right = Math.max(1, ...points.map((p) => p.x)) * 1.04;
  const low = known.length ? Math.floor(Math.log10(Math.min(...known.map((p) => p.y)))) : -3;
  const high = Math.max(low + 1, known.length ? Math.ceil(Math.log10(Math.max(...known.map((p) => p.y)))) : 0);
  const top = high + (drawn.length > known.length ? 1 : 0);
  const px = (x) => left + x / right * (wide - left - 12), py = (y) => 26 + (top - Math.min(top, Math.log10(y))) / (top - low) * (height - 26);
  for (let decade = low; decade <= top; ++decade) plot.append(s('line', {class: 'axis', x1: left, x2: wide, y1: py(10 ** decade), y2: py(10 ** decade)}),
    axisText(left - 8, py(10 ** decade) + 4, decade > high ? '∞' : `1e${decade}`, 'end'));
  const step = right > 20 ? 8 : right > 10 ? 4 : right > 5 ? 2 : 1;
  for (let x = 0; x <= right; x += step) plot.append(axisText(px(x), height + 16, String(x)));
  plot.append(axisText(left + (wide - left) / 2, height + 31, xLabel), s('text', {x: 0, y: 11}, yLabel));
  for (const p of drawn) plot.append(s('circle', {class: 'dot', cx: px(p.x), cy: py(p.y), r: 4.5, fill: p.colour, 'fill-opacity': 0.78, style: {cursor: 'pointer'}, onclick: () => open(p)},
    s('title', {}, p.title)));
}

// Lines over the same places, on one logarithmic scale; zeros are on the axis. `names`: those of the places.
export function curves(series, {height = 200, label, names}) { return fitted(label, height + 34, (plot, wide) => drawCurves(plot, wide, height, series, names)); }

function drawCurves(plot, wide, height, series, names) {
  const known = series.flatMap(({values}) => values).filter((v) => v > 0), left = 52, last = names.length - 1;
  const high = known.length ? Math.ceil(Math.log10(Math.max(...known))) : 0, low = Math.min(high - 1, known.length ? Math.floor(Math.log10(Math.min(...known))) : -1);
  const px = (i) => left + (last > 0 ? i / last : 0.5) * (wide - left - 8), py = (v) => v > 0 ? 10 + (high - Math.log10(v)) / (high - low) * (height - 36) : height;
  const step = Math.max(1, Math.ceil((high - low) / 8));
  for (let decade = low; decade <= high; decade += step) plot.append(s('line', {class: 'axis', x1: left, x2: wide, y1: py(10 ** decade), y2: py(10 ** decade), 'stroke-dasharray': '2 4'}), axisText(left - 8, py(10 ** decade) + 4, `1e${decade}`, 'end'));
  plot.append(s('line', {class: 'axis', x1: left, x2: wide, y1: height + 0.5, y2: height + 0.5}));
  if (series.some(({values}) => values.includes(0))) plot.append(axisText(left - 8, height + 4, '0', 'end'));
  for (const {values, colour, dash} of series) {
    plot.append(s('path', {class: 'curve', d: `M${values.map((v, i) => `${px(i)} ${py(v)}`).join('L')}`, fill: 'none', stroke: colour, 'stroke-width': 1.8, 'stroke-linejoin': 'round', 'stroke-dasharray': dash}));
    if (last < 120) values.forEach((v, i) => plot.append(s('circle', {cx: px(i), cy: py(v), r: 3, fill: colour}, s('title', {}, `${names[i]}: ${real(v)}`))));
  }
  plot.append(axisText(left, height + 22, names[0], 'start'));
  if (last > 0) plot.append(axisText(wide - 8, height + 22, names[last], 'end'));
}

export function legend(entries) { return h('div', {class: 'legend small'}, entries); }
export function swatch(colour, text) { return h('span', {class: 'chip'}, h('i', {style: {background: colour}}), text); }
// A band of colours between the texts of its ends.
export function ramp(low, background, high) { return h('span', {class: 'ramp'}, h('span', {}, low), h('i', {style: {background}}), h('span', {}, high)); }
