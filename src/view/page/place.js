// The address of what is shown: "#/tensors/12?of=error&search=norm". Every view reads its state from it and keeps it there,
// so that a link, the history and a reload lead to the same picture.
export function readPlace() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?'), [view, tensor] = path.split('/');
  return {...Object.fromEntries(new URLSearchParams(query || '')), view, tensor: tensor === '' ? undefined : tensor};
}

// Leaves out what is undefined, null or empty.
export function placeText(view, tensor, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '')).toString();
  return `#/${view}${tensor === undefined ? '' : `/${tensor}`}${query ? `?${query}` : ''}`;
}

// Changes some values of the address, without leaving it.
export function keepPlace(values) {
  const {view, tensor, ...rest} = readPlace(), next = placeText(view || 'overview', tensor, {...rest, ...values});
  if (next !== location.hash && (location.hash || next !== '#/overview')) history.replaceState(null, '', next);
}
