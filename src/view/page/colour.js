// Colours of types (Paul Tol's palette, safe for all colour vision; src/view/palette.cpp has the same), bits and values.
import {h} from './dom.js';

const HUES = [['f64', '#332288'], ['bf16', '#44aa99'], ['f16', '#88ccee'], ['f32', '#4477aa'], ['f8', '#999933'], ['fp8', '#999933'],
  ['q8', '#999933'], ['int8', '#999933'], ['i8', '#999933'], ['u8', '#bbbbbb'], ['k6', '#ddcc77'], ['q6', '#ddcc77'], ['q5', '#e0b050'],
  ['k4', '#ee8866'], ['q4', '#ee8866'], ['iq4', '#ee8866'], ['int4', '#ee8866'], ['4', '#ee8866'], ['k3', '#cc6677'], ['q3', '#cc6677'],
  ['3', '#cc6677'], ['k2', '#aa4499'], ['q2', '#aa4499'], ['2', '#aa4499'], ['q1', '#882255'], ['1', '#882255']];

export function typeColour(type) {
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

// From blue (-1) through the background to red (1). Most values are small; the square root spreads them over more colours.
export function valueColour(share) {
  if (share === null || Number.isNaN(share)) return isDark() ? [52, 56, 64] : [222, 224, 228];
  const depth = Math.sqrt(Math.min(1, Math.abs(share))), ground = isDark() ? [26, 29, 35] : [250, 250, 248];
  const end = share < 0 ? (isDark() ? [96, 165, 250] : [33, 102, 172]) : (isDark() ? [248, 113, 113] : [178, 24, 43]);
  return ground.map((c, i) => Math.round(c + (end[i] - c) * depth));
}

export function chip(type) { return h('span', {class: 'chip'}, h('i', {style: {background: typeColour(type)}}), type); }
