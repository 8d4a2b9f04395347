/**
 * Pan and zoom of the drawing by pointer, wheel and keyboard; its SHA-256 stands in the page's policy. Without it the
 * drawing stays hidden and the list is the page.
 */
export const graphScript = `
(() => {
  const frame = document.getElementById('frame');
  const view = document.getElementById('view');
  const world = document.getElementById('world');
  const section = document.querySelector('.drawing');
  if (!frame || !view || !world || !section) return;
  section.hidden = false;
  const whole = { width: Number(view.dataset.width), height: Number(view.dataset.height) };
  const at = { x: 0, y: 0, zoom: 1 };
  const shown = 60;
  const between = (low, value, high) => Math.min(Math.max(value, low), high);
  const draw = () => {
    const { clientWidth, clientHeight } = frame;
    at.x = between(shown - whole.width * at.zoom, at.x, clientWidth - shown);
    at.y = between(shown - whole.height * at.zoom, at.y, clientHeight - shown);
    world.setAttribute('transform', 'translate(' + at.x + ' ' + at.y + ') scale(' + at.zoom + ')');
  };
  const pan = (x, y) => {
    const before = [at.x, at.y];
    at.x += x;
    at.y += y;
    draw();
    return before[0] !== at.x || before[1] !== at.y;
  };
  const zoom = (by, x = frame.clientWidth / 2, y = frame.clientHeight / 2) => {
    const next = between(0.02, at.zoom * by, 4);
    at.x = x - ((x - at.x) * next) / at.zoom;
    at.y = y - ((y - at.y) * next) / at.zoom;
    at.zoom = next;
    draw();
  };
  const fit = () => {
    at.zoom = between(0.02, Math.min(frame.clientWidth / whole.width, frame.clientHeight / whole.height), 1);
    at.x = (frame.clientWidth - whole.width * at.zoom) / 2;
    at.y = 0;
    draw();
  };
  const start = () => {
    Object.assign(at, { x: 0, y: 0, zoom: 1 });
    draw();
  };
  const acts = { in: () => zoom(1.25), out: () => zoom(0.8), fit, start };
  for (const button of section.querySelectorAll('button'))
    button.addEventListener('click', () => acts[button.dataset.act]());

  const keys = {
    '+': acts.in, '=': acts.in, '-': acts.out, 0: fit, Home: start,
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
  };
  frame.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  const place = (event) => {
    const { left, top } = frame.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  frame.addEventListener('wheel', (event) => {
    const { x, y } = place(event);
    const step = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY * step * 0.005), x, y);
    // At its edge the page scrolls on.
    else if (!pan(-event.deltaX * step, -event.deltaY * step)) return;
    event.preventDefault();
  }, { passive: false });

  const held = new Map();
  let moved = 0;
  const grip = () => {
    const [a, b = a] = [...held.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (held.size === 0) moved = 0;
    if (held.size < 2) held.set(event.pointerId, place(event));
  });
  frame.addEventListener('pointermove', (event) => {
    if (!held.has(event.pointerId)) return;
    const before = grip();
    held.set(event.pointerId, place(event));
    const now = grip();
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y) + Math.abs(now.apart - before.apart);
    // Caught at once, a tap would not reach the node under it.
    if (moved > 4 && !frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId);
    frame.classList.toggle('held', moved > 4);
    if (before.apart > 0 && now.apart > 0) zoom(now.apart / before.apart, now.x, now.y);
    pan(now.x - before.x, now.y - before.y);
  });
  const release = (event) => {
    held.delete(event.pointerId);
    if (held.size === 0) frame.classList.remove('held');
  };
  for (const name of ['pointerup', 'pointercancel', 'pointerleave'])
    frame.addEventListener(name, (event) => {
      if (name !== 'pointerleave' || !frame.hasPointerCapture(event.pointerId)) release(event);
    });
  frame.addEventListener('dragstart', (event) => event.preventDefault());
  frame.addEventListener('click', (event) => {
    if (moved > 4) event.preventDefault();
  }, true);

  const show = (id, isFollowed) => {
    const entry = document.getElementById(id);
    const node = [...view.querySelectorAll('.node')].find((one) => one.getAttribute('href') === '#' + id);
    for (const one of view.querySelectorAll('.here')) one.classList.remove('here');
    if (!entry || !node) return;
    node.classList.add('here');
    if (isFollowed) {
      entry.querySelector('details').open = true;
      return;
    }
    const { e, f } = node.transform.baseVal.consolidate().matrix;
    at.x = frame.clientWidth / 2 - (e + 88) * at.zoom;
    at.y = frame.clientHeight / 2 - (f + 22) * at.zoom;
    draw();
  };
  addEventListener('hashchange', () => show(location.hash.slice(1), true));
  document.querySelector('.tree').addEventListener('click', (event) => {
    const entry = event.target.closest('summary')?.closest('li');
    if (entry) show(entry.id, false);
  });
  addEventListener('resize', draw);
  start();
  if (location.hash !== '') show(location.hash.slice(1), true);
})();
`;
