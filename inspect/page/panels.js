// The panels around the graph: the summary of the optimizer, the stages, and the details of a node.

const Panels = (() => {
  const $ = (id) => document.getElementById(id);
  const html = (...all) => View.html(...all);

  function number(value) {
    const units = ['', ' k', ' M', ' G', ' T'];
    let unit = 0;
    while (value >= 1000 && unit < 4) {
      value /= 1000;
      ++unit;
    }
    return (unit === 0 || value >= 100 ? value.toFixed(unit === 0 && value % 1 ? 1 : 0)
                                       : value.toPrecision(3)) + units[unit];
  }
  const count = (n, what, many = what + 's') => `${n} ${n === 1 ? what : many}`;

  function link(key, text) {
    return html('a', {class: 'node', onclick: () => View.go(key)}, text);
  }
  function linkTo(key) {
    const node = View.stageNow().nodes.get(key) ||
        Model.stages.map((stage) => stage.nodes.get(key)).filter(Boolean).pop();
    return link(key, node ? `${node.name} (${node.op})` : key);
  }

  // --- The top ---

  const kFigures = [
    ['step', 'kernels', 'kernels in a step', ''], ['step', 'nodes', 'nodes in a step', ''],
    ['step', 'flop', 'FLOP of the steps', ''], ['step', 'bytes', 'traffic of the steps', 'B'],
    ['source', 'flop', 'FLOP of the source', ''], ['load', 'flop', 'FLOP at load', ''],
    ['step', 'weights', 'weights of a step', 'B'],
  ];

  function figures(summary) {
    const table = html('table', {}, html('tr', {}, ...['', 'before', 'after', '']
        .map((text) => html('th', {}, text))));
    for (const [program, figure, name, unit] of kFigures) {
      const before = summary.before[program][figure], after = summary.after[program][figure];
      const gain = before > 0 && after > 0 ? before / after : 0;
      const ratio = !gain || Math.abs(gain - 1) < 0.005 ? '' :
          gain > 1 ? `÷ ${gain.toFixed(2)}` : `× ${(1 / gain).toFixed(2)}`;
      table.append(html('tr', {}, html('td', {}, name),
          html('td', {}, number(before) + unit), html('td', {class: 'now'}, number(after) + unit),
          html('td', {class: gain > 1 ? 'gain' : 'loss'}, ratio)));
    }
    const w = summary.workload;
    table.title = `For a sentence of ${w.source_length} words, ${w.target_length} steps and a ` +
        `beam of ${w.beam}, in batches of ${w.batch}`;
    return table;
  }

  function card(big, what, lines) {
    const list = html('ul');
    for (const line of lines) list.append(html('li', {}, ...line));
    return html('div', {class: 'card'}, html('b', {class: 'big'}, String(big)), ' ',
                html('span', {class: 'what'}, what), list);
  }

  function grouped(ops) {
    const counts = new Map();
    for (const op of ops) counts.set(op, (counts.get(op) || 0) + 1);
    return [...counts].map(([op, n]) => (n > 1 ? `${n} ${op}` : op)).join(' + ');
  }

  function findings(summary) {
    const {fusions, moves} = summary;
    const taken = fusions.reduce((sum, fusion) => sum + fusion.ops.length, 0);
    const toLoad = moves.filter((m) => m.to_time === 'load' && m.from_time !== 'load');
    const others = moves.filter((m) => !toLoad.includes(m));
    const line = (m, text) => [link(m.key, `${m.op} ${m.node}`),
                               html('div', {class: 'soft'}, text)];
    return [
      card(toLoad.length, 'moved to load time', toLoad.map((m) =>
          line(m, `${m.from} → ${m.to || 'once'} · ${m.rules.join(', ')}`))),
      card(others.length, 'moved to other rows', others.map((m) =>
          line(m, `${m.from} → ${m.to}: ` + (m.rows_before === m.rows_after ? 'all in one run'
              : `${number(m.rows_before)} → ${number(m.rows_after)} rows a sentence`) +
              ` · ${m.rules.join(', ')}`))),
      card(fusions.length, fusions.length ? `fused, of ${taken} nodes` : 'fused',
           fusions.map((f) => [link(f.key, `${f.op} ${f.node}`),
               html('div', {class: 'soft'}, `← ${grouped(f.ops)} · ${f.rules.join(', ')}`)])),
    ];
  }

  function startTop() {
    const {data} = Model;
    $('title').textContent = data.graph;
    $('subtitle').textContent = data.model;
    if (data.summary) {
      $('figures').append(figures(data.summary));
      $('findings').append(...findings(data.summary));
    }
    $('heat-label').hidden = !data.profile;
    $('show-heat').checked = Boolean(data.profile);
    $('slider').max = Model.stages.length - 1;
    // The ends of the slider are above the middles of the first and the last name.
    const half = 50 / Model.stages.length;
    $('slider').style.cssText = `margin: 0 calc(${half}% - 8px); width: calc(${100 - 2 * half}% + 16px)`;
    Model.stages.forEach((stage, i) => {
      const change = Model.compare(stage, Model.stages[i - 1], {stored: false, views: true});
      const button = html('button', {onclick: () => View.setStage(i)},
                          stage.name.replaceAll('_', ' '));
      if (change.added.size || change.removed.size)
        button.append(html('br'), html('span', {class: 'plus'}, `+${change.added.size}`), ' ',
                      html('span', {class: 'minus'}, `−${change.removed.size}`));
      if (stage.changed || !stage.pass) button.classList.add('acted');
      $('stages').append(button);
    });
  }

  // --- Details ---

  const row = (name, ...value) => html('tr', {}, html('td', {}, name), html('td', {}, ...value));
  const lines = (texts, kind) => texts.map((text) => html('div', {class: 'code ' + kind}, text));

  function costRows(node) {
    const {flop, bytes, weight_bytes: weights, rows} = node.cost;
    if (!flop && !bytes && !weights) return [];
    return [row('cost', `${number(flop)} FLOP and ${number(bytes)}B a row, ` +
                    `${number(weights)}B weights`),
            row('in all', `${number(rows * flop)} FLOP for ${number(rows)} rows ` +
                    (node.binding === 'load' ? 'at load' : 'a sentence'))];
  }

  function kernelRows(plan) {
    if (!plan || !plan.kernel) return [];
    const rows = [row('kernel', plan.kernel + (plan.launched === false ? ' (costs nothing)' : ''))];
    if (plan.time)
      rows.push(row('time', `${(100 * plan.time.share).toFixed(1)} %, ` +
          `${(1e3 * plan.time.seconds).toFixed(2)} ms in ${plan.time.runs} runs`));
    return rows;
  }

  function reasons(key) {
    const parts = [];
    const rewrite = (r, words, texts) => html('div', {class: 'reason fired'},
        html('b', {}, r.rule), ` ${words} in ${r.stage}`, ...lines(texts, 'soft'));
    for (const r of Model.made(key)) parts.push(rewrite(r, 'made it of', r.before));
    for (const r of Model.taken(key)) parts.push(rewrite(r, 'took it and made', r.after));
    for (const r of Model.refusals(key))
      parts.push(html('div', {class: 'reason refused'}, html('b', {}, r.rule),
                      ` refused in ${r.stage}: ${r.reason} (${r.guard})`));
    return parts;
  }

  function nodeDetails(key, stage) {
    const node = stage.nodes.get(key), plan = Model.plan(key);
    const tags = [html('span', {class: 'tag'}, node.binding)];
    if (node.layer) tags.push(html('span', {class: 'tag'}, node.layer));
    const change = View.scene().change;
    for (const kind of ['added', 'removed', 'changed'])
      if (change[kind].has(key)) tags.push(html('span', {class: 'tag ' + kind}, kind));
    const table = html('table', {}, row('op', html('b', {}, node.op), ' ',
                                        html('code', {}, node.attributes)));
    for (const result of node.results)
      table.append(row('result', html('code', {}, result.type)),
                   row('rows', result.domain ? `one for each row of ${result.domain}` : 'none'));
    table.append(row('known at', node.binding), ...costRows(node), ...kernelRows(plan));
    if (node.location) table.append(row('defined', html('code', {}, node.location)));
    if (node.origins.length)
      table.append(row('stands for', node.origins.join(', ')),
                   row('made by', node.rules.join(', ')));
    const parts = [html('h2', {}, node.name), html('div', {}, ...tags), table];
    const list = (title, keys) => {
      if (!keys.length) return;
      parts.push(html('h3', {}, title),
                 html('ul', {}, ...keys.map((k) => html('li', {}, linkTo(k)))));
    };
    list('Operands', node.operands.map((o) => Model.source(stage, Model.keyOf(o))));
    list('Users', Model.usersOf(stage, key));
    const why = reasons(key);
    if (why.length) parts.push(html('h3', {}, 'Reasons'), ...why);
    return parts;
  }

  function boxDetails(item) {
    return [html('h2', {}, item.name), html('p', {}, count(item.members.length, 'node')),
            html('p', {class: 'soft'}, 'Double-click the box to open the layer.'),
            html('ul', {}, ...item.members.map((m) => html('li', {}, linkTo(m.key))))];
  }

  // The kernels of the programs, in order, or the slowest first.
  function kernelLists() {
    const parts = [];
    for (const program of ['step', 'source', 'load']) {
      const nodes = [...Model.planned.nodes.values()].filter((node) =>
          node.program === program && node.launched);
      if (!nodes.length) continue;
      const share = (node) => (node.time ? node.time.share : 0);
      nodes.sort((a, b) => share(b) - share(a));
      const views = [...Model.planned.nodes.values()].filter((node) =>
          node.program === program && node.launched === false).length;
      parts.push(html('h3', {}, `${program}: ${count(nodes.length, 'kernel')}, ` +
                                count(views, 'view')),
          html('table', {}, ...nodes.map((node) => html('tr', {},
              html('td', {class: 'wide'}, link(node.key, node.name), html('div', {class: 'soft'},
                   `${node.op} · ${node.kernel.split(' ')[0]}`)),
              html('td', {class: 'share'},
                   node.time ? `${(100 * share(node)).toFixed(1)} %` : '')))));
    }
    return parts;
  }

  function legend() {
    const tag = (kind, text) => html('span', {class: 'tag ' + kind}, text);
    return html('p', {}, tag('added', 'added'), tag('removed', 'removed'),
                tag('changed', 'changed operands'), tag('', 'pale: a view, costs nothing'));
  }

  function stageDetails(stage) {
    const parts = [html('h2', {}, stage.name)];
    const change = View.scene().change, before = View.stageBefore();
    if (before)
      parts.push(html('p', {}, `Since ${before.name}: `,
          ...['added', 'removed', 'changed'].map((kind) =>
              html('span', {class: 'tag ' + kind}, `${change[kind].size} ${kind}`))));
    const kind = stage.pass ? (stage.changed ? 'The pass changed the graph.'
                                             : 'The pass changed nothing.')
        : stage.planned ? 'The graph cut into three programs, each node with its kernel.'
                        : 'The graph as the model gives it, with what a search needs behind it.';
    parts.push(html('p', {}, kind));
    const rules = Object.entries(stage.rewrites);
    if (rules.length)
      parts.push(html('h3', {}, 'Rewrites'), html('table', {},
          ...rules.map(([rule, n]) => row(`${n} ×`, rule))));
    const done = Model.data.rewrites.filter((r) => r.stage === stage.name);
    for (const r of done)
      parts.push(html('div', {class: 'reason fired'}, html('b', {}, r.rule), ' ',
          ...r.made.slice(0, 1).map(linkTo), ...lines(r.before, 'soft')));
    if (stage.not_allowed.length)
      parts.push(html('h3', {}, 'Not allowed'), html('p', {}, stage.not_allowed.join(', ')));
    if (stage.refusals.length) parts.push(html('h3', {}, 'Refused'));
    for (const r of stage.refusals)
      parts.push(html('div', {class: 'reason refused'}, html('b', {}, r.rule), ' ',
          ...(r.nodes.length ? r.nodes.map(linkTo) : [r.where]), `: ${r.reason} (${r.guard})`));
    if (stage.planned) parts.push(...kernelLists());
    parts.push(html('h3', {}, 'How to read'), legend(), html('p', {class: 'soft'},
        'Click a node. ← → move through the passes, / searches, f fits the graph into the window.'));
    return parts;
  }

  function showDetails(key) {
    const item = key && View.scene().items.get(key);
    const stage = View.stageNow(), before = View.stageBefore();
    const home = stage.nodes.has(key) ? stage : before && before.nodes.has(key) ? before : null;
    $('details').replaceChildren(...(item && item.box ? boxDetails(item)
        : home ? nodeDetails(key, home) : stageDetails(stage)));
  }

  return {start: startTop, showDetails};
})();
