// The values of tensors in a report (src/view/held_values.hpp): all of a small tensor; a picture and the corners of others.
// Pictures and slices are made from these, and show where they end.
import {count} from './format.js';

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

const READ = {f32: 'getFloat32', f64: 'getFloat64', i64: 'getBigInt64', u64: 'getBigUint64'};
function numbersOf(text, type) {
  const view = new DataView(bytesOf(text).buffer), width = type === 'f32' ? 4 : 8;
  return Array.from({length: view.byteLength / width}, (_, i) => view[READ[type]](i * width, true));
}

// A number as in answers. The shortest text of an f32 is shorter than that of its double.
function spelled(value, type) {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (type !== 'f32') return value;
  for (let digits = 6; digits < 9; ++digits) if (Math.fround(Number(value.toPrecision(digits))) === value) return Number(value.toPrecision(digits));
  return Number(value.toPrecision(9));
}

// Cells of type f16, with as many digits as that holds; 0xFFFF is a cell for which nothing was read.
function cellsOf(grid) {
  const bits = new DataView(bytesOf(grid.cells).buffer), half = Math.trunc(grid.exponent / 2);
  return Array.from({length: bits.byteLength / 2}, (_, i) => {
    const cell = bits.getUint16(i * 2, true), exponent = cell >> 10 & 31, fraction = cell & 1023;
    if (cell === 0xFFFF) return null;
    const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
    // In two steps, because the power of two itself may underflow.
    const value = (cell & 0x8000 ? -size : size) * 2 ** half * 2 ** (grid.exponent - half), short = Number(value.toPrecision(exponent ? 3 : fraction > 63 ? 2 : 1));
    return spelled(Number.isFinite(short) ? short : value, 'f64');
  });
}

// The index at which cell `i` begins in a run of `size`, as on the server.
function edge(size, cells, i) { return Math.floor(size / cells) * i + Math.floor(size % cells * i / cells); }

// The cells that [low, high) touches; at least eight, if there are so many.
function touched(size, cells, low, high) {
  let first = Math.min(cells - 1, Math.floor(low / size * cells)), last = Math.min(cells, Math.max(first + 1, Math.ceil(high / size * cells)));
  while (first > 0 && edge(size, cells, first) > low) --first;
  while (first + 1 < last && edge(size, cells, first + 1) <= low) ++first;
  while (last < cells && edge(size, cells, last) < high) ++last;
  while (last - 1 > first && edge(size, cells, last - 1) >= high) --last;
  for (let after = true; last - first < Math.min(8, cells); after = !after) if (after && last < cells || first === 0) ++last; else --first;
  return [first, last];
}

// The cell of larger magnitude; NaN wins, so that it is visible.
function heavier(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a) >= Math.abs(b) ? a : b;
  if (a === null || b === null) return a === null ? b : a;
  return a === 'nan' || b === 'nan' ? 'nan' : typeof a === 'string' ? a : b;
}

function reduced({cells, width: wide}, [top, bottom], [left, right], height, width) {
  const out = new Array(height * width).fill(null);
  for (let y = 0; y < height; ++y) {
    const low = top + edge(bottom - top, height, y), high = top + edge(bottom - top, height, y + 1);
    for (let x = 0; x < width; ++x) {
      const from = left + edge(right - left, width, x), to = left + edge(right - left, width, x + 1);
      let found = null;
      for (let row = low; row < high; ++row) for (let column = from; column < to; ++column) found = heavier(cells[row * wide + column], found);
      out[y * width + x] = found;
    }
  }
  return out;
}

// The requested part of a picture, in whole cells.
export function pictureOf(level, {top, bottom, left, right, height, width}) {
  const {rows, columns} = level;
  if (!rows || !columns) return {rows, columns, top: 0, bottom: rows, left: 0, right: columns, height: 0, width: 0, by: 'max', exact: true, cells: [], read: 0};
  const across = touched(columns, level.width, left || 0, right ?? columns), down = touched(rows, level.height, top || 0, bottom ?? rows);
  const high = Math.min(height, down[1] - down[0]), wide = Math.min(width, across[1] - across[0]);
  return {rows, columns, top: edge(rows, level.height, down[0]), bottom: edge(rows, level.height, down[1]), left: edge(columns, level.width, across[0]), right: edge(columns, level.width, across[1]),
    height: high, width: wide, by: 'max', exact: level.exact, cells: reduced(level, down, across, high, wide), read: 0,
    limit: level.single ? undefined : `The report holds this tensor as ${count(level.height)} × ${count(level.width)} cells, and zooms as far as those go; \`tare view\` goes on to single values.`};
}

// Parses 0, :8, ::2, -1, ..., None, [0, 1] as NumPy and the server do. Returns the start, step and length of each axis.
export function parseSlice(text, shape) {
  const wrong = (why) => { throw new Error(`${why}; slices are written as in NumPy: 0, :8, ::2, -1, ...`); };
  const inner = /^\s*\[([^\]]*)\]\s*$/.exec(text), bare = inner ? inner[1] : text;
  const parts = bare.trim() === '' ? [] : bare.split(',').map((part) => part.trim().replace(/^(?:np\.)?newaxis$/, 'None').replace(/^Ellipsis$/, '...'));
  if (parts.length && parts[parts.length - 1] === '') parts.pop();
  const taken = parts.filter((part) => part !== '...' && part !== 'None').length, dots = parts.filter((part) => part === '...').length;
  if (dots > 1) wrong('"..." appears twice');
  if (taken > shape.length) wrong(`the slice has ${taken} entries, and the tensor has ${shape.length} dimensions`);
  const whole = dots ? parts : [...parts, '...'], axes = [];
  let axis = 0;
  for (const part of whole) {
    if (part === 'None') { axes.push({start: 0, step: 0, size: 1, axis: -1}); continue; }
    if (part === '...') { for (let rest = shape.length - taken; rest > 0; --rest, ++axis) axes.push({start: 0, step: 1, size: shape[axis], axis}); continue; }
    const size = shape[axis];
    if (/^[+-]?\d+$/.test(part)) {
      const index = Number(part) < 0 ? Number(part) + size : Number(part);
      if (index < 0 || index >= size) wrong(`there is no ${part} in a dimension of ${count(size)}`);
      axes.push({start: index, step: 0, size: 1, axis, dropped: true});
    } else {
      const match = /^([+-]?\d+)?\s*:\s*([+-]?\d+)?\s*(?::\s*([+-]?\d+)?)?$/.exec(part);
      if (!match) wrong(`"${part}" is not an index or a range`);
      const step = match[3] === undefined ? 1 : Number(match[3]);
      if (step === 0) wrong('a step of 0 goes nowhere');
      const clamp = (value, low, high) => Math.min(high, Math.max(low, Number(value) < 0 ? Number(value) + size : Number(value)));
      const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
      const start = match[1] === undefined ? (step > 0 ? low : high) : clamp(match[1], low, high), stop = match[2] === undefined ? (step > 0 ? high : low) : clamp(match[2], low, high);
      axes.push({start, step, size: Math.max(0, Math.ceil((stop - start) / step)), axis});
    }
    ++axis;
  }
  return axes;
}

const MOST_VALUES = 4096;

// The values of a slice, from `at(row, column)`, which returns nothing for values that are not in the report.
export function sliceOf(text, held, at) {
  const {shape, columns} = held, axes = parseSlice(text, shape), result = axes.filter((axis) => !axis.dropped).map((axis) => axis.size);
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1)), all = axes.reduce((product, axis) => product * axis.size, 1);
  const values = [], place = axes.map(() => 0);
  for (let i = 0; i < Math.min(all, MOST_VALUES); ++i) {
    const flat = axes.reduce((sum, axis, k) => axis.axis < 0 ? sum : sum + (axis.start + axis.step * place[k]) * strides[axis.axis], 0);
    const value = at(Math.floor(flat / columns), flat % columns);
    if (value === undefined) return null;
    values.push(value);
    for (let k = axes.length - 1; k >= 0 && ++place[k] === axes[k].size; --k) place[k] = 0;
  }
  return {slice: text, shape: result, elements: all, values, complete: all <= MOST_VALUES, read: 0};
}

// A tensor with all values, as a picture of single values and as a function of the position.
export function wholeOf(held) {
  const raw = numbersOf(held.values, held.type), values = raw.map((value) => spelled(value, held.type)), whole = held.type === 'i64' || held.type === 'u64';
  return {...held, height: held.rows, width: held.columns, cells: whole ? raw.map(Number) : values, exact: true, single: true, at: (row, column) => values[row * held.columns + column]};
}

// Cells are rounded, so even the cell of a single element differs from the element.
export function gridOf(held) { return {...held, cells: cellsOf(held), single: false}; }

export function cornersOf(held) {
  const blocks = held.blocks.map((block) => ({...block, values: numbersOf(block.values, held.type).map((value) => spelled(value, held.type))}));
  return {...held, at: (row, column) => {
    const found = blocks.find((block) => row >= block.top && row < block.top + block.height && column >= block.left && column < block.left + block.width);
    return found && found.values[(row - found.top) * found.width + column - found.left];
  }};
}

const minus = (b, a) => {
  const whole = (value) => Number.isSafeInteger(value) || /^-?\d+$/.test(value);
  if (a !== undefined && b !== undefined && whole(a) && whole(b)) return Number(BigInt(b) - BigInt(a));
  const number = (value) => typeof value === 'string' ? Number(value.replace('nan', 'NaN').replace('inf', 'Infinity')) : value;
  return a === undefined || b === undefined ? undefined : spelled(number(b) - number(a), 'f64');
};

// The second minus the first, as far as the report has both.
export function differenceOf(a, b) {
  const at = (row, column) => minus(b.at(row, column), a.at(row, column));
  if (a.rows !== b.rows || a.columns !== b.columns) return null;
  return a.single && b.single ? {...a, cells: a.cells.map((cell, i) => minus(b.cells[i], cell)), at} : {...a, single: false, at};
}

// Describes which values a slice can select.
export function heldWords(held) {
  if (held.single) return 'every value';
  const spans = (low, size) => [...new Set(held.blocks.map((block) => block[low]))].sort((x, y) => x - y).map((from) => { const to = from + held.blocks[0][size] - 1; return from === to ? count(from) : `${count(from)} to ${count(to)}`; }).join(' and ');
  if (!held.blocks.length) return 'no value';
  return `${held.rows === 1 ? '' : `rows ${spans('top', 'height')}, `}columns ${spans('left', 'width')}`;
}
