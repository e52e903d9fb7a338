// Sends requests to the server or, in a report, looks them up in the page.
import {h, put, say} from './dom.js';
import {parseAnswer} from './format.js';
import {pictureOf, sliceOf, wholeOf, gridOf, cornersOf, differenceOf, heldWords} from './held.js';

const answers = parseAnswer(document.getElementById('answers').textContent);
export const isReport = answers !== null;

export class Trouble extends Error {
  constructor(facts) { super(facts.sentence); this.facts = facts; }
}

function targetOf(name, values) {
  const query = Object.entries(values || {}).filter(([, value]) => value !== undefined && value !== '' && value !== null)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
  return query ? `${name}?${query}` : name;
}

const absent = () => new Trouble({rule: 'report', kind: 'limit', sentence: 'This report does not hold it; `tare view` shows it.'});

const listed = {}, totals = {};
function reportRows(of) {
  if (!listed[of]) {
    listed[of] = [];
    for (let from = 0; ; from += 500) {
      const page = answers[targetOf('tensors', {from: String(from), count: 500, of: of === 'b' ? 'b' : undefined})];
      if (!page) break;
      listed[of].push(...page.rows);
      totals[of] = page.all;
    }
  }
  return listed[of];
}

function letters(word, text) {
  let i = 0;
  for (const c of text) if (c === word[i]) ++i;
  return i === word.length;
}

// Does the same as the server with the names of a model.
function reportTree(rows, under) {
  const found = new Map();
  for (const row of rows) {
    if (!row.name.startsWith(under)) continue;
    const dot = row.name.indexOf('.', under.length), label = dot < 0 ? row.name.slice(under.length) : row.name.slice(under.length, dot + 1), leaf = dot < 0;
    const branch = found.get(label) || {label, under: under + label, tensor: leaf ? row.tensor : null, tensors: 0, elements: 0, bytes: 0, type: row.type};
    ++branch.tensors; branch.elements += row.elements; branch.bytes += row.bytes;
    if (branch.type !== row.type) branch.type = 'mixed';
    found.set(label, branch);
  }
  const branches = [...found.values()].sort((a, b) => a.label.localeCompare(b.label, 'en', {numeric: true}));
  return {found: branches.length, from: 0, branches};
}

function comparedRows(answer, {search, only, sort, way, from = 0, count = 1000}) {
  const key = (row) => sort === 'name' ? row.name : sort === 'type' ? row.type_b || row.type_a : sort === 'bits' ? row.bits_b || row.bits_a : row[sort];
  const other = (row) => row.only_in || row.shapes || row.problem, words = (search || '').toLowerCase().split(' ').filter(Boolean);
  const rows = answer.tensors.filter((row) => (!only || only === 'all' || (only === 'changed' ? row.changed > 0 : other(row))) && words.every((word) => letters(word, row.name.toLowerCase())));
  const byWord = sort === 'name' || sort === 'type', size = (row) => { const found = key(row) ?? -2; return found === 'inf' ? Infinity : found === 'nan' ? -3 : found; };
  const compare = (a, b) => byWord ? key(a).localeCompare(key(b), 'en', {numeric: true}) : size(a) === size(b) ? 0 : size(a) < size(b) ? -1 : 1;
  if (sort && sort !== 'file') rows.sort((a, b) => (way === 'down' ? -1 : 1) * compare(a, b));
  return {...answer, found: rows.length, from, tensors: rows.slice(from, from + count)};
}

// What the report holds for a request; decoded once.
const readHeld = new Map();
function heldAs(make, name, tensor, of, fine) {
  const target = targetOf(name, {tensor, of, fine}), found = answers[target];
  if (!found) return null;
  if (!readHeld.has(target)) readHeld.set(target, make(found));
  return readHeld.get(target);
}

// A, B and their difference are shown together, so all have the resolution of the coarsest.
const SIDES = ['left', 'right', 'error'];
function levelOf(tensor, of) {
  const paired = SIDES.includes(of), sides = paired ? SIDES : [of], stored = paired ? SIDES.slice(0, 2) : [of];
  const whole = stored.map((side) => heldAs(wholeOf, 'whole', tensor, side));
  if (whole.every(Boolean)) return of === 'error' ? differenceOf(...whole) : whole[paired ? SIDES.indexOf(of) : 0];
  for (const fine of [2, 1, undefined]) {
    const grids = sides.map((side) => heldAs(gridOf, 'grid', tensor, side, fine));
    if (grids.every(Boolean) || !fine) return grids[sides.indexOf(of)];
  }
  return null;
}

// The values that a slice can select.
export function heldValues(tensor, of) {
  const values = (side) => heldAs(wholeOf, 'whole', tensor, side) || heldAs(cornersOf, 'corners', tensor, side);
  if (of !== 'error') return values(of);
  const a = values('left'), b = values('right');
  return a && b ? differenceOf(a, b) : null;
}

function heldSlice({tensor, of, slice}) {
  const held = heldValues(tensor, of), wrong = (sentence) => new Trouble({rule: 'report', kind: 'limit', sentence});
  if (!held || held.shape.reduce((a, b) => a * b, 1) !== held.rows * held.columns) throw absent();
  let found;
  try { found = sliceOf(slice || '...', held, held.at); } catch (error) { throw wrong(`${error.message[0].toUpperCase()}${error.message.slice(1)}`); }
  if (!found) throw wrong(`The report holds ${heldWords(held)} of this tensor, and the slice asks for others; \`tare view\` reads any.`);
  return found;
}

function fromReport(name, values) {
  const side = values && values.of === 'b' ? 'b' : undefined, of = {of: side};
  const pick = (target) => { const found = answers[target]; if (!found) throw absent(); return found; };
  if (name === 'tensors') {
    const words = (values.search || '').toLowerCase().split(' ').filter(Boolean);
    let rows = reportRows(side || 'a').filter((row) => (!values.type || row.type === values.type) &&
      words.every((word) => letters(word, row.name.toLowerCase())));
    const whole = words.join(' ');
    if (whole && !values.sort) rows = [...rows].sort((a, b) => b.name.includes(whole) - a.name.includes(whole));
    if (values.sort && values.sort !== 'file') {
      const key = values.sort, way = values.way === 'down' ? -1 : 1;
      rows = [...rows].sort((a, b) => way * (typeof a[key] === 'string' ? a[key].localeCompare(b[key], 'en', {numeric: true}) : (a[key] ?? -1) - (b[key] ?? -1)));
    }
    const from = Number(values.from || 0), place = values.with === undefined ? undefined : rows.findIndex((row) => row.tensor === values.with);
    return {place: place === -1 ? null : place, all: totals[side || 'a'] || 0, found: rows.length, from, rows: rows.slice(from, from + Number(values.count || 100))};
  }
  if (name === 'tokens') {
    const page = pick(targetOf('tokens', {what: values.what, count: 500, ...of})), wanted = (values.search || '').toLowerCase();
    const rows = page.rows.filter((row) => (wanted.startsWith('#') ? String(row.id) === wanted.slice(1) : row.text.toLowerCase().includes(wanted)) && (!values.type || row.type === values.type));
    const from = Number(values.from || 0);
    return {...page, found: rows.length, from, rows: rows.slice(from, from + Number(values.count || 100))};
  }
  if (name === 'tree') return reportTree(reportRows(side || 'a'), values.under || '');
  if (name === 'treemap') { if (values.under) throw absent(); return pick(targetOf('treemap', {width: 960, height: 480, ...of})); }
  if (name === 'map') {
    const whole = pick(targetOf('map', {file: String(values.file || 0), ...of})), from = Math.min(values.from || 0, whole.bytes), to = Math.max(from, Math.min(values.to ?? whole.bytes, whole.bytes));
    return {...whole, from, to, spans: whole.spans.filter((span) => span.offset < to && span.offset + span.bytes > from)};
  }
  const sided = {of: values && values.of !== 'a' ? values.of : undefined};
  if (name === 'heat') { const level = levelOf(values.tensor, sided.of); if (!level) throw absent(); return pictureOf(level, values); }
  if (name === 'values') return heldSlice({...values, ...sided});
  if (name === 'numbers' || name === 'tensor' || name === 'block') return pick(targetOf(name, {tensor: values.tensor, ...sided}));
  if (name === 'metadata') { if (Number(values.from)) throw absent(); return pick(targetOf('metadata', {what: values.what === 'config' ? 'config' : undefined, at: values.at, ...of})); }
  if (name === 'attachment') return pick(targetOf(name, {attachment: String(values.attachment), ...of}));
  if (name === 'bytes') return pick(targetOf(name, {file: String(values.file), from: String(values.from), count: String(values.count), ...of}));
  if (name === 'attachments' || name === 'template' || name === 'layers' || name === 'check') return pick(targetOf(name, of));
  if (name === 'overview') return pick(name);
  if (name === 'compare') return comparedRows(pick(name), values);
  throw absent();
}

const trouble = document.getElementById('trouble');

// Errors about the model's files as a whole: the page stays, and offers to reopen them.
function showTrouble(facts) {
  if (!trouble.hidden && trouble.dataset.rule === facts.rule) return;
  trouble.hidden = false;
  trouble.dataset.rule = facts.rule || '';
  const gone = facts.rule === 'view.gone';
  const again = h('button', {class: 'plain', type: 'button', onclick: async () => {
    try {
      // A server that is back has its models open.
      await (gone ? request('overview', {}, 'GET') : ask('reopen', {}, 'POST'));
      trouble.hidden = true;
      dispatchEvent(new Event('reopened'));
    } catch (error) { trouble.hidden = true; showTrouble(error.facts || {sentence: error.message}); }
  }}, gone ? 'Try again' : 'Open again');
  put(trouble, h('strong', {}, facts.file ? `${facts.file}: ` : ''), h('span', {}, facts.sentence.split('`').map((part, i) => i % 2 ? h('code', {}, part) : part)), again);
  say(facts.sentence.replaceAll('`', ''));
}

// Requests that read the model's data may take long, and a browser opens only six connections to a server. Some are
// reserved for requests that are answered at once.
const DEAR = new Set(['heat', 'numbers', 'values', 'block', 'bytes', 'template', 'attachment']), MOST_DEAR = 3;
const queue = [];
let dear = 0;

const abandoned = () => new Trouble({kind: 'left', rule: 'view.left', sentence: 'Nobody waits for it any more.', file: ''});

function takeTurn(signal) {
  if (dear < MOST_DEAR) { ++dear; return undefined; }
  return new Promise((resolve, reject) => {
    queue.push(resolve);
    if (signal) signal.addEventListener('abort', () => { const at = queue.indexOf(resolve); if (at >= 0) { queue.splice(at, 1); reject(abandoned()); } }, {once: true});
  });
}

function endTurn() { const next = queue.shift(); if (next) next(); else --dear; }

// `signal`: from an AbortController. If it is aborted, the server stops reading for the request.
export async function ask(name, values = {}, method = 'GET', signal = undefined) {
  if (isReport) return fromReport(name, values);
  if (signal && signal.aborted) throw abandoned();
  if (!DEAR.has(name)) return request(name, values, method, signal);
  await takeTurn(signal);
  try { return await request(name, values, method, signal); } finally { endTurn(); }
}

async function request(name, values, method, signal) {
  let response;
  try {
    response = await fetch(`api/${targetOf(name, values)}`, {method, signal, headers: {Accept: 'application/json'}});
  } catch (error) {
    if (error.name === 'AbortError') throw abandoned();
    const facts = {kind: 'io', rule: 'view.gone', sentence: 'Lost connection. Run `tare view` again and open the new link.', file: ''};
    showTrouble(facts);
    throw new Trouble(facts);
  }
  let answer;
  try { answer = parseAnswer(await response.text()); } catch (error) {
    if (error.name === 'AbortError') throw abandoned();
    throw new Trouble({kind: 'io', rule: 'view.answer', sentence: `The server's answer (status ${response.status}) was cut off.`, file: ''});
  }
  if (answer.error) {
    if (answer.error.kind === 'io' || answer.error.kind === 'not_found' && name === 'reopen') showTrouble(answer.error);
    throw new Trouble(answer.error);
  }
  return answer;
}

// Starts work and waits for its result; null if the wait was aborted.
export async function work(start, name, values, progress, alive = () => true) {
  let answer = await ask(start, values, 'POST');
  while (!answer.done && alive()) {
    progress(answer.expected ? Math.min(1, answer.progress / answer.expected) : 0, answer.waiting);
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (!alive()) return null;
    answer = await request(name, {...values, all: name === 'numbers' ? 1 : undefined}, 'GET');
  }
  return answer.done ? answer : null;
}

// Shows an error in an element in place of the answer.
export function sorry(error) {
  if (error.facts && error.facts.kind === 'left') return h('span', {});
  // The line above the views gives the reason once.
  if (!trouble.hidden && error.facts && error.facts.kind === 'io') return h('p', {class: 'quiet small', role: 'note'}, 'Not loaded.');
  return h('p', {class: 'quiet small', role: 'note'}, error.message);
}
