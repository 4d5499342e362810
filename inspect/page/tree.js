// The drawn nodes of a stage as a tree: lanes, folds of equal layers, blocks, layers, nodes, and
// the raw nodes inside a fused node. Groups are open or closed; a closed one is a single box.

const Tree = (() => {
  const kLanes = ['load', 'source', 'step'];
  const kFewNodes = 24;  // so few are shown without boxes

  // "encoder_l1" for the layer "encoder_l1_self".
  const blockOf = (layer) => (/^.*?\d+/.exec(layer) || [layer])[0];

  const signature = (unit) => unit.items.map(({node, layer, change}) => [
    node.op, node.attributes, ...node.results.flatMap((r) => [r.domain, ...r.dims]),
    layer.slice(unit.name.length), change].join(' ')).join('\n');

  const leaf = (item, openFused) => {
    const raw = item.change === 'removed' ? [] : Model.rawInside(item.stage, item.node);
    const canOpen = raw.length > 1 && Model.kindsOf(item.stage, item.key).includes('fused');
    const node = {id: item.key, key: item.key, item, members: [item], canOpen, lane: item.lane};
    if (!canOpen || !openFused(item.key)) return node;
    const inside = raw.map((key) => {
      const inner = {key, node: Model.raw.nodes.get(key), stage: Model.raw, change: 'raw',
                     lane: item.lane, layer: ''};
      return {id: `${item.key}/${key}`, key, item: inner, members: [inner], lane: item.lane};
    });
    return {...node, kind: 'fused', open: true, children: inside};
  };

  function group(id, kind, title, items, children, open) {
    return {id, kind, title, members: items, lane: items[0].lane, open, children: open ? children() : []};
  }

  // The nodes of a layer; a single one stands for itself.
  function layerOf(id, title, items, isOpen, byDefault) {
    if (items.length === 1) return leaf(items[0], (key) => isOpen(`fused ${key}`, false));
    return group(id, 'layer', title, items,
                 () => items.map((item) => leaf(item, (key) => isOpen(`fused ${key}`, false))),
                 isOpen(id, byDefault));
  }

  // A unit is a layer, or a block of several layers with the same number.
  function unitOf(unit, isOpen, few) {
    const id = `${unit.lane} ${unit.name}`;
    const layers = [...new Set(unit.items.map((item) => item.layer))];
    if (layers.length === 1) return layerOf(id, layers[0], unit.items, isOpen, few);
    return group(id, 'block', unit.name, unit.items, () => layers.map((layer) => layerOf(
        `${unit.lane} ${layer}/`, layer, unit.items.filter((item) => item.layer === layer), isOpen,
        true)), isOpen(id, few));
  }

  // Runs of units whose names differ only in consecutive numbers and whose nodes are equal.
  function runsOf(units) {
    const runs = [], families = new Map();
    for (const unit of units) {
      const [, prefix, digits] = /^(.*?)(\d+)/.exec(unit.name) || [];
      const family = families.get(prefix), number = Number(digits);
      const last = family && family[family.length - 1];
      if (prefix !== undefined && last && last.number + 1 === number &&
          signature(last.unit) === signature(unit)) {
        last.run.push(unit);
        last.number = number;
        continue;
      }
      const run = [unit];
      runs.push(run);
      if (prefix !== undefined)
        families.set(prefix, [...(family || []), {unit, run, number}]);
    }
    return runs;
  }

  function laneOf(name, items, isOpen, few) {
    const units = new Map(), children = [];
    for (const item of items) {
      if (!item.layer) continue;
      const block = blockOf(item.layer);
      if (!units.has(block)) units.set(block, {name: block, lane: name, items: []});
      units.get(block).items.push(item);
    }
    for (const run of runsOf([...units.values()])) {
      const [first, last] = [run[0], run[run.length - 1]];
      if (run.length === 1) {
        children.push(unitOf(first, isOpen, few));
        continue;
      }
      const id = `${name} ${first.name} … ${last.name}`;
      children.push({...group(id, 'fold', `${first.name} … ${/\d+$/.exec(last.name)[0]}`,
          run.flatMap((unit) => unit.items), () => run.map((unit) => unitOf(unit, isOpen, few)),
          isOpen(id, false)), times: run.length});
    }
    for (const item of items)
      if (!item.layer) children.push(leaf(item, (key) => isOpen(`fused ${key}`, false)));
    // In the order of the graph, which is topological.
    const order = new Map(items.map((item, i) => [item.key, i]));
    children.sort((a, b) => order.get(a.members[0].key) - order.get(b.members[0].key));
    return {id: name, kind: 'lane', title: name, members: items, lane: name, open: true, children};
  }

  // `items`: {key, node, stage, lane, layer, change}; `isOpen(id, byDefault)`.
  function build(items, isOpen) {
    const few = items.length <= kFewNodes;
    return kLanes.map((name) => [name, items.filter((item) => item.lane === name)])
        .filter(([, members]) => members.length)
        .map(([name, members]) => laneOf(name, members, isOpen, few));
  }

  // All groups of a tree, parents before children.
  const groups = (nodes) => nodes.flatMap((node) =>
      node.kind ? [node, ...groups(node.children || [])] : []);

  return {build, groups};
})();
