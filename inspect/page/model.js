// The data of the page: the dump's stages, and the changes between them.

const Model = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const stages = data.stages.map((stage) => {
    const nodes = new Map();
    for (const i of stage.nodes) nodes.set(data.nodes[i].key, data.nodes[i]);
    return {...stage, nodes, planned: stage.name === 'planned'};
  });
  const planned = stages.find((stage) => stage.planned);

  const keyOf = (operand) => operand.split(':')[0];

  // The node that computes a value, also for a value that a program imports.
  function source(stage, key) {
    const node = stage.nodes.get(key);
    return node && node.of && stage.nodes.has(node.of) ? node.of : key;
  }

  // The node in the stage "planned", with kernel and time.
  const plan = (key) => (planned && planned.nodes.get(key)) || null;

  const isView = (key) => {
    const node = plan(key);
    return Boolean(node && node.launched === false);
  };

  // Keys of the drawn nodes: without copies and imports; stored values and views only on request.
  function shown(stage, {stored, views}) {
    const keys = new Set();
    for (const [key, node] of stage.nodes)
      if (!node.of && (stored || !node.stored) && (views || !isView(key))) keys.add(key);
    return keys;
  }

  // The drawn nodes that an operand comes from, through views that are not drawn.
  function makers(stage, key, keys, found = new Set()) {
    const maker = source(stage, keyOf(key));
    if (keys.has(maker)) return found.add(maker);
    const node = stage.nodes.get(maker);
    if (node && isView(maker)) node.operands.forEach((next) => makers(stage, next, keys, found));
    return found;
  }

  function edgesOf(stage, keys) {
    const edges = [];
    for (const key of keys) {
      const node = stage.nodes.get(key);
      if (!node) continue;
      // The first operand of a sink without results is the state that it continues.
      const carried = node.results.length ? null : source(stage, keyOf(node.operands[0] || ''));
      const from = new Set(node.operands.flatMap((operand) =>
          [...makers(stage, operand, keys)]));
      for (const operand of from) edges.push({from: operand, to: key, carried: operand === carried});
    }
    return edges;
  }

  const same = (a, b) => a.op === b.op && a.attributes === b.attributes &&
      a.operands.map(keyOf).map((k) => k.split('.')[0]).join() ===
          b.operands.map(keyOf).map((k) => k.split('.')[0]).join();

  // Keys of the drawn nodes that were added, removed or changed from `earlier` to `stage`.
  function compare(stage, earlier, options) {
    const change = {added: new Set(), removed: new Set(), changed: new Set()};
    if (!earlier || earlier === stage) return change;
    const now = shown(stage, options), before = shown(earlier, options);
    for (const key of now) {
      if (!before.has(key)) change.added.add(key);
      else if (!same(stage.nodes.get(key), earlier.nodes.get(key))) change.changed.add(key);
    }
    for (const key of before) if (!now.has(key)) change.removed.add(key);
    return change;
  }

  function usersOf(stage, key) {
    const users = [];
    for (const [user, node] of stage.nodes)
      if (!node.of && node.operands.some((operand) => source(stage, keyOf(operand)) === key))
        users.push(user);
    return users;
  }

  const made = (key) => data.rewrites.filter((r) => r.made.includes(key));
  const taken = (key) =>
      data.rewrites.filter((r) => r.matched.includes(key) && !r.made.includes(key));

  // Distinct refusals at a node, each with its first stage.
  function refusals(key) {
    const found = new Map();
    for (const stage of stages)
      for (const refusal of stage.refusals) {
        if (!refusal.nodes.includes(key)) continue;
        const id = `${refusal.rule} ${refusal.guard} ${refusal.reason}`;
        if (!found.has(id)) found.set(id, {...refusal, stage: stage.name});
      }
    return [...found.values()];
  }

  function layerOf(stage, key) {
    const node = stage.nodes.get(key);
    return node ? node.layer : '';
  }
  // The lane of a drawn node: its binding time; for a stored value, its first user's.
  function laneOf(stage, key) {
    const node = stage.nodes.get(key);
    if (!node.stored) return node.binding;
    const user = usersOf(stage, key).map((k) => stage.nodes.get(k)).find((n) => !n.stored);
    return user ? user.binding : node.binding;
  }

  const types = (node) => node.results.map((result) => result.type).join(', ');

  return {data, stages, planned, plan, isView, keyOf, source, shown, edgesOf, compare, usersOf, made, taken,
          refusals, layerOf, laneOf, types};
})();
