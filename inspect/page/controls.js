// Pointer, wheel and keyboard.

const Controls = (() => {
  const $ = (id) => document.getElementById(id);

  function pan(canvas) {
    const pointers = new Map();
    let moved = false, apart = 0;
    const distance = () => {
      const [a, b] = [...pointers.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    canvas.addEventListener('pointerdown', (event) => {
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
      moved = pointers.size > 1;
      if (pointers.size === 2) apart = distance();
    });
    window.addEventListener('pointermove', (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
      if (!moved && Math.abs(dx) + Math.abs(dy) < 4) return;
      moved = true;
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
      const {view} = View.state;
      view.x += dx / pointers.size;
      view.y += dy / pointers.size;
      View.state.fitted = false;
      if (pointers.size === 2) {
        const box = canvas.getBoundingClientRect(), now = distance();
        View.zoom(now / apart, event.clientX - box.left, event.clientY - box.top);
        apart = now;
      }
      View.applyView();
    });
    for (const type of ['pointerup', 'pointercancel'])
      window.addEventListener(type, (event) => pointers.delete(event.pointerId));
    return () => moved;
  }

  // Opens or closes what an element stands for; false if it stands for neither.
  function openOrClose(target) {
    const {open} = (target.closest('[data-open]') || {dataset: {}}).dataset;
    const {close} = (target.closest('[data-close]') || {dataset: {}}).dataset;
    if (open) View.toggleGroup(open, open.slice('fused '.length));
    else if (close) View.toggleGroup(close);
    return Boolean(open || close);
  }

  function openBox(id) {
    const box = View.boxOf(id);
    if (box && box.kind) View.toggleGroup(box.id);
    else if (box && box.canOpen) View.toggleGroup(`fused ${box.key}`, box.key);
  }

  function listenToCanvas() {
    const canvas = $('canvas'), moved = pan(canvas);
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      View.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    }, {passive: false});
    canvas.addEventListener('click', (event) => {
      if (moved() || openOrClose(event.target)) return;
      const node = event.target.closest('.node');
      View.select(node ? node.dataset.id : null);
    });
    canvas.addEventListener('dblclick', (event) => {
      const node = event.target.closest('.node');
      if (node && !event.target.closest('[data-open]')) openBox(node.dataset.id);
    });
    canvas.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      if (openOrClose(event.target)) return;
      const node = event.target.closest('.node');
      if (!node) return;
      if (event.key === ' ') openBox(node.dataset.id);
      else View.select(node.dataset.id);
    });
  }

  const kKeys = {
    '/': () => $('search').focus(),
    '?': () => $('help').showModal(),
    ArrowRight: () => View.setStage(View.state.stage + 1),
    ArrowLeft: () => View.setStage(View.state.stage - 1),
    Home: () => View.setStage(0),
    End: () => View.setStage(Model.stages.length - 1),
    f: () => View.fit(),
    c: () => View.setAll(false),
    e: () => View.setAll(true),
    '+': () => zoomAtCentre(1.25),
    '-': () => zoomAtCentre(0.8),
    s: () => View.saveSvg(),
    t: () => switchTheme(),
    Escape: () => View.select(null),
  };

  function zoomAtCentre(factor) {
    const {width, height} = $('canvas').getBoundingClientRect();
    View.zoom(factor, width / 2, height / 2);
  }

  function switchTheme() {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes('dark');
    View.setTheme(dark ? 'light' : 'dark');
  }

  function listenToKeys() {
    window.addEventListener('keydown', (event) => {
      const typing = /^(INPUT|SELECT)$/.test(event.target.tagName) && event.target.type !== 'checkbox';
      if (typing || $('help').open || event.ctrlKey || event.metaKey || event.altKey) return;
      const action = kKeys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    $('search').addEventListener('keydown', (event) => {
      if (event.key === 'Enter') View.nextMatch();
      if (event.key === 'Escape') event.target.blur();
    });
  }

  function start() {
    listenToCanvas();
    listenToKeys();
    const on = (id, type, action) => $(id).addEventListener(type, () => action($(id)));
    on('slider', 'input', (slider) => View.setStage(Number(slider.value)));
    on('stage', 'change', (choice) => View.setStage(Number(choice.value)));
    on('previous', 'click', kKeys.ArrowLeft);
    on('next', 'click', kKeys.ArrowRight);
    on('search', 'input', (field) => View.search(field.value));
    on('colour', 'change', (choice) => View.set('colour', choice.value));
    on('base', 'change', (choice) => View.set('base', choice.value));
    on('stored', 'change', (box) => View.set('stored', box.checked));
    on('views', 'change', (box) => View.set('views', box.checked));
    on('collapse', 'click', kKeys.c);
    on('expand', 'click', kKeys.e);
    on('fit', 'click', kKeys.f);
    on('save', 'click', kKeys.s);
    on('theme', 'click', switchTheme);
    on('ask', 'click', kKeys['?']);
    window.addEventListener('resize', () => View.state.fitted && View.redraw());
  }

  return {start};
})();
