// Colours of types (Paul Tol's palette, safe for all colour vision; src/view/palette.cpp has the same), bits and values.
import {h} from './dom.js';

// The first entry whose word is in the type's name decides.
const HUES = [['f64', '#332288'], ['bf16', '#44aa99'], ['f16', '#88ccee'], ['f32', '#4477aa'], ['i64', '#776655'], ['u64', '#5c4a3c'],
  ['i32', '#998877'], ['u32', '#7f6a70'], ['i16', '#c4b08a'], ['u16', '#d9b3bd'], ['complex', '#661133'], ['i8', '#5f6b00'],
  ['u8', '#a3b899'], ['bool', '#8f959f'], ['f8_e5', '#c5c76a'], ['f8', '#888833'], ['fp8', '#888833'], ['int8', '#777711'],
  ['q8_1', '#c5c76a'], ['q8_k', '#5f5f18'], ['q8', '#999933'], ['f6', '#d6cc5c'], ['k6', '#d6cc5c'], ['q6', '#d6cc5c'],
  ['q5_0', '#e0a830'], ['q5_1', '#f8dfa8'], ['q5', '#b07d1a'], ['iq4_nl', '#b5532f'], ['iq4', '#8f3a1e'], ['q4_0', '#f4a489'],
  ['q4_1', '#fbd2c3'], ['q4', '#e57a50'], ['k4', '#f4a489'], ['int4', '#b5532f'], ['iq3_xxs', '#f0b6bf'], ['iq3', '#e08a98'],
  ['q3', '#cc6677'], ['k3', '#cc6677'], ['iq2_xxs', '#dcb0da'], ['iq2_xs', '#cc8cc9'], ['iq2', '#bb66b5'], ['q2', '#aa4499'],
  ['k2', '#aa4499'], ['iq1_m', '#b26a8e'], ['tq1', '#5a1238'], ['q1', '#882255'], ['nvfp4', '#b5532f'], ['f4', '#e57a50'],
  ['group', '#bbbbbb'], ['mx/', '#bbbbbb'], ['8', '#999933'], ['6', '#d6cc5c'], ['5', '#b07d1a'], ['4', '#e57a50'], ['3', '#cc6677'],
  ['2', '#aa4499'], ['1', '#882255']];

export function typeColour(type) {
  if (type === 'mixed') return '#b3b8c2';
  const found = HUES.find(([part]) => type.includes(part));
  return found ? found[1] : '#bbbbbb';
}

// Bits per weight from 1 to 32 by lightness: viridis, which is perceptually uniform.
const STEPS = [[253, 231, 37], [122, 209, 81], [34, 168, 132], [42, 120, 142], [65, 68, 135], [68, 1, 84]];
export function bitsColour(bits) {
  const place = Math.min(1, Math.max(0, Math.log2(Math.max(1, bits)) / 5)) * (STEPS.length - 1);
  const i = Math.min(STEPS.length - 2, Math.floor(place)), part = place - i;
  return `rgb(${STEPS[i].map((c, k) => Math.round(c + (STEPS[i + 1][k] - c) * part)).join(' ')})`;
}

export function isDark() { return document.documentElement.dataset.theme === 'dark'; }

function luminance([r, g, b]) {
  const part = (c) => c <= 10.31475 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}
function partsOf(colour) { return colour[0] === '#' ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) : colour.match(/[\d.]+/g).slice(0, 3).map(Number); }
// Black or white, whichever is easier to read on the colour: "#rrggbb", "rgb(r g b)" or three numbers.
export function inkOn(colour) {
  const light = luminance(Array.isArray(colour) ? colour : partsOf(colour));
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? '#000000' : '#ffffff';
}

const mix = (a, b, part) => a.map((c, i) => Math.round(c + (b[i] - c) * part));
const along = (steps, share) => { const place = Math.min(1, Math.max(0, share)) * (steps.length - 1), i = Math.min(steps.length - 2, Math.floor(place)); return mix(steps[i], steps[i + 1], place - i); };

// How magnitudes become depths of colour: most values are small, and the square root spreads them over more colours.
export const CURVES = {root: Math.sqrt, linear: (share) => share, log: (share) => Math.log1p(share * 1000) / Math.log1p(1000)};
const OUTSIDE = {light: [[3, 22, 60], [60, 0, 14]], dark: [[219, 234, 254], [254, 226, 226]]};
// From blue (-1) through the background to red (1); what is beyond these has a colour of its own.
export function valueColour(share, curve = 'root') {
  const dark = isDark();
  if (share === null || Number.isNaN(share)) return dark ? [52, 56, 64] : [222, 224, 228];
  if (Math.abs(share) > 1 + 1e-9) return OUTSIDE[dark ? 'dark' : 'light'][share < 0 ? 0 : 1];
  const end = share < 0 ? (dark ? [96, 165, 250] : [33, 102, 172]) : (dark ? [248, 113, 113] : [178, 24, 43]);
  return mix(dark ? [26, 29, 35] : [250, 250, 248], end, CURVES[curve](Math.min(1, Math.abs(share))));
}
// From the least value (0) to the largest (1), by lightness: viridis.
export function rangeColour(share) {
  if (share === null || Number.isNaN(share)) return valueColour(null);
  if (share < -1e-9 || share > 1 + 1e-9) return valueColour(share < 0 ? -2 : 2);
  return along([...STEPS].reverse(), share);
}
// NaN and infinite values: a colour that no number has.
export const AMBER = [255, 170, 0];

// Errors, from the least (0) to the worst (1).
const WORSE = [[255, 247, 188], [254, 217, 118], [253, 154, 66], [227, 74, 51], [150, 0, 38]];
export function errorColour(share) { return `rgb(${along(WORSE, share).join(' ')})`; }
// Bytes saved, from none (0) to all (1); more bytes than before are orange.
const SAVED = [[237, 242, 247], [160, 210, 200], [58, 158, 143], [12, 84, 84]];
export function savedColour(share) { return share < 0 ? 'rgb(238 136 102)' : `rgb(${along(SAVED, share).join(' ')})`; }
export function gradient(colours) { return `linear-gradient(90deg, ${colours.map((colour) => Array.isArray(colour) ? `rgb(${colour.join(' ')})` : colour).join(', ')})`; }

export function chip(type) { return h('span', {class: 'chip'}, h('i', {style: {background: typeColour(type)}}), type); }
