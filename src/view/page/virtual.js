// A list of any length, in which only the visible rows exist. `load(from, count)` fetches pages of rows.
import {h, put} from './dom.js';

const PAGE = 100;

export class Rows {
  // `draw(row, index)` makes an element's children; `open(row)` is called for the selected row.
  constructor({label, height, load, draw, open, flat}) {
    Object.assign(this, {height, load, draw, open, flat});
    this.tall = h('div', {class: 'tall'});
    this.element = h('div', {class: 'rows', role: 'listbox', tabindex: '0', 'aria-label': label}, this.tall);
    this.element.addEventListener('scroll', () => this.show(), {passive: true});
    this.element.addEventListener('keydown', (event) => this.key(event));
    this.tall.addEventListener('click', (event) => {
      const found = event.target.closest('[data-index]');
      if (found) this.choose(Number(found.dataset.index), true);
    });
    new ResizeObserver(() => this.show()).observe(this.element);
    this.clear(0);
  }

  clear(found) {
    this.found = found;
    this.pages = new Map();
    this.here = -1;
    this.shown = new Map();
    this.turn = (this.turn || 0) + 1;
    put(this.tall);
    // Browsers limit elements to about 30 million pixels; beyond that, several rows share a pixel of the scroll bar.
    this.scale = Math.max(1, found * this.height / 2e7);
    this.tall.style.height = `${found * this.height / this.scale}px`;
  }

  async begin(first) {
    this.clear(first.found);
    this.pages.set(0, first.rows);
    this.element.scrollTop = 0;
    this.show();
  }

  range() {
    const top = this.element.scrollTop * this.scale, room = this.element.clientHeight || 600;
    return [Math.max(0, Math.floor(top / this.height) - 4), Math.min(this.found, Math.ceil((top + room) / this.height) + 4)];
  }

  show() {
    const [from, to] = this.range();
    for (const [index, element] of this.shown) if (index < from || index >= to) { element.remove(); this.shown.delete(index); }
    for (let index = from; index < to; ++index) this.showRow(index);
  }

  showRow(index) {
    const page = Math.floor(index / PAGE), rows = this.pages.get(page);
    if (rows === undefined) { this.fetch(page); return; }
    const row = rows && rows[index - page * PAGE];
    if (!row || this.shown.has(index)) return;
    const top = index * this.height - this.element.scrollTop * (this.scale - 1);
    const element = h('div', {class: `row${this.flat ? ' flat' : ''}${index === this.here ? ' here' : ''}`, role: 'option', id: `row-${index}`,
      'data-index': index, 'aria-setsize': this.found, 'aria-posinset': index + 1, 'aria-selected': String(this.chosen === row.tensor && row.tensor !== undefined), style: {top: `${top}px`}}, this.draw(row, index));
    this.shown.set(index, element);
    this.tall.append(element);
  }

  async fetch(page) {
    this.pages.set(page, null);
    const turn = this.turn;
    try {
      const answer = await this.load(page * PAGE, PAGE);
      if (turn !== this.turn) return;
      this.pages.set(page, answer.rows);
      this.show();
    } catch { if (turn === this.turn) this.pages.delete(page); }
  }

  rowAt(index) { const rows = this.pages.get(Math.floor(index / PAGE)); return rows && rows[index % PAGE]; }

  mark(chosen) {
    this.chosen = chosen;
    for (const [index, element] of this.shown) {
      const row = this.rowAt(index);
      element.setAttribute('aria-selected', String(Boolean(row) && row.tensor === chosen && chosen !== undefined));
      element.classList.toggle('here', index === this.here);
    }
  }

  // Brings a row into view, if it is not.
  reveal(index) {
    const room = this.element.clientHeight, top = index * this.height / this.scale;
    if (top < this.element.scrollTop || top + this.height > this.element.scrollTop + room) this.element.scrollTop = Math.max(0, top - room / 2 + this.height / 2);
    this.here = index;
    this.show();
    this.mark(this.chosen);
  }

  choose(index, opens) {
    if (index < 0 || index >= this.found) return;
    this.here = index;
    const top = index * this.height / this.scale, room = this.element.clientHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    if (top + this.height > this.element.scrollTop + room) this.element.scrollTop = top + this.height - room;
    this.show();
    this.element.setAttribute('aria-activedescendant', `row-${index}`);
    const row = this.rowAt(index);
    if (opens && row && this.open) this.open(row);
    this.mark(this.chosen);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page}[event.key];
    if (step) this.choose(Math.min(this.found - 1, Math.max(0, this.here + step)), false);
    else if (event.key === 'Home') this.choose(0, false);
    else if (event.key === 'End') this.choose(this.found - 1, false);
    else if (event.key === 'Enter' || event.key === ' ') this.choose(Math.max(0, this.here), true);
    else return;
    event.preventDefault();
  }
}
