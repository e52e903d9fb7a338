// Asks the server, or, in a report, the answers that are in the page.
import {h, put, say} from './dom.js';

const answers = JSON.parse(document.getElementById('answers').textContent);
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

const listed = {};
function reportRows(of) {
  if (!listed[of]) {
    listed[of] = [];
    for (let from = 0; ; from += 500) {
      const page = answers[targetOf('tensors', {from: String(from), count: 500, of: of === 'b' ? 'b' : undefined})];
      if (!page) break;
      listed[of].push(...page.rows);
      listed.all = page.all;
    }
  }
  return listed[of];
}

function letters(word, text) {
  let i = 0;
  for (const c of text) if (c === word[i]) ++i;
  return i === word.length;
}

// The same as the server does with the names of a model.
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
  if (sort && sort !== 'file') rows.sort((a, b) => (way === 'down' ? -1 : 1) * (typeof key(a) === 'string' ? key(a).localeCompare(key(b), 'en', {numeric: true}) : (key(a) ?? -2) - (key(b) ?? -2)));
  return {...answer, found: rows.length, from, tensors: rows.slice(from, from + count)};
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
    const from = Number(values.from || 0);
    return {all: listed.all || 0, found: rows.length, from, rows: rows.slice(from, from + Number(values.count || 100))};
  }
  if (name === 'tokens') {
    const page = pick(targetOf('tokens', {what: values.what, count: 500, ...of})), wanted = values.search || '';
    const rows = page.rows.filter((row) => (wanted.startsWith('#') ? String(row.id) === wanted.slice(1) : row.text.includes(wanted)) && (!values.type || row.type === values.type));
    const from = Number(values.from || 0);
    return {...page, found: rows.length, from, rows: rows.slice(from, from + Number(values.count || 100))};
  }
  if (name === 'tree') return reportTree(reportRows(side || 'a'), values.under || '');
  if (name === 'treemap') { if (values.under) throw absent(); return pick(targetOf('treemap', {width: 960, height: 480, ...of})); }
  if (name === 'map') return pick(targetOf('map', {file: String(values.file || 0), ...of}));
  const sided = {of: values && values.of !== 'a' ? values.of : undefined};
  if (name === 'heat') return pick(targetOf('heat', {tensor: values.tensor, by: 'max', height: 32, width: 48, digits: 3, ...sided}));
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

// What is wrong with the model's files as a whole: the page stays, and offers to open them again.
function showTrouble(facts) {
  if (!trouble.hidden) return;
  trouble.hidden = false;
  const again = h('button', {class: 'plain', type: 'button', onclick: async () => {
    try {
      await ask('reopen', {}, 'POST');
      trouble.hidden = true;
      dispatchEvent(new Event('reopened'));
    } catch (error) { trouble.hidden = true; showTrouble(error.facts || {sentence: error.message}); }
  }}, 'Open again');
  put(trouble, h('strong', {}, facts.file ? `${facts.file}: ` : ''), h('span', {}, facts.sentence), again);
  say(facts.sentence);
}

export async function ask(name, values = {}, method = 'GET') {
  if (isReport) return fromReport(name, values);
  let response;
  try {
    response = await fetch(`api/${targetOf(name, values)}`, {method, headers: {Accept: 'application/json'}});
  } catch {
    const facts = {kind: 'io', rule: 'view.gone', sentence: 'The server does not answer: it has ended, or never was there.', file: ''};
    showTrouble(facts);
    throw new Trouble(facts);
  }
  const answer = await response.json();
  if (answer.error) {
    if (answer.error.kind === 'io' || answer.error.kind === 'not_found' && name === 'reopen') showTrouble(answer.error);
    throw new Trouble(answer.error);
  }
  return answer;
}

// Starts work and waits for what comes of it.
export async function work(start, name, values, progress, alive = () => true) {
  let answer = await ask(start, values, 'POST');
  while (!answer.done && alive()) {
    progress(answer.expected ? Math.min(1, answer.progress / answer.expected) : 0);
    await new Promise((resolve) => setTimeout(resolve, 150));
    answer = await ask(name, {...values, all: name === 'numbers' ? 1 : undefined});
  }
  return answer;
}

// What an element shows in place of an answer that did not come.
export function sorry(error) { return h('p', {class: 'quiet small', role: 'note'}, error.message); }
