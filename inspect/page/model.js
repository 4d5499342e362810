// The data of the page: the dump's stages, their nodes, and the changes between them.

const Model = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const stages = data.stages.map((stage) => {
    const nodes = new Map();
    for (const i of stage.nodes) nodes.set(data.nodes[i].key, data.nodes[i]);
    return {...stage, nodes, planned: stage.name === 'planned'};
  });
  const raw = stages[0], planned = stages.find((stage) => stage.planned);

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
      const from = new Set(node.operands.flatMap((operand) => [...makers(stage, operand, keys)]));
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

  // --- What the optimizer made of the raw graph ---

  // Provenance has the names that values had in the raw graph.
  const rawByName = new Map();
  for (const [key, node] of raw.nodes)
    for (const name of [node.name, `${node.op}#${key.slice(1)}`])
      if (!rawByName.has(name)) rawByName.set(name, key);

  // Keys of the raw nodes that a node stands for; without stored values.
  const rawNodes = (node) => [...new Set(node.origins.map((name) => rawByName.get(name)))]
      .filter((key) => key && !raw.nodes.get(key).stored);

  // The raw nodes whose work a node does. It may stand for a product that is still a node of its
  // own: quantizing the operand of a product stems from it.
  const doneByStage = new Map();
  function rawInside(stage, node) {
    if (!doneByStage.has(stage)) {
      const owners = new Map();
      for (const other of stage.nodes.values())
        for (const key of rawNodes(other)) {
          const origin = raw.nodes.get(key);
          if (origin.op === other.op && origin.cost.weight_bytes > 0 && !other.of) owners.set(key, other.key);
        }
      doneByStage.set(stage, owners);
    }
    const owners = doneByStage.get(stage);
    return rawNodes(node).filter((key) => !owners.has(key) || owners.get(key) === node.key);
  }

  // The name of a node, or of the first node that it stands for.
  const nameOf = (node) => (node.name.includes('#') && node.origins.length ? node.origins[0] : node.name);

  const domainOf = (node) => (node.results.length ? node.results[0].domain : null);

  // "fused", "moved" (to other rows) and "precomputed" (moved to load time), as far as they apply.
  const kindsByStage = new Map(stages.map((stage) => [stage, new Map()]));
  function kindsOf(stage, key) {
    const known = kindsByStage.get(stage);
    if (!known.has(key)) known.set(key, findKinds(stage, stage.nodes.get(key)));
    return known.get(key);
  }
  function findKinds(stage, node) {
    const kinds = [];
    // Moving a node without arithmetic, such as a slice, gains nothing.
    if (!node || node.stored || !node.rules.length || node.cost.flop === 0) return kinds;
    const origins = rawNodes(node).map((key) => raw.nodes.get(key));
    if (!origins.length) return kinds;
    const ops = rawInside(stage, node).map((key) => raw.nodes.get(key).op);
    if (new Set(ops).size > 1) kinds.push('fused');
    if (origins.every((origin) => domainOf(origin) !== domainOf(node)))
      kinds.push(node.binding === 'load' && origins[0].binding !== 'load' ? 'precomputed' : 'moved');
    return kinds;
  }

  const kKinds = ['fused', 'moved', 'precomputed'];
  // The kinds of drawn nodes, each with the number of nodes.
  function kindCounts(items) {
    const counts = new Map(kKinds.map((kind) => [kind, 0]));
    for (const {stage, key, change} of items)
      if (change !== 'removed' && change !== 'raw')
        for (const kind of kindsOf(stage, key)) counts.set(kind, counts.get(kind) + 1);
    return [...counts].filter(([, n]) => n > 0);
  }

  const kChanges = ['added', 'removed', 'changed'];
  function changeCounts(items) {
    return kChanges.map((change) => [change, items.filter((item) => item.change === change).length])
        .filter(([, n]) => n > 0);
  }

  // FLOP and bytes for a sentence, at load in all; measured seconds.
  function costOf(stage, key) {
    const {flop, bytes, weight_bytes: weights, rows, weight_reads: reads = 0} =
        stage.nodes.get(key).cost;
    const {time} = plan(key) || {};
    return {flop: flop * rows, bytes: bytes * rows + weights * reads,
            time: time ? time.seconds : 0};
  }

  // The nodes of a stage that cost something at run time, or at load.
  function costly(stage, atLoad) {
    const keys = [];
    for (const [key, node] of stage.nodes)
      if (!node.of && !node.stored && !isView(key) && (node.binding === 'load') === atLoad)
        keys.push(key);
    return keys;
  }

  // --- Names, as the command takes them ---

  // The stage of a name: '-' is '_', and a pass without a number is its last run. -1: there is none.
  function findStage(name) {
    const wanted = name.replaceAll('-', '_');
    const exact = stages.findIndex((stage) => stage.name === wanted);
    if (exact >= 0) return exact;
    return stages.map((stage) => stage.pass || stage.name).lastIndexOf(wanted);
  }

  const fits = (node, name) => node.key === name || node.name === name || node.origins.includes(name) ||
      `${node.op}#${node.key.slice(1)}` === name || node.results.some((r) => r.name === name);

  // The key of a node in `stage`, or else in the last stage that has it; null: there is none.
  function findNode(name, stage) {
    for (const at of [stage, ...stages.slice().reverse()]) {
      const found = [...at.nodes.values()].filter((node) => !node.of && fits(node, name));
      // A name of the node itself goes before an origin's.
      const best = found.find((node) => node.name === name || node.key === name) || found[0];
      if (best) return best.key;
    }
    return null;
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

  // The lane of a drawn node: its binding time; for a stored value, its first user's.
  function laneOf(stage, key) {
    const node = stage.nodes.get(key);
    if (!node.stored) return node.binding;
    const user = usersOf(stage, key).map((k) => stage.nodes.get(k)).find((n) => !n.stored);
    return user ? user.binding : node.binding;
  }

  const types = (node) => node.results.map((result) => result.type).join(', ');

  return {data, stages, raw, planned, plan, isView, keyOf, source, shown, edgesOf, compare,
          usersOf, rawNodes, rawInside, nameOf, kKinds, kindsOf, kindCounts, changeCounts, costOf, costly, findStage, findNode, made, taken, refusals,
          laneOf, types};
})();
