// Formats numbers with the digits that the command and Python show (src/base/text.hpp). JavaScript rounds ties up, they
// round to even; tests/base/numbers.json has the expected results of all three.
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const MOST_DIGITS = 100;

// n with this many digits after the point, at least one, as text.
export function fixed(n, places) {
  const exact = Math.abs(n).toFixed(MOST_DIGITS), cut = exact.length - MOST_DIGITS + places;
  if (!/^50*$/.test(exact.slice(cut)) || Number(exact[cut - 1]) % 2 === 1) return n.toFixed(places);
  return `${n < 0 ? '-' : ''}${exact.slice(0, cut)}`;
}

// n with this many significant digits, as a number.
function significant(n, digits) {
  const [exact, exponent] = Math.abs(n).toExponential(MOST_DIGITS).split('e');
  const kept = exact.slice(0, digits + 1), rest = exact.slice(digits + 1);  // and the point
  if (digits < 2 || !/^50*$/.test(rest) || Number(kept[digits]) % 2 === 1) return Number(n.toPrecision(digits));
  return Number(`${n < 0 ? '-' : ''}${kept}e${exponent}`);
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  let unit = 0;
  for (n /= 1024; n >= 1023.95 && unit < UNITS.length - 1; ++unit) n /= 1024;
  return `${fixed(n, 1)} ${UNITS[unit]}`;
}

export function count(n) { return n.toLocaleString('en-US'); }

export function many(n, thing) { return `${count(n)} ${thing}${n === 1 ? '' : 's'}`; }

export function rough(n) {
  if (n >= 1e12) return `${fixed(n / 1e12, 2)} T`;
  if (n >= 1e9) return `${fixed(n / 1e9, 2)} B`;
  if (n >= 1e6) return `${fixed(n / 1e6, 1)} M`;
  return count(n);
}

export function real(n, digits = 4) {
  if (n === null || n === undefined) return '–';
  if (typeof n === 'string') return {nan: 'NaN', inf: '∞', '-inf': '−∞'}[n] || n;
  if (n === 0) return '0';
  const size = Math.abs(n);
  const short = significant(n, digits);
  if (short === n && Number.isInteger(n) && size < 1e7) return String(n);
  return size >= 1e5 || size < 1e-3 ? short.toExponential().replace('e+', 'e') : short.toString();
}

// An element of a tensor; integers with all digits.
export function element(n, digits) { return Number.isSafeInteger(n) ? String(n) : real(n, digits); }

// Parses JSON; integers that do not fit a double stay text.
const ELEMENTS = new Set(['"min"', '"max"', '"value"', '"values"']);
export function parseAnswer(text) {
  if (!/[^.\d]\d{16}/.test(text)) return JSON.parse(text);
  let key = '';
  return JSON.parse(text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (part) => {
    if (part[0] === '"') { key = part; return part; }
    return ELEMENTS.has(key) && /^-?\d{16,}$/.test(part) && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part;
  }));
}

export function bitsText(n) { return n ? fixed(n, n < 10 ? 2 : 1) : '–'; }
export function shapeText(shape) { return shape.length ? shape.join(' × ') : 'scalar'; }
// Shows 0 % and 100 % only if they are exact.
export function percent(share) { return share > 0 && share < 0.0005 ? '<0.1 %' : share < 1 && share >= 0.9995 ? '>99.9 %' : `${fixed(share * 100, 1)} %`; }

// Shortens a name in the middle, because both ends matter.
// `most`: columns; letters that are two columns wide count as two, and none is cut in half.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
export function middle(text, most) {
  if (text.length * 2 <= most) return text;
  const letters = Array.from(text), wide = (letter) => WIDE.test(letter) ? 2 : 1, all = letters.reduce((sum, letter) => sum + wide(letter), 0);
  if (all <= most) return text;
  const take = (from, room) => { const kept = []; for (const letter of from) { room -= wide(letter); if (room < 0) break; kept.push(letter); } return kept; };
  return `${take(letters, Math.ceil(most / 2) - 1).join('')}…${take(letters.reverse(), Math.floor(most / 2)).reverse().join('')}`;
}
