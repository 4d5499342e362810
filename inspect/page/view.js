// The state of the page, and the user's actions.

const View = (() => {
  const kMaxScale = 1.8;  // so that a small graph does not look like a poster
  const $ = (id) => document.getElementById(id);
  const state = {stage: Model.stages.length - 1, selected: null, query: '', toggled: new Set(),
                 colour: '', base: 'previous', stored: false, views: false, fitted: true,
                 view: {x: 0, y: 0, scale: 1}};
  let scene = null, timer = 0;

  const stageNow = () => Model.stages[state.stage];
  // A pass shows its changes, all else the kinds, unless the user chose.
  const colourNow = () => state.colour || (stageNow().pass ? 'changes' : 'kinds');
  function stageBefore() {
    if (state.stage === 0) return null;
    return Model.stages[state.base === 'raw' ? 0 : state.stage - 1];
  }
  const isOpen = (id, byDefault) => state.toggled.has(id) !== byDefault;

  // --- Drawing ---

  // The nodes and edges to draw: of the stage, and where changes are shown, those that went.
  function collect() {
    const stage = stageNow(), options = {stored: state.stored, views: state.views};
    const before = colourNow() === 'changes' ? stageBefore() : null;
    const change = Model.compare(stage, before, options), keys = Model.shown(stage, options);
    const items = [], add = (from, key, kind) => items.push({
      key, node: from.nodes.get(key), stage: from, change: kind, lane: Model.laneOf(from, key),
      layer: from.nodes.get(key).layer});
    for (const key of keys)
      add(stage, key, change.added.has(key) ? 'added' : change.changed.has(key) ? 'changed' : '');
    for (const key of change.removed) add(before, key, 'removed');
    const edges = Model.edgesOf(stage, keys);
    if (before)
      for (const edge of Model.edgesOf(before, new Set(items.map((item) => item.key))))
        if (change.removed.has(edge.from) || change.removed.has(edge.to))
          edges.push({...edge, gone: true});
    return {items, edges, change};
  }

  // The share of a box in the cost of all nodes of its kind: at load, or at run time.
  function sharesOf(items, figure) {
    const totals = {true: 0, false: 0}, costs = new Map();
    for (const item of items) {
      if (item.change === 'removed') continue;
      costs.set(item.key, Model.costOf(item.stage, item.key)[figure]);
      totals[item.lane === 'load'] += costs.get(item.key);
    }
    return (box) => box.members.reduce((sum, item) => sum + (costs.get(item.key) || 0), 0) /
        (totals[box.lane === 'load'] || 1);
  }

  function space() {
    const {width, height} = $('canvas').getBoundingClientRect();
    return {w: Math.max(width - 24, 50), h: Math.max(height - 24, 50)};
  }

  function drawScene() {
    const {items, edges, change} = collect();
    scene = Scene.build(Tree.build(items, isOpen), edges, space());
    scene.change = change;
    const colour = colourNow();
    $('world').replaceChildren(...Drawing.draw(scene, colour,
                                               colour in {flop: 0, bytes: 0, time: 0}
                                                   ? sharesOf(items, colour) : null));
    mark();
    Panels.showLegend();
  }

  const nodeFits = (node, query) =>
      [node.name, node.op, ...node.origins, ...node.rules, ...node.results.map((r) => r.type)]
          .some((text) => text.toLowerCase().includes(query));

  // Marks the selection and the results of the search in the drawing.
  function mark() {
    const query = state.query.toLowerCase(), chosen = state.selected && boxOf(state.selected);
    const boxes = new Map(scene.boxes.map((box) => [box.id, box]));
    let count = 0;
    for (const element of document.querySelectorAll('#world .node')) {
      const box = boxes.get(element.dataset.id);
      const match = query && box.members.some(({node}) => nodeFits(node, query));
      if (match) count += box.members.filter(({node}) => nodeFits(node, query)).length;
      element.classList.toggle('match', Boolean(match));
      element.classList.toggle('dim', Boolean(query) && !match);
      element.classList.toggle('selected', box === chosen);
    }
    for (const element of document.querySelectorAll('#world .edge'))
      element.classList.toggle('near', Boolean(chosen) && (element.dataset.from === chosen.id ||
                                                           element.dataset.to === chosen.id));
    $('matches').textContent = query ? `${count} found` : '';
  }

  // --- Moving about ---

  function applyView() {
    const {x, y, scale} = state.view;
    $('world').setAttribute('transform', `translate(${x},${y}) scale(${scale})`);
  }

  function fit() {
    const {w, h} = space();
    const scale = Math.min(w / scene.width, h / scene.height, kMaxScale);
    state.view = {scale, x: 12 + (w - scene.width * scale) / 2, y: 12 + (h - scene.height * scale) / 2};
    state.fitted = true;
    applyView();
  }

  const boxOf = (id) => scene.boxOf.get(id) || scene.boxes.find((box) => box.id === id) ||
      scene.frames.find((frame) => frame.id === id);

  function center(id) {
    const box = boxOf(id);
    if (!box) return;
    const {width, height} = $('canvas').getBoundingClientRect();
    const scale = Math.max(state.view.scale, 0.8);
    state.view = {scale, x: width / 2 - (box.x + box.w / 2) * scale,
                  y: height / 2 - (box.y + box.h / 2) * scale};
    state.fitted = false;
    applyView();
  }

  function zoom(factor, x, y) {
    const view = state.view, scale = Math.min(4, Math.max(0.03, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    state.fitted = false;
    applyView();
  }

  // Draws again; the window shows all if it did before, else `id` stays where it was.
  function redraw(id) {
    const before = id && scene && boxOf(id), place = before && [before.x, before.y];
    drawScene();
    const after = id && boxOf(id);
    if (state.fitted) return fit();
    if (place && after) {
      state.view.x += (place[0] - after.x) * state.view.scale;
      state.view.y += (place[1] - after.y) * state.view.scale;
    }
    applyView();
  }

  // --- Actions ---

  function changed() {
    Address.write(state);
    if (typeof window.onFuselageState === 'function')
      window.onFuselageState({stage: stageNow().name, node: state.selected});
  }

  function select(id) {
    state.selected = id;
    mark();
    Panels.showSelection();
    changed();
  }

  // Opens what is around a node, until the node itself is drawn.
  function reveal(key) {
    const node = stageNow().nodes.get(key);
    if (!node) return;
    state.stored = state.stored || node.stored;
    state.views = state.views || Model.isView(key);
    drawScene();
    for (let box = boxOf(key); box && box.kind && !box.open; box = boxOf(key)) {
      toggle(box.id);
      drawScene();
    }
  }

  // Selects a node, in a stage that has it.
  function go(key) {
    if (!stageNow().nodes.has(key)) {
      const at = Model.stages.map((stage) => stage.nodes.has(key)).lastIndexOf(true);
      if (at < 0) return;
      setStage(at);
    }
    reveal(key);
    Panels.showLegend();
    select(key);
    center(key);
  }

  function setStage(index) {
    state.stage = Math.max(0, Math.min(Model.stages.length - 1, index));
    redraw(state.selected);
    Panels.showStage();
    changed();
  }

  function toggle(id) {
    if (!state.toggled.delete(id)) state.toggled.add(id);
  }

  function toggleGroup(id, near) {
    toggle(id);
    redraw(near);
    changed();
  }

  function setAll(open) {
    // The next level appears only when its parent is open.
    for (let round = 0; round < 4; ++round) {
      const groups = Tree.groups(scene.lanes).filter((box) => box.kind !== 'lane' &&
          box.kind !== 'fused' && Boolean(box.open) !== open);
      if (!groups.length) break;
      groups.forEach((box) => toggle(box.id));
      drawScene();
    }
    if (!open) for (const id of [...state.toggled]) if (id.startsWith('fused ')) state.toggled.delete(id);
    drawScene();
    fit();
    changed();
  }

  function search(query) {
    state.query = query.trim();
    mark();
  }

  // The next node that fits the search, in the order of the graph.
  function nextMatch() {
    const query = state.query.toLowerCase();
    const found = [...Model.shown(stageNow(), {stored: state.stored, views: state.views})]
        .filter((key) => nodeFits(stageNow().nodes.get(key), query));
    if (found.length) go(found[(found.indexOf(state.selected) + 1) % found.length]);
  }

  function set(name, value) {
    state[name] = value;
    redraw(state.selected);
    Panels.showStage();
    changed();
  }

  function saveSvg() {
    const text = Drawing.exportSvg($('canvas'), scene);
    const link = Format.html('a', {download: `${Model.data.graph || 'graph'}-${stageNow().name}.svg`,
        href: URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return text;
  }

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
  }

  function notice(text) {
    $('notice').textContent = text;
    $('notice').hidden = !text;
    clearTimeout(timer);
    timer = setTimeout(() => { $('notice').hidden = true; }, 12000);
  }

  // The state of an address or of another page.
  function restore(wanted) {
    for (const problem of wanted.problems || []) notice(problem);
    for (const name of ['colour', 'base', 'stored', 'views', 'toggled'])
      if (wanted[name] !== undefined) state[name] = wanted[name];
    if (wanted.stage !== undefined) state.stage = wanted.stage;
    drawScene();
    fit();
    Panels.showStage();
    if (wanted.node) go(wanted.node);
    else select(null);
  }

  return {state, stageNow, stageBefore, colourNow, select, go, setStage, toggleGroup, setAll, search,
          nextMatch, set, zoom, fit, applyView, saveSvg, setTheme, notice, restore, boxOf, redraw,
          scene: () => scene};
})();
