// Elements. Text from a model only ever becomes a text node.
export const SVG = 'http://www.w3.org/2000/svg';

// Invisible characters and those that reorder text; the viewer makes them visible.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
export function visible(text) { return String(text).replace(UNSEEN, (c) => `⟨${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`); }

function fill(element, properties, children) {
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'style') Object.assign(element.style, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : key === 'value' ? value : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

export function h(name, properties, ...children) { return fill(document.createElement(name), properties, children); }
export function s(name, properties, ...children) { return fill(document.createElementNS(SVG, name), properties, children); }
export function put(parent, ...children) { parent.replaceChildren(...children.flat(Infinity).filter(Boolean)); return parent; }

// Announces text to screen readers.
export function say(text) { document.getElementById('said').textContent = visible(text); }

// "A" or "B": which of two models something is about.
export function sideMark(side) { return h('b', {class: `side ${side === 'b' ? 'second' : 'first'}`, title: side === 'b' ? 'the second model' : 'the first model'}, side === 'b' ? 'B' : 'A'); }

// `mark`: from sideMark, if two models are shown.
export function sheet(title, tools, ...children) { return markedSheet(null, title, tools, ...children); }
export function markedSheet(mark, title, tools, ...children) {
  return h('section', {class: 'sheet', 'aria-label': title}, h('div', {class: 'head'}, h('h2', {}, mark, mark && ' ', title), tools), children);
}

// Shown in place of an empty view: the reason, and what can be done.
export function emptyState(title, ...more) { return h('div', {class: 'empty', role: 'note'}, h('b', {}, title), more.length > 0 && h('div', {}, more)); }
// A place for what has been asked for; as high as what comes, so that nothing jumps.
export function loading(height) { return h('div', {class: 'loading', 'aria-label': 'Loading', role: 'status', style: {minHeight: `${height}px`}}); }
// Something to be seen before the rest.
export function notice(...children) { return h('div', {class: 'notice', role: 'note'}, h('i', {'aria-hidden': 'true'}, '!'), h('div', {}, children)); }

// A group of buttons, one of which is pressed.
export function choice(label, options, chosen, change) {
  const buttons = options.map(([value, text, title]) => h('button', {type: 'button', title, 'aria-pressed': String(value === chosen), onclick: () => {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(options[i][0] === value)));
    change(value);
  }}, text));
  return h('div', {class: 'choice', role: 'group', 'aria-label': label}, buttons);
}

export function picker(label, options, chosen, change) {
  const select = h('select', {'aria-label': label, onchange: () => change(select.value)},
    options.map(([value, text]) => h('option', {value, selected: value === chosen}, text)));
  return select;
}

// Lets a line end after the dots, slashes and underscores of a name, but not inside a number.
export function breakable(text) {
  const parts = typeof text === 'string' ? text.match(/[^._/]+[._/]*|[._/]+/g) || [] : [text];
  return parts.flatMap((part, i) => i > 0 && !(/\d\.$/.test(parts[i - 1]) && /^\d/.test(part)) ? [h('wbr'), part] : [part]);
}

export function facts(entries) {
  return h('dl', {class: 'facts'}, entries.filter(Boolean).map(([name, value, more]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, breakable(value), more && h('small', {}, breakable(more))))));
}

export function copier(text) {
  const button = h('button', {class: 'copy', type: 'button', 'aria-label': 'Copy', onclick: async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? await text() : text);
      button.textContent = 'copied';
    } catch { button.textContent = 'not copied'; }
    setTimeout(() => { button.textContent = 'copy'; }, 1200);
  }}, 'copy');
  return button;
}

function timeText(seconds) { return seconds < 1.5 ? 'a second' : seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`; }

// Progress: a bar, the share, the time that is left; and a button if the work can be cancelled. `set(share, waiting)`; a
// share of 0 begins anew.
export function meterBar(hidden = false, cancel = undefined) {
  const bar = h('span', {}), band = h('div', {class: 'meter', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100}, bar), words = h('span', {class: 'small quiet'});
  const element = h('div', {hidden, class: 'progress'}, band, h('div', {class: 'under'}, words, cancel && h('button', {class: 'plain', type: 'button', onclick: cancel}, 'Cancel')));
  let begun, waited;
  element.set = (share, waiting) => {
    const now = performance.now();
    if (share === 0 || !begun) begun = {now, share};
    waited = waiting ? waited ?? now : undefined;
    const rate = (share - begun.share) / (now - begun.now), left = rate > 0 && now - begun.now > 600 ? (1 - share) / rate / 1000 : undefined;
    bar.style.width = `${share * 100}%`;
    band.setAttribute('aria-valuenow', String(Math.floor(share * 100)));
    // Work waits for a moment before it begins, which is not worth a word.
    words.textContent = waiting && now - waited > 700 ? 'Waiting for other work to finish' : `${Math.floor(share * 100)} %${left === undefined ? '' : ` · about ${timeText(left)} left`}`;
  };
  return element;
}

// Delays the call until there were no further calls for a moment.
export function later(work, pause = 120) {
  let timer = 0;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), pause); };
}
