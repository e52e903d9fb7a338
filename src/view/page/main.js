// Selects the view and the theme, handles keys, and reopens the model.
import {h, put, visible} from './dom.js';
import {ask, sorry} from './api.js';
import {overviewView} from './overview.js';
import {tensorsView} from './tensors.js';
import {compareView} from './compare.js';
import {vocabularyView} from './vocabulary.js';
import {factsView} from './facts.js';
import {checkView} from './check.js';

const VIEWS = [['overview', 'Overview', overviewView], ['tensors', 'Tensors', tensorsView], ['compare', 'Compare', compareView], ['vocabulary', 'Vocabulary', vocabularyView], ['metadata', 'Metadata', factsView], ['check', 'Check', checkView]];
const main = document.getElementById('main'), nav = document.getElementById('views'), theme = document.getElementById('theme');
let state = null, shownView = '', shownSide = '', current = null;

function paintTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  theme.textContent = dark ? '☀' : '☾';
  theme.setAttribute('aria-pressed', String(dark));
  dispatchEvent(new Event('repaint'));
}
const prefers = matchMedia('(prefers-color-scheme: dark)');
prefers.addEventListener('change', () => paintTheme(prefers.matches));
theme.addEventListener('click', () => paintTheme(document.documentElement.dataset.theme !== 'dark'));
paintTheme(prefers.matches);

// "#/tensors/12?of=error"
function placeNow() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?'), [view, tensor] = path.split('/');
  const known = VIEWS.some(([name]) => name === view) && (view !== 'compare' || state.models.length === 2);
  return {...Object.fromEntries(new URLSearchParams(query || '')), view: known ? view : 'overview', tensor: tensor === '' ? undefined : tensor};
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
  const link = (of, text) => h('a', {onclick: (event) => follow(event, of), href: `#/${place.view}${of === 'b' ? '?of=b' : ''}`, 'aria-current': (place.of === 'b') === (of === 'b') ? 'true' : undefined, style: {padding: '3px 10px', textDecoration: 'none', fontWeight: (place.of === 'b') === (of === 'b') ? 600 : 400}}, text);
  return h('div', {class: 'small', style: {margin: '-8px 0 12px'}}, link('a', `A  ${state.models[0].name}`), link('b', `B  ${state.models[1].name}`));
}

function show() {
  if (!state) return;
  const place = placeNow(), side = place.of === 'b' ? 'b' : 'a';
  put(nav, VIEWS.filter(([name]) => name !== 'compare' || state.models.length === 2).map(([name, text]) => h('a', {href: `#/${name}${side === 'b' ? '?of=b' : ''}`, 'aria-current': name === place.view ? 'page' : undefined}, text)));
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
    document.getElementById('model-name').textContent = visible(state.models.map((model) => model.name).join('  ·  '));
    shownView = '';
    show();
  } catch (error) { put(main, sorry(error)); }
}

addEventListener('hashchange', show);
addEventListener('reopened', begin);
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
  if (event.key === '/') {
    const search = document.querySelector('input[type="search"]');
    if (search) search.focus(); else location.hash = '#/tensors';
    event.preventDefault();
  }
  const views = state ? VIEWS.filter(([name]) => name !== 'compare' || state.models.length === 2) : [];
  if (event.key >= '1' && event.key <= '9' && views[event.key - 1] && !event.target.closest('canvas')) location.hash = `#/${views[event.key - 1][0]}`;
});
begin();
