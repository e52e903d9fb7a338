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

export function sheet(title, tools, ...children) {
  return h('section', {class: 'sheet', 'aria-label': title}, h('div', {class: 'head'}, h('h2', {}, title), tools), children);
}

// A group of buttons, one of which is pressed.
export function choice(label, options, chosen, change) {
  const buttons = options.map(([value, text]) => h('button', {type: 'button', 'aria-pressed': String(value === chosen), onclick: () => {
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

export function facts(entries) {
  return h('dl', {class: 'facts'}, entries.filter(Boolean).map(([name, value, more]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value, more && h('small', {}, more)))));
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

// A progress bar, which also shows that work is waiting: `set(share, waiting)`.
export function meterBar(hidden = false) {
  const bar = h('span', {}), band = h('div', {class: 'meter', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100}, bar), words = h('p', {class: 'small quiet', hidden: true}, 'It waits until other work is done.');
  const element = h('div', {hidden}, band, words);
  element.set = (share, waiting) => {
    bar.style.width = `${share * 100}%`;
    band.setAttribute('aria-valuenow', String(Math.floor(share * 100)));
    words.hidden = !waiting;
  };
  return element;
}

// Delays the call until there were no further calls for a moment.
export function later(work, pause = 120) {
  let timer = 0;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), pause); };
}
