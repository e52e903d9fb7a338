// Tokens, merges, the chat template.
import {h, put, say, sheet, choice, emptyState, picker, copier, later, facts} from './dom.js';
import {count, many, real} from './format.js';
import {ask, sorry} from './api.js';
import {Rows} from './virtual.js';
import {keepPlace} from './place.js';

const sought = {search: '', type: '', what: 'tokens'};
const TYPES = ['normal', 'unknown', 'control', 'user_defined', 'unused', 'byte', 'bos', 'eos', 'pad'];

// Makes white space visible, because a token is its bytes.
function shownToken(text) { return h('b', {}, text.replace(/\n/g, '⏎').replace(/\t/g, '⇥').replace(/ /g, '·')); }

export function vocabularyView(state, place) {
  const side = place.of === 'b' ? 'b' : undefined, words = state.models[side ? 1 : 0].vocabulary;
  const found = h('span', {class: 'small quiet'}), body = h('div', {}), form = h('div', {});
  ask('template', {of: side}).then((answer) => put(form, answer.text === null ? h('p', {class: 'quiet'}, 'The model has no chat template.') :
    [h('p', {class: 'small quiet'}, `${many(answer.bytes, 'byte')} from ${answer.from}`, copier(answer.text)), h('pre', {}, answer.text)]), (error) => put(form, sorry(error)));
  const template = sheet('Chat template', [], form);
  if (!words) return [h('section', {class: 'sheet'}, emptyState('The model has no vocabulary.', 'Its tokenizer may be in another file; a Hugging Face directory has it in tokenizer.json.')), template];
  for (const key of Object.keys(sought)) if (place[key] !== undefined) sought[key] = place[key];
  if (sought.what !== 'merges') sought.what = 'tokens';
  const query = () => ({...sought, what: sought.what === 'tokens' ? undefined : 'merges', type: sought.what === 'tokens' ? sought.type : undefined, of: side});
  const rows = new Rows({label: 'Tokens', height: 30, flat: true, load: (from, number) => ask('tokens', {...query(), from, count: number}),
    draw: (row) => [h('span', {class: 'quiet'}, count(row.id)), h('span', {class: 'text'}, shownToken(row.text)), h('span', {class: 'sub'}, row.type === 'normal' ? '' : row.type), h('span', {class: 'sub right'}, row.score || row.score === 'nan' ? real(row.score) : '')]});
  let turn = 0;
  async function load() {
    const here = ++turn;
    if (body.isConnected) keepPlace({search: sought.search, type: sought.type, what: sought.what === 'tokens' ? undefined : sought.what});
    try {
      const first = await ask('tokens', {...query(), from: 0, count: 100});
      if (here !== turn) return;
      found.textContent = first.found === first.all ? many(first.all, sought.what.slice(0, -1)) : `${count(first.found)} of ${many(first.all, sought.what.slice(0, -1))}`;
      say(found.textContent);
      if (!first.found) { put(body, emptyState(`No ${sought.what.slice(0, -1)} matches.`)); return; }
      if (!rows.element.isConnected) put(body, rows.element);
      await rows.begin(first);
    } catch (error) { if (here === turn) put(body, sorry(error)); }
  }
  const search = h('input', {type: 'search', placeholder: 'Text, or #id', 'aria-label': 'Search tokens', maxlength: 200, value: sought.search, spellcheck: 'false', oninput: later(() => { sought.search = search.value; load(); })});
  queueMicrotask(load);
  return [
    h('section', {class: 'sheet'}, h('div', {class: 'head'}, h('h1', {}, 'Vocabulary')), facts([['Tokens', count(words.tokens)], ['Kind', words.kind || 'unknown'], ['Merges', count(words.merges)],
      ...['bos', 'eos', 'pad', 'unk'].filter((key) => words[key] >= 0).map((key) => [{bos: 'Begin', eos: 'End', pad: 'Padding', unk: 'Unknown'}[key], `#${words[key]}`])])),
    h('section', {class: 'sheet', 'aria-label': 'Tokens'}, h('div', {class: 'tools'}, search, picker('Type', [['', 'all types'], ...TYPES.map((type) => [type, type])], sought.type, (value) => { sought.type = value; load(); }),
      words.merges > 0 && choice('What', [['tokens', 'tokens'], ['merges', 'merges']], sought.what, (value) => { sought.what = value; load(); })), found, body),
    template,
  ];
}
