// A table of layers and roles, each cell a colour. One cell is in the tab order; arrow keys reach the others.
import {h} from './dom.js';

// What happens in one of several pictures happens in the others.
export class Link {
  constructor() { this.members = []; }
  join(follow) { this.members.push(follow); return (...what) => this.members.forEach((member) => member !== follow && member(...what)); }
}

const FEW_LAYERS = 40;  // so many layers have room for text in their cells

// `grid`: {roles, layers}; `look(cell, role, layer)`: {label, href, background, ink, text, odd}.
// `room`: the width to use, in pixels; a table that needs more scrolls.
export function layerTable(grid, caption, look, link, reading, room) {
  const many = grid.layers.length > FEW_LAYERS, step = grid.layers.length > 120 ? 16 : 8;
  let marked;
  const mark = (found) => { if (marked) marked.classList.remove('at'); marked = found; if (found) found.classList.add('at'); reading.textContent = found ? found.getAttribute('aria-label') : ''; };
  const tell = link.join((cell) => mark([...table.querySelectorAll('a[data-cell]')].find((found) => found.dataset.cell === cell)));
  function cellOf(cell, role, layer) {
    if (!cell) return h('td', {});
    const {label, href, background, ink, text, odd} = look(cell, role, layer), place = `${layer}\n${role}`;
    return h('td', {}, h('a', {'data-cell': place, href, class: odd ? 'odd' : undefined, tabindex: -1, 'aria-label': `layer ${layer}, ${role}: ${label}`, style: {background, color: many || !text ? 'transparent' : ink}}, many ? '' : text || ''));
  }
  const table = h('table', {class: `grid${many ? ' dense' : ''}`},
    h('caption', {class: 'unseen'}, `${caption}; arrow keys move between cells`),
    h('thead', {}, h('tr', {}, h('th', {}), grid.roles.map((role) => h('th', {scope: 'col'}, h('span', {}, role))))),
    h('tbody', {}, grid.layers.map((row, layer) => h('tr', {}, h('th', {scope: 'row'}, h('span', {class: many && layer % step ? 'unseen' : undefined}, layer)), row.map((cell, i) => cellOf(cell, grid.roles[i], layer))))));
  table.style.setProperty('--cell', `${Math.max(34, Math.min(76, Math.floor(Math.min(room, innerWidth - 80) / grid.roles.length) - 2))}px`);
  const first = table.querySelector('a');
  if (first) first.tabIndex = 0;
  for (const kind of ['pointerover', 'focusin']) table.addEventListener(kind, (event) => { const found = event.target.closest('a'); if (found && found !== marked) { mark(found); tell(found.dataset.cell); } });
  table.addEventListener('keydown', (event) => {
    const move = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key], cell = event.target.closest('td');
    if (!move || !cell) return;
    let row = cell.parentElement.rowIndex, column = cell.cellIndex, next;
    do { row += move[0]; column += move[1]; next = table.rows[row] && table.rows[row].cells[column]; } while (next && !next.querySelector('a') && row > 0 && column > 0);
    const found = next && next.querySelector('a');
    if (found) { event.target.tabIndex = -1; found.tabIndex = 0; found.focus(); }
    event.preventDefault();
  });
  return h('div', {class: many ? 'tall-grid' : undefined}, table);
}
