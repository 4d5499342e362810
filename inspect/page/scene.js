// Places of a tree's nodes and the paths of their edges.

const Scene = (() => {
  const kPad = 12, kHead = 22, kLaneGap = 26, kLaneHead = 44, kStripe = 5;

  function shape(node) {
    if (!node.results.length) return '';
    const {domain, dims} = node.results[0];
    return Format.clip(`${domain}${domain && dims.length ? ' × ' : ''}${dims.join('×')}`, 26);
  }

  function shortName({node, layer}) {
    const name = Model.nameOf(node);
    return Format.clip(layer && name.startsWith(layer + '.') ? name.slice(layer.length + 1) : name, 30);
  }

  // The two lines of a box.
  function labelsOf(box) {
    if (!box.kind || box.kind === 'fused') {
      const {item} = box;
      return {title: item.node.op, type: shape(item.node), note: shortName(item)};
    }
    const signs = {added: '+', removed: '−', changed: '±'};
    const changes = Model.changeCounts(box.members).map(([change, n]) => `${signs[change]}${n}`);
    const done = changes.length ? [changes.join(' ')]
                                : Model.kindCounts(box.members).map(([kind, n]) => `${n} ${kind}`);
    return {title: box.times ? `${box.title}  (${box.times}×)` : box.title, type: '',
            note: [Format.count(box.members.length, 'node'), ...done].join(' · ')};
  }

  function setSize(box) {
    box.labels = labelsOf(box);
    const {title, type, note} = box.labels;
    const top = Format.width(title, box.kind ? 'title' : 'op') + (type ? 14 + Format.width(type, 'type') : 0);
    const badge = box.canOpen ? 16 : 0;
    box.w = Math.ceil(Math.max(box.kind ? 130 : 84, top + 18, Format.width(note, 'name') + 18 + badge + 46));
    box.h = 36 + kStripe;
  }

  // Lays out the children of an open group, in its own coordinates.
  function layOut(group, edges, wide) {
    for (const child of group.children)
      if (child.open) layOut(child, edges, wide);
      else setSize(child);
    const index = new Map(group.children.map((child, i) => [child, i]));
    const inner = edges.filter((edge) => edge.parent === group && !edge.carried);
    const result = Layout.layered(group.children,
        inner.map((edge) => [index.get(edge.ends[0]), index.get(edge.ends[1])]), {wide});
    const head = group.kind === 'lane' ? kLaneHead : kHead;
    let title = Format.width(group.title, group.kind === 'lane' ? 'lane' : 'title') + 40;
    if (group.kind === 'fused') {
      group.labels = labelsOf(group);
      title = Format.width(`${group.labels.title} · ${group.labels.note}`, 'title') + 40;
    }
    group.w = Math.max(result.width, title, group.kind === 'lane' ? 190 : 0) + 2 * kPad;
    group.h = result.height + head + kPad;
    const left = (group.w - result.width) / 2;
    group.children.forEach((child, i) => {
      child.dx = result.places[i].x - child.w / 2 + left;
      child.dy = result.places[i].y + head;
    });
    inner.forEach((edge, i) => {
      edge.route = result.routes[i].map(([x, y]) => [x + left, y + head]);
    });
  }

  function moveTo(box, x, y) {
    Object.assign(box, {x, y});
    for (const child of (box.open && box.children) || []) moveTo(child, x + child.dx, y + child.dy);
  }

  function link(lanes) {
    const boxOf = new Map();
    const visit = (box, parent) => {
      box.parent = parent;
      if (box.open) box.children.forEach((child) => visit(child, box));
      if (box.kind === 'fused') boxOf.set(box.key, box);
      // Raw nodes inside a fused node may have keys of nodes that are still there.
      else if (!box.open && !(parent && parent.kind === 'fused'))
        for (const item of box.members) boxOf.set(item.key, box);
    };
    lanes.forEach((lane) => visit(lane, null));
    return boxOf;
  }

  const pathTo = (box) => (box.parent ? [...pathTo(box.parent), box] : [box]);

  // Edges between visible boxes; `parent` is the group in whose layout an edge takes part, between
  // its children `ends`. Without a parent an edge crosses lanes.
  function lift(edges, boxOf, lanes) {
    const lifted = new Map();
    const add = (from, to, edge) => {
      if (!from || !to || from === to) return;
      const id = `${from.id}>${to.id}`, known = lifted.get(id);
      if (known) {
        known.carried = known.carried && edge.carried;
        known.gone = known.gone && edge.gone;
        return;
      }
      const [a, b] = [pathTo(from), pathTo(to)];
      let at = 0;
      while (a[at] === b[at] && a[at]) ++at;
      // An edge into an open fused node ends at its frame.
      if (at > 0 && (!a[at] || !b[at])) return;
      lifted.set(id, {from, to, carried: edge.carried, gone: edge.gone,
                      parent: at ? a[at - 1] : null, ends: [a[at], b[at]]});
    };
    for (const edge of edges) add(boxOf.get(edge.from), boxOf.get(edge.to), edge);
    for (const fused of Tree.groups(lanes).filter((box) => box.kind === 'fused')) {
      const inside = new Map(fused.children.map((child) => [child.key, child]));
      for (const edge of Model.edgesOf(Model.raw, new Set(inside.keys())))
        add(inside.get(edge.from), inside.get(edge.to), edge);
    }
    return [...lifted.values()];
  }

  // Ways to put lanes beside and below each other: rows of columns of names.
  const kArrangements = [
    [['load', 'source', 'step']], [['load'], ['source', 'step']], [['load'], ['source'], ['step']],
    [['load', 'source'], ['step']],
  ];

  function arrange(lanes, rows) {
    const named = new Map(lanes.map((lane) => [lane.id, lane])), places = [];
    let y = 0, width = 0;
    for (const row of rows) {
      let x = 0, height = 0;
      for (const lane of row.map((name) => named.get(name)).filter(Boolean)) {
        places.push([lane, x, y]);
        x += lane.w + kLaneGap;
        height = Math.max(height, lane.h);
      }
      if (!x) continue;
      width = Math.max(width, x - kLaneGap);
      y += height + kLaneGap;
    }
    return {places, width, height: y - kLaneGap};
  }

  // The scene of a tree in a window of `space` (w, h): the arrangement that can be shown largest.
  function build(lanes, edges, space) {
    const boxOf = link(lanes), lifted = lift(edges, boxOf, lanes);
    let best = null;
    for (const wide of [420, 760, 1300]) {
      for (const lane of lanes) layOut(lane, lifted, wide);
      for (const rows of kArrangements) {
        const {places, width, height} = arrange(lanes, rows);
        const scale = Math.min(space.w / width, space.h / height);
        if (!best || scale > best.scale + 0.01) best = {scale, wide, rows};
      }
    }
    for (const lane of lanes) layOut(lane, lifted, best.wide);
    const {places, width, height} = arrange(lanes, best.rows);
    for (const [lane, x, y] of places) moveTo(lane, x, y);
    for (const edge of lifted) edge.points = pointsOf(edge);
    const boxes = [];
    const visit = (box) => {
      if (box.open) box.children.forEach(visit);
      else boxes.push(box);
    };
    lanes.forEach(visit);
    return {lanes, boxes, boxOf, edges: lifted, width, height,
            frames: Tree.groups(lanes).filter((box) => box.open && box.kind !== 'lane')};
  }

  function pointsOf(edge) {
    const {from, to, parent} = edge;
    const points = [[from.x + from.w / 2, from.y + from.h]];
    if (parent && edge.route) {
      const [a, b] = edge.ends, ahead = a.y + a.h <= b.y;
      if (ahead && a !== from) points.push([points[0][0], a.y + a.h]);
      if (ahead) points.push(...edge.route.map(([x, y]) => [x + parent.x, y + parent.y]));
      if (ahead && b !== to) points.push([to.x + to.w / 2, b.y]);
    }
    points.push([to.x + to.w / 2, to.y]);
    return points;
  }

  function pathOf(edge) {
    const {from, to, points} = edge;
    if (!edge.parent && (from.x + from.w < to.x || to.x + to.w < from.x)) {
      const right = from.x + from.w < to.x;
      const start = [right ? from.x + from.w : from.x, from.y + from.h / 2];
      const end = [right ? to.x : to.x + to.w, to.y + to.h / 2], middle = (start[0] + end[0]) / 2;
      return `M${start} C${middle},${start[1]} ${middle},${end[1]} ${end}`;
    }
    if (edge.carried || from.y + from.h > to.y) {
      const side = Math.max(from.x + from.w, to.x + to.w) + 8;
      return `M${from.x + from.w},${from.y + from.h / 2} C${side},${from.y + from.h / 2} ` +
          `${side},${to.y + to.h / 2} ${to.x + to.w},${to.y + to.h / 2}`;
    }
    let path = `M${points[0]}`;
    for (let i = 1; i < points.length; ++i) {
      const [ax, ay] = points[i - 1], [bx, by] = points[i];
      if (Math.abs(ax - bx) < 0.5 || Math.abs(by - ay) < 0.5) path += ` L${bx},${by}`;
      else path += ` C${ax},${(ay + by) / 2} ${bx},${(ay + by) / 2} ${bx},${by}`;
    }
    return path;
  }

  return {build, pathOf, kHead, kPad, kStripe};
})();
