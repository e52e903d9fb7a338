// Numbers for people.
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(n) {
  let unit = 0;
  while (n >= 1024 && unit < UNITS.length - 1) { n /= 1024; ++unit; }
  return unit === 0 ? `${n} B` : `${n.toFixed(1)} ${UNITS[unit]}`;
}

export function count(n) { return n.toLocaleString('en-US'); }

export function many(n, thing) { return `${count(n)} ${thing}${n === 1 ? '' : 's'}`; }

export function rough(n) {
  if (n >= 1e12) return `${(n / 1e12).toFixed(2)} T`;
  if (n >= 1e9) return `${(n / 1e9).toFixed(2)} B`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  return count(n);
}

export function real(n, digits = 4) {
  if (n === null || n === undefined) return '–';
  if (typeof n === 'string') return {nan: 'NaN', inf: '∞', '-inf': '−∞'}[n] || n;
  if (n === 0) return '0';
  const size = Math.abs(n);
  return size >= 1e5 || size < 1e-3 ? n.toExponential(digits - 2).replace('e+', 'e') : Number(n.toPrecision(digits)).toString();
}

// An element of a tensor: integers whole.
export function element(n, digits) { return Number.isSafeInteger(n) ? String(n) : real(n, digits); }

// JSON in which elements that are integers beyond what a double holds stay as they are written, as text.
const ELEMENTS = new Set(['"min"', '"max"', '"value"', '"values"']);
export function parseAnswer(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let key = '';
  return JSON.parse(text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (part) => {
    if (part[0] === '"') { key = part; return part; }
    return ELEMENTS.has(key) && /^-?\d{16,}$/.test(part) && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part;
  }));
}

export function bitsText(n) { return n ? n.toFixed(n < 10 ? 2 : 1) : '–'; }
export function shapeText(shape) { return shape.length ? shape.join(' × ') : 'scalar'; }
// Neither none nor all is said of a share that is not.
export function percent(share) { return share > 0 && share < 0.0005 ? '<0.1 %' : share < 1 && share >= 0.9995 ? '>99.9 %' : `${(share * 100).toFixed(1)} %`; }

// Both ends of a name say something.
export function middle(text, most) {
  return text.length <= most ? text : `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}`;
}
