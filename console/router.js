// SPDX-License-Identifier: Apache-2.0
// The view and its state in the URL's fragment: #/tables/NAME/items?index=ByDate. Names are encoded.

const routes = [];
let leave = () => {};

export function route(pattern, view) {
  routes.push({parts: pattern.split('/'), view});
}

export function href(parts, query = {}) {
  const path = parts.map(encodeURIComponent).join('/');
  const text = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== undefined && v !== '')).toString();
  return `#/${path}${text ? `?${text}` : ''}`;
}

// `state` is stored with the history entry, in addition to the URL.
export function go(to, {replace = false, state = null, silent = false} = {}) {
  history[replace ? 'replaceState' : 'pushState'](state, '', to);
  if (!silent) render();
}

export const query = () => new URLSearchParams(location.hash.split('?')[1] ?? '');

function match(parts, path) {
  if (parts.length !== path.length) return null;
  const found = {};
  for (let i = 0; i < parts.length; i++) {
    if (parts[i].startsWith(':')) found[parts[i].slice(1)] = path[i];
    else if (parts[i] !== path[i]) return null;
  }
  return found;
}

// A view returns a function that stops its work.
export function render() {
  const path = location.hash.replace(/^#\/?/, '').split('?')[0].split('/').map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  leave();
  leave = () => {};
  for (const {parts, view} of routes) {
    const found = match(parts, path);
    if (found) {
      const end = view(found, query());  // undefined if the view redirected
      if (end) leave = end;
      return;
    }
  }
  go('#/tables', {replace: true});
}

export function start() {
  addEventListener('popstate', render);
  render();
}
