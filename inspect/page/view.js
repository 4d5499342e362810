// The view: the scene of a stage, drawn as SVG, and the user's actions.

const View = (() => {
  const kLanes = ['load', 'source', 'step'];
  const kLaneNotes = {load: 'once per model', source: 'once per batch',
                      step: 'at every decoding step'};
  const kNodeHeight = 34, kPad = 12, kHead = 20, kLaneGap = 30, kLaneHead = 46;
  const $ = (id) => document.getElementById(id);
  const state = {stage: Model.stages.length - 1, collapsed: new Set(), selected: null, query: '',
                 fitted: true, view: {x: 0, y: 0, scale: 1}};
  let scene = null;

  function html(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      if (name === 'onclick') element.addEventListener('click', value);
      else element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // --- Scene ---

  const stageNow = () => Model.stages[state.stage];
  function stageBefore() {
    if (!$('show-diff').checked || state.stage === 0) return null;
    return Model.stages[$('base').value === 'raw' ? 0 : state.stage - 1];
  }

  const clip = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

  function shortName(node) {
    const name = node.layer && node.name.startsWith(node.layer + '.')
        ? node.name.slice(node.layer.length + 1) : node.name;
    return clip(name, 26);
  }

  function shape(node) {
    if (!node.results.length) return '';
    const {domain, dims} = node.results[0];
    return clip(`${domain}${domain && dims.length ? ' × ' : ''}${dims.join('×')}`, 24);
  }

  const heatOf = (key) => {
    const plan = Model.plan(key);
    return plan && plan.time ? plan.time.share : 0;
  };
  const heatColor = (share) => {
    if (share < 0.0005) return 'var(--paper)';
    const rest = Math.round(97 - 35 * Math.min(1, Math.sqrt(2 * share)));
    return `hsl(14 95% ${rest}%)`;
  };

  const shownKinds = () => ({stored: $('show-stored').checked, views: $('show-views').checked});

  // The nodes and edges to draw: of the stage, and removed ones of the stage before.
  function collect() {
    const stage = stageNow(), before = stageBefore(), options = shownKinds();
    const change = Model.compare(stage, before, options);
    const keys = Model.shown(stage, options), nodes = new Map();
    const add = (from, key, kind) => {
      const node = from.nodes.get(key);
      nodes.set(key, {key, node, kind, lane: Model.laneOf(from, key),
                      layer: Model.layerOf(from, key)});
    };
    for (const key of keys)
      add(stage, key, change.added.has(key) ? 'added' : change.changed.has(key) ? 'changed' : '');
    for (const key of change.removed) add(before, key, 'removed');
    const edges = Model.edgesOf(stage, keys);
    if (before)
      for (const edge of Model.edgesOf(before, new Set(nodes.keys())))
        if (change.removed.has(edge.from) || change.removed.has(edge.to))
          edges.push({...edge, gone: true});
    return {nodes, edges, change};
  }

  // Puts the nodes of a collapsed layer into one box.
  function fold({nodes, edges, change}) {
    const boxOf = new Map(), items = new Map();
    for (const item of nodes.values()) {
      const id = `${item.lane}/${item.layer}`;
      if (!item.layer || !state.collapsed.has(item.layer)) {
        items.set(item.key, {...item, ...sizeOf(item)});
        boxOf.set(item.key, item.key);
        continue;
      }
      boxOf.set(item.key, id);
      if (!items.has(id))
        items.set(id, {key: id, box: true, lane: item.lane, layer: '', name: item.layer,
                       members: [], kind: ''});
      items.get(id).members.push(item);
    }
    for (const item of items.values()) {
      if (!item.box) continue;
      item.w = Math.max(120, item.name.length * 7.4 + 24);
      item.h = kNodeHeight;
      const kinds = new Set(item.members.map((member) => member.kind));
      item.kind = kinds.size === 1 ? [...kinds][0] : [...kinds].some((k) => k) ? 'changed' : '';
    }
    const folded = new Map();
    for (const edge of edges) {
      const from = boxOf.get(edge.from), to = boxOf.get(edge.to), id = `${from}>${to}`;
      if (from === to) continue;
      const known = folded.get(id);
      folded.set(id, {...edge, from, to, gone: known ? known.gone && edge.gone : edge.gone,
                      carried: known ? known.carried && edge.carried : edge.carried});
    }
    return {items, edges: [...folded.values()], change};
  }

  // A view costs nothing, and is drawn as a line without a name.
  const {isView} = Model;

  function sizeOf({key, node}) {
    if (isView(key)) return {w: Math.max(60, (node.op.length + shape(node).length) * 6.4 + 24), h: 20};
    const top = node.op.length * 7.6 + 14 + shape(node).length * 6.3;
    return {w: Math.max(84, top + 16, shortName(node).length * 6.1 + 16), h: kNodeHeight};
  }

  // --- Places ---

  // Lays out the nodes of one layer in a frame of their own.
  function layOutLayer(members, edges) {
    const index = new Map(members.map((item, i) => [item.key, i]));
    const inner = edges.filter((e) => index.has(e.from) && index.has(e.to) && !e.carried);
    const result = Layout.layered(members, inner.map((e) => [index.get(e.from), index.get(e.to)]));
    members.forEach((item, i) => { item.local = result.places[i]; });
    inner.forEach((edge, i) => { edge.local = result.routes[i]; });
    return {w: result.width + 2 * kPad, h: result.height + kPad + kHead};
  }

  function layOutLane(items, edges, wide) {
    const units = [], unitOf = new Map(), byLayer = new Map();
    // In the order of the graph, which is topological.
    for (const item of items) {
      const unit = byLayer.get(item.layer) || {items: [], layer: item.layer};
      if (!unit.items.length) units.push(unit);
      if (item.layer) byLayer.set(item.layer, unit);
      unit.items.push(item);
      unitOf.set(item.key, units.indexOf(unit));
    }
    for (const unit of units)
      Object.assign(unit, unit.layer ? layOutLayer(unit.items, edges)
                                     : {w: unit.items[0].w, h: unit.items[0].h});
    const between = new Map(), scopeOf = new Map(items.map((item) => [item.key, item]));
    for (const edge of edges) {
      const from = unitOf.get(edge.from), to = unitOf.get(edge.to);
      if (from === undefined || to === undefined || from === to || edge.carried) continue;
      // An edge to a sink, the next value of a state, would close a cycle with the state's layer.
      const end = scopeOf.get(edge.to);
      if (end.layer && end.node && !end.node.results.length) continue;
      const id = `${from}>${to}`;
      if (!between.has(id)) between.set(id, {from, to, edges: []});
      between.get(id).edges.push(edge);
    }
    const links = [...between.values()];
    const result = Layout.layered(units, links.map(({from, to}) => [from, to]),
                                  {straight: true, wide});
    units.forEach((unit, i) => {
      unit.x = result.places[i].x - unit.w / 2;
      unit.y = result.places[i].y;
    });
    return {units, width: result.width, height: result.height};
  }

  function build() {
    const {items, edges, change} = fold(collect());
    const built = {items, edges, change, lanes: [], layers: []};
    const membersOf = (name) => [...items.values()].filter((item) => item.lane === name);
    // The lanes of source and step are side by side below the lane of load.
    let x = 0;
    const below = kLanes.slice(1).map((name) => ({name, members: membersOf(name)}))
        .filter(({members}) => members.length);
    for (const one of below) Object.assign(one, {lane: layOutLane(one.members, edges, 900), x});
    for (const one of below) {
      one.x = x;
      x += Math.max(one.lane.width, 150) + 2 * kPad + kLaneGap;
    }
    const total = Math.max(x - kLaneGap, 700), atLoad = membersOf('load');
    let y = 0;
    if (atLoad.length) {
      const lane = layOutLane(atLoad, edges, total - 2 * kPad);
      place(built, {name: 'load', members: atLoad, lane, x: 0}, 0, total);
      y = lane.height + kLaneHead + kPad + kLaneGap;
    }
    for (const one of below)
      place(built, one, y, Math.max(one.lane.width, 150) + 2 * kPad);
    built.width = Math.max(...built.lanes.map((lane) => lane.x + lane.w), 1);
    built.height = Math.max(...built.lanes.map((lane) => lane.y + lane.h), 1);
    return built;
  }

  // Moves a lane's layout to the position of the lane.
  function place(built, {name, members, lane, x}, y, width) {
    built.lanes.push({name, x, y, w: width, h: lane.height + kLaneHead + kPad,
                      count: members.length});
    for (const unit of lane.units) {
      unit.x += x + kPad;
      unit.y += y + kLaneHead;
      if (unit.layer)
        built.layers.push({name: unit.layer, x: unit.x, y: unit.y, w: unit.w, h: unit.h});
      for (const item of unit.items) {
        item.x = unit.layer ? unit.x + kPad + item.local.x : unit.x + unit.w / 2;
        item.y = unit.layer ? unit.y + kHead + item.local.y : unit.y;
        item.unit = unit;
      }
    }
  }

  function pathOf(edge) {
    const from = scene.items.get(edge.from), to = scene.items.get(edge.to);
    if (from.lane !== to.lane && from.lane !== 'load') {
      const start = [from.x + from.w / 2, from.y + from.h / 2];
      const end = [to.x - to.w / 2, to.y + to.h / 2], middle = (start[0] + end[0]) / 2;
      return `M${start} C${middle},${start[1]} ${middle},${end[1]} ${end}`;
    }
    if (edge.carried || from.y + from.h > to.y) {
      const side = Math.max(from.x + from.w / 2, to.x + to.w / 2) + 26;
      return `M${from.x + from.w / 2},${from.y + from.h / 2} C${side},${from.y} ` +
          `${side},${to.y} ${to.x + to.w / 2},${to.y + to.h / 2}`;
    }
    const points = [[from.x, from.y + from.h]];
    if (edge.local) {
      const {x, y} = from.unit;
      points.push(...edge.local.map(([px, py]) => [px + x + kPad, py + y + kHead]));
    }
    points.push([to.x, to.y]);
    let path = `M${points[0]}`;
    for (let i = 1; i < points.length; ++i) {
      const [ax, ay] = points[i - 1], [bx, by] = points[i];
      if (ax === bx) path += ` L${bx},${by}`;
      else path += ` C${ax},${(ay + by) / 2} ${bx},${(ay + by) / 2} ${bx},${by}`;
    }
    return path;
  }

  // --- Drawing ---

  function drawNode(item) {
    const classes = ['node', item.kind];
    const group = svg('g', {transform: `translate(${item.x - item.w / 2},${item.y})`});
    const rect = svg('rect', {width: item.w, height: item.h, rx: 5});
    group.append(rect);
    if (item.box) {
      classes.push('box');
      group.append(svg('text', {class: 'op', x: 8, y: 14}, item.name),
                   svg('text', {class: 'name', x: 8, y: 27}, `${item.members.length} nodes`));
    } else {
      if (item.node.stored) classes.push('stored');
      else if (isView(item.key)) classes.push('view');
      group.append(svg('text', {class: 'op', x: 8, y: 14}, item.node.op),
                   svg('text', {class: 'type', x: item.w - 8, y: 14, 'text-anchor': 'end'},
                       shape(item.node)));
      if (item.h > 20)
        group.append(svg('text', {class: 'name', x: 8, y: 27}, shortName(item.node)));
    }
    const share = item.box ? item.members.reduce((sum, m) => sum + heatOf(m.key), 0)
                           : heatOf(item.key);
    if ($('show-heat').checked && item.kind !== 'removed') {
      rect.style.fill = heatColor(share);
      if (share >= 0.001)
        group.append(svg('text', {class: 'heat', x: item.w - 8, y: 28},
                         `${(100 * share).toFixed(1)} %`));
    }
    group.setAttribute('class', classes.filter(Boolean).join(' '));
    group.dataset.key = item.key;
    group.append(svg('title', {}, item.box ? `${item.name}: double-click to expand`
                                           : `${item.node.name} : ${Model.types(item.node)}`));
    return group;
  }

  function drawScene() {
    scene = build();
    const world = $('world'), edges = svg('g'), nodes = svg('g');
    world.replaceChildren();
    for (const lane of scene.lanes)
      world.append(svg('g', {class: 'lane'},
          svg('rect', {x: lane.x, y: lane.y, width: lane.w, height: lane.h, rx: 10}),
          svg('text', {x: lane.x + kPad, y: lane.y + 20}, lane.name),
          svg('text', {class: 'note', x: lane.x + kPad, y: lane.y + 36}, kLaneNotes[lane.name])));
    for (const layer of scene.layers) {
      const title = svg('text', {x: layer.x + 8, y: layer.y + 14}, `▾ ${layer.name}`);
      title.dataset.layer = layer.name;
      world.append(svg('g', {class: 'layer'},
          svg('rect', {x: layer.x, y: layer.y, width: layer.w, height: layer.h, rx: 7}), title));
    }
    for (const edge of scene.edges) {
      const cross = scene.items.get(edge.from).lane !== scene.items.get(edge.to).lane;
      const path = svg('path', {d: pathOf(edge), 'marker-end': 'url(#arrow)', class:
          `edge${cross ? ' cross' : ''}${edge.carried ? ' carried' : ''}${edge.gone ? ' gone' : ''}`});
      path.dataset.from = edge.from;
      path.dataset.to = edge.to;
      edges.append(path);
    }
    for (const item of scene.items.values()) nodes.append(drawNode(item));
    world.append(edges, nodes);
    mark();
  }

  // Marks the selection and the results of the search in the drawing.
  function mark() {
    const query = state.query.toLowerCase();
    const fits = (item) => query && (item.box
        ? item.name.toLowerCase().includes(query) || item.members.some((m) => nodeFits(m.node, query))
        : nodeFits(item.node, query));
    let count = 0;
    for (const element of document.querySelectorAll('#world .node')) {
      const item = scene.items.get(element.dataset.key), match = fits(item);
      count += match ? 1 : 0;
      element.classList.toggle('match', Boolean(match));
      element.classList.toggle('dim', Boolean(query) && !match);
      element.classList.toggle('selected', item.key === state.selected);
    }
    for (const element of document.querySelectorAll('#world .edge'))
      element.classList.toggle('near', element.dataset.from === state.selected ||
                                           element.dataset.to === state.selected);
    $('matches').textContent = query ? `${count} found` : '';
  }

  const nodeFits = (node, query) =>
      [node.name, node.op, ...node.origins, ...node.rules, ...node.results.map((r) => r.type)]
          .some((text) => text.toLowerCase().includes(query));

  // --- Moving about ---

  function applyView() {
    const {x, y, scale} = state.view;
    $('world').setAttribute('transform', `translate(${x},${y}) scale(${scale})`);
    $('world').classList.toggle('far', scale < 0.55);
  }

  function fit() {
    const box = $('canvas').getBoundingClientRect();
    const scale = Math.min(box.width / (scene.width + 40), box.height / (scene.height + 40), 1.2);
    state.view = {scale, x: (box.width - scene.width * scale) / 2,
                  y: Math.max(12, (box.height - scene.height * scale) / 2)};
    state.fitted = true;
    applyView();
  }

  function center(key) {
    const item = scene.items.get(key);
    if (!item) return;
    const box = $('canvas').getBoundingClientRect(), scale = Math.max(state.view.scale, 0.8);
    state.view = {scale, x: box.width / 2 - item.x * scale,
                  y: box.height / 2 - (item.y + item.h / 2) * scale};
    state.fitted = false;
    applyView();
  }

  function zoom(factor, x, y) {
    const view = state.view, scale = Math.min(3, Math.max(0.05, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    state.fitted = false;
    applyView();
  }

  // --- Actions ---

  function select(key) {
    state.selected = key;
    mark();
    Panels.showDetails(key);
  }

  // Selects a node: opens its layer, and goes to a stage that has the node.
  function go(key) {
    const has = (stage) => stage.nodes.has(key);
    if (!has(stageNow()) && !scene.items.has(key)) {
      const at = Model.stages.map(has).lastIndexOf(true);
      if (at < 0) return;
      setStage(at);
    }
    const node = (stageNow().nodes.get(key) || {layer: ''});
    if (node.stored && !$('show-stored').checked) {
      $('show-stored').checked = true;
      drawScene();
    }
    if (isView(key) && !$('show-views').checked) {
      $('show-views').checked = true;
      drawScene();
    }
    if (state.collapsed.delete(node.layer)) drawScene();
    select(key);
    center(key);
  }

  function setStage(index) {
    state.stage = Math.max(0, Math.min(Model.stages.length - 1, index));
    $('slider').value = state.stage;
    document.querySelectorAll('#stages button').forEach((button, i) =>
        button.classList.toggle('here', i === state.stage));
    const before = state.selected && scene && scene.items.get(state.selected);
    const place = before && [before.x, before.y];
    drawScene();
    // The selected node keeps its position on the screen.
    const after = state.selected && scene.items.get(state.selected);
    if (state.fitted) {
      fit();
    } else if (place && after) {
      state.view.x += (place[0] - after.x) * state.view.scale;
      state.view.y += (place[1] - after.y) * state.view.scale;
      applyView();
    }
    Panels.showDetails(state.selected);
  }

  function layerNames() {
    const names = new Set();
    for (const {layer} of collect().nodes.values()) if (layer) names.add(layer);
    return names;
  }

  function toggleLayer(name, closed) {
    if (closed) state.collapsed.add(name);
    else state.collapsed.delete(name);
    drawScene();
  }

  function collapseAll(closed) {
    state.collapsed = closed ? layerNames() : new Set();
    drawScene();
    fit();
  }

  function search(query) {
    state.query = query.trim();
    mark();
  }

  function nextMatch() {
    const found = [...document.querySelectorAll('#world .node.match')].map((e) => e.dataset.key);
    if (!found.length) return;
    const at = found.indexOf(state.selected);
    select(found[(at + 1) % found.length]);
    center(state.selected);
  }

  function listen() {
    const canvas = $('canvas');
    let drag = null, moved = false;
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      drag = [event.clientX, event.clientY];
      moved = false;
    });
    window.addEventListener('pointermove', (event) => {
      if (!drag) return;
      const [dx, dy] = [event.clientX - drag[0], event.clientY - drag[1]];
      if (!moved && Math.abs(dx) + Math.abs(dy) < 4) return;
      moved = true;
      canvas.classList.add('panning');
      state.view.x += dx;
      state.view.y += dy;
      drag = [event.clientX, event.clientY];
      state.fitted = false;
      applyView();
    });
    window.addEventListener('pointerup', () => {
      drag = null;
      canvas.classList.remove('panning');
    });
    canvas.addEventListener('click', (event) => {
      if (moved) return;
      if (event.target.dataset.layer) return toggleLayer(event.target.dataset.layer, true);
      const node = event.target.closest('.node');
      select(node ? node.dataset.key : null);
    });
    canvas.addEventListener('dblclick', (event) => {
      const node = event.target.closest('.node');
      const item = node && scene.items.get(node.dataset.key);
      if (item && item.box) toggleLayer(item.name, false);
    });
    $('slider').addEventListener('input', () => setStage(Number($('slider').value)));
    $('search').addEventListener('input', () => search($('search').value));
    $('search').addEventListener('keydown', (event) => {
      if (event.key === 'Enter') nextMatch();
    });
    for (const id of ['show-diff', 'base', 'show-stored', 'show-views', 'show-heat'])
      $(id).addEventListener('change', () => setStage(state.stage));
    $('collapse').addEventListener('click', () => collapseAll(true));
    $('expand').addEventListener('click', () => collapseAll(false));
    $('fit').addEventListener('click', fit);
    window.addEventListener('resize', () => state.fitted && fit());
    window.addEventListener('keydown', (event) => {
      if (event.target.tagName === 'INPUT' && event.target.type === 'search') return;
      if (event.key === '/') {
        event.preventDefault();
        $('search').focus();
      }
      if (event.target.tagName === 'INPUT') return;
      if (event.key === 'ArrowRight') setStage(state.stage + 1);
      if (event.key === 'ArrowLeft') setStage(state.stage - 1);
      if (event.key === 'f') fit();
      if (event.key === 'Escape') select(null);
    });
  }

  function start() {
    Panels.start();
    listen();
    setStage(state.stage);
  }

  return {start, state, html, svg, go, select, setStage, stageNow, stageBefore, shownKinds, collapseAll,
          toggleLayer, search, nextMatch, zoom, fit, scene: () => scene};
})();
