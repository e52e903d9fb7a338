// Selects the view and the theme, handles keys, and reopens the model.
import {h, put, sideMark, visible} from './dom.js';
import {ask, isReport, sorry} from './api.js';
import {overviewView} from './overview.js';
import {tensorsView} from './tensors.js';
import {compareView} from './compare.js';
import {vocabularyView} from './vocabulary.js';
import {factsView} from './facts.js';
import {checkView} from './check.js';
import {readPlace} from './place.js';

const VIEWS = [['overview', 'Overview', overviewView], ['tensors', 'Tensors', tensorsView], ['compare', 'Compare', compareView], ['vocabulary', 'Vocabulary', vocabularyView], ['metadata', 'Metadata', factsView], ['check', 'Check', checkView]];
const main = document.getElementById('main'), nav = document.getElementById('views'), theme = document.getElementById('theme');
let state = null, shownView = '', shownSide = '', current = null;

// The theme: the system's, unless the user chose the other one. A server has another port, and so other storage, each time;
// a cookie is for all ports of a host. A report is a file, which has no cookies.
function rememberedTheme() {
  try { return isReport ? localStorage.getItem('tare-theme') : (/(?:^|; )tare-theme=(light|dark)/.exec(document.cookie) || [])[1]; } catch { return null; }
}
function rememberTheme(chosen) {
  try {
    if (!isReport) document.cookie = `tare-theme=${chosen || ''}; path=/; SameSite=Strict; Max-Age=${chosen ? 31536000 : 0}`;
    else if (chosen) localStorage.setItem('tare-theme', chosen); else localStorage.removeItem('tare-theme');
  } catch { /* neither is allowed here; the choice lasts as long as the page */ }
}
function paintTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  theme.textContent = dark ? '☀' : '☾';
  theme.title = `Change to ${dark ? 'light' : 'dark'}`;
  theme.setAttribute('aria-pressed', String(dark));
  dispatchEvent(new Event('repaint'));
}
const prefers = matchMedia('(prefers-color-scheme: dark)');
const chosenTheme = () => { const chosen = rememberedTheme(); return chosen ? chosen === 'dark' : prefers.matches; };
prefers.addEventListener('change', () => paintTheme(chosenTheme()));
theme.addEventListener('click', () => {
  const dark = document.documentElement.dataset.theme !== 'dark';
  rememberTheme(dark === prefers.matches ? null : dark ? 'dark' : 'light');
  paintTheme(dark);
});
paintTheme(chosenTheme());
// Paper is white, and so are the pictures on it.
addEventListener('beforeprint', () => paintTheme(false));
addEventListener('afterprint', () => paintTheme(chosenTheme()));

// The keys, by `?` or the button.
const KEYS = [['?', 'these keys'], ['1', 'the views'], ['/', 'search'], ['Enter', 'open the best hit, or what is marked'], ['↑ ↓ ← →', 'move in lists, trees, the treemap and the layers'],
  ['Backspace', 'out of a group of the treemap'], ['+  −', 'zoom a heat map or the file layout'], ['0', 'all of a heat map'], ['Ctrl + wheel', 'zoom a heat map at the pointer'], ['Esc', 'close this']];
const keys = h('dialog', {class: 'keys', 'aria-label': 'Keys', onclick: (event) => { if (event.target === keys) keys.close(); }},
  h('div', {class: 'inside'}, h('div', {class: 'head'}, h('h2', {}, 'Keys'), h('button', {class: 'plain', type: 'button', onclick: () => keys.close()}, 'Close')),
    h('table', {}, h('tbody', {})),
    h('p', {class: 'small quiet'}, 'The address has all of what is shown: copy it to share this picture with whoever can reach this server.')));
document.body.append(keys);
const viewsOf = (models) => VIEWS.filter(([name]) => name !== 'compare' || models.length === 2);
function showKeys() {
  const most = state ? viewsOf(state.models).length : 1;
  put(keys.querySelector('tbody'), KEYS.map(([key, what]) => h('tr', {}, h('td', {}, h('kbd', {}, key === '1' && most > 1 ? `1 … ${most}` : key)), h('td', {}, what))));
  keys.showModal();
}
document.getElementById('help').addEventListener('click', showKeys);

function placeNow() {
  const place = readPlace(), known = VIEWS.some(([name]) => name === place.view) && (place.view !== 'compare' || state.models.length === 2);
  return {...place, view: known ? place.view : 'overview'};
}

// The selected tensor stays selected: the other model's counterpart is shown.
function sideChoice(place) {
  if (state.models.length < 2 || place.view === 'compare' || place.view === 'overview') return null;
  const follow = async (event, of) => {
    const now = placeNow();
    if (now.view !== 'tensors' || now.tensor === undefined || (now.of === 'b') === (of === 'b')) return;
    event.preventDefault();
    let other;
    try { [other] = (await ask('tensor', {tensor: now.tensor, of: now.of === 'b' ? 'b' : undefined})).others; } catch { /* the list says so */ }
    location.hash = `#/tensors${other ? `/${other.tensor}` : ''}${of === 'b' ? '?of=b' : ''}`;
  };
  const link = (of, text) => h('a', {onclick: (event) => follow(event, of), href: `#/${place.view}${of === 'b' ? '?of=b' : ''}`, 'aria-current': (place.of === 'b') === (of === 'b') ? 'true' : undefined}, sideMark(of), ' ', h('bdi', {}, text));
  return h('div', {class: 'small sides'}, link('a', state.models[0].name), link('b', state.models[1].name));
}

function show() {
  if (!state) return;
  const place = placeNow(), side = place.of === 'b' ? 'b' : 'a';
  put(nav, viewsOf(state.models).map(([name, text]) => h('a', {href: `#/${name}${side === 'b' ? '?of=b' : ''}`, 'aria-current': name === place.view ? 'page' : undefined}, text)));
  document.title = visible(`${state.models[0].name} · ${place.view} · Tare`);
  if (place.view === 'tensors' && shownView === 'tensors' && shownSide === side && current) { current.show(place); return; }
  if (current && current.leave) current.leave();
  shownView = place.view; shownSide = side;
  const made = VIEWS.find(([name]) => name === place.view)[2](state, place);
  current = made.show ? made : null;
  put(main, sideChoice(place), made);
  scrollTo(0, 0);
}

async function begin() {
  try {
    state = await ask('overview');
    put(document.getElementById('model-name'), state.models.map((model, i) => [state.models.length > 1 && sideMark(i ? 'b' : 'a'), h('bdi', {title: model.name}, model.name)]));
    shownView = '';
    show();
  } catch (error) { put(main, sorry(error)); }
}

addEventListener('hashchange', show);
addEventListener('reopened', begin);
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
  if (event.key === '?') { showKeys(); event.preventDefault(); }
  if (event.key === '/') {
    const search = document.querySelector('input[type="search"]');
    if (search) search.focus(); else location.hash = '#/tensors';
    event.preventDefault();
  }
  const views = state ? viewsOf(state.models) : [];
  if (event.key >= '1' && event.key <= '9' && views[event.key - 1] && !event.target.closest('canvas')) location.hash = `#/${views[event.key - 1][0]}`;
});
begin();
