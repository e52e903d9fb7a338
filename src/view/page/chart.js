// Small charts as SVG.
import {h, s} from './dom.js';
import {real} from './format.js';

const W = 720;

function axisText(x, y, text, anchor = 'middle') { return s('text', {x, y, 'text-anchor': anchor}, text); }

// Bars from `low` to `high`; `marks`: labels below.
export function bars(values, {low, high, log, height = 190, label, names, colours}) {
  const scale = (n) => log ? Math.log10(n + 1) : n;
  const most = Math.max(1e-9, ...values.flat().map(scale)), width = W / values.length;
  const plot = s('svg', {class: 'plot', viewBox: `0 0 ${W} ${height + 22}`, role: 'img', 'aria-label': label});
  plot.append(s('line', {class: 'axis', x1: 0, x2: W, y1: height + 0.5, y2: height + 0.5}));
  values.forEach((entry, i) => {
    let base = height;
    const parts = [entry].flat(), all = parts.reduce((a, b) => a + b, 0);
    parts.forEach((value, k) => {
      const tall = all > 0 ? scale(all) / most * (height - 6) * value / all : 0;
      base -= tall;
      if (tall > 0) plot.append(s('rect', {x: i * width + 0.5, y: base, width: Math.max(0.7, width - 1), height: Math.max(tall, 0.8), fill: colours ? colours[k] : 'var(--bar)'},
        s('title', {}, names ? names(i, value, k) : String(value))));
    });
  });
  if (low !== undefined) plot.append(axisText(0, height + 17, real(low), 'start'), axisText(W, height + 17, real(high), 'end'));
  if (low < 0 && high > 0) {
    const x = W * (-low / 2) / (high / 2 - low / 2);
    if (x > 60 && x < W - 60) plot.append(s('line', {class: 'axis', x1: x, x2: x, y1: 0, y2: height}), axisText(x, height + 17, '0'));
  }
  return plot;
}

export function line(values, {height = 110, label, wide = 420}) {
  const known = values.filter((v) => v !== null), most = Math.max(0, ...known) || 1;
  const point = ([v, i]) => `${(values.length > 1 ? i / (values.length - 1) : 0.5) * wide} ${height - v / most * (height - 6)}`;
  const drawn = values.map((v, i) => [v, i]).filter(([v]) => v !== null);  // in a sample, some are unknown
  const plot = s('svg', {class: 'plot', viewBox: `0 0 ${wide} ${height + 18}`, role: 'img', 'aria-label': label});
  plot.append(s('line', {class: 'axis', x1: 0, x2: wide, y1: height + 0.5, y2: height + 0.5}));
  if (values.length === 1) plot.append(s('circle', {cx: wide / 2, cy: 8, r: 3, fill: 'var(--bar)'}));
  else if (drawn.length > 0) plot.append(s('path', {d: `M${drawn.map(point).join('L')}`, fill: 'none', stroke: 'var(--bar)', 'stroke-width': 1.6, 'stroke-linejoin': 'round'}));
  plot.append(axisText(0, height + 14, '0', 'start'), axisText(wide, 10, `largest ${real(Math.max(0, ...known))}`, 'end'));
  return plot;
}

// Dots at (x, y), y on a logarithmic scale; infinite values are on a line above all others.
export function dots(points, {height = 300, wide = 1100, label, xLabel, yLabel, open}) {
  const left = 52, bottom = 38, drawn = points.filter((p) => p.y > 0), known = drawn.filter((p) => p.y < Infinity);
  const right = Math.max(1, ...points.map((p) => p.x)) * 1.04;
  const low = known.length ? Math.floor(Math.log10(Math.min(...known.map((p) => p.y)))) : -3;
  const high = Math.max(low + 1, known.length ? Math.ceil(Math.log10(Math.max(...known.map((p) => p.y)))) : 0);
  const top = high + (drawn.length > known.length ? 1 : 0);
  const px = (x) => left + x / right * (wide - left - 12), py = (y) => 26 + (top - Math.min(top, Math.log10(y))) / (top - low) * (height - 26);
  const plot = s('svg', {class: 'plot', viewBox: `0 0 ${wide} ${height + bottom}`, role: 'img', 'aria-label': label});
  for (let decade = low; decade <= top; ++decade) plot.append(s('line', {class: 'axis', x1: left, x2: wide, y1: py(10 ** decade), y2: py(10 ** decade)}),
    axisText(left - 8, py(10 ** decade) + 4, decade > high ? '∞' : `1e${decade}`, 'end'));
  const step = right > 20 ? 8 : right > 10 ? 4 : right > 5 ? 2 : 1;
  for (let x = 0; x <= right; x += step) plot.append(axisText(px(x), height + 16, String(x)));
  plot.append(axisText(left + (wide - left) / 2, height + 31, xLabel), s('text', {x: 0, y: 11}, yLabel));
  for (const p of drawn) plot.append(s('circle', {class: 'dot', cx: px(p.x), cy: py(p.y), r: 4.5, fill: p.colour, 'fill-opacity': 0.78, style: {cursor: 'pointer'}, onclick: () => open(p)},
    s('title', {}, p.title)));
  return plot;
}

export function legend(entries) {
  return h('div', {class: 'small', style: {display: 'flex', flexWrap: 'wrap', gap: '4px 16px', marginTop: '10px'}}, entries);
}
