// The panels around the graph: figures, stages, legend, and the details beside it.

const Panels = (() => {
  const $ = (id) => document.getElementById(id);
  const {html, scaled, percent, count, words} = Format;
  const kTabs = [['overview', 'Overview'], ['pass', 'Pass'], ['costs', 'Costs'], ['node', 'Node']];
  const kKindNames = {fused: 'fused from several nodes', moved: 'moved to other rows',
                      precomputed: 'precomputed at load'};
  const kChangeNames = {added: 'new', removed: 'gone', changed: 'other operands'};
  let tab = 'overview';

  const link = (key, text) => html('a', {class: 'node', href: '#', onclick: (event) => {
    event.preventDefault();
    View.go(key);
  }}, text);
  function linkTo(key) {
    const node = View.stageNow().nodes.get(key) ||
        Model.stages.map((stage) => stage.nodes.get(key)).filter(Boolean).pop();
    return link(key, node ? `${node.name} (${node.op})` : key);
  }
  const bar = (share, kind = '') => html('span', {class: 'bar'},
      html('i', {class: kind, style: `width: ${Math.max(0.5, 100 * share).toFixed(1)}%`}));

  // --- Head, stages, legend ---

  const colours = () => ['kinds', 'changes', 'flop', 'bytes', ...(Model.data.profile ? ['time'] : [])];
  const kColourNames = {kinds: 'what was done', changes: 'changes', flop: 'FLOP', bytes: 'traffic',
                        time: 'measured time'};

  function startHead() {
    const {data, stages} = Model;
    $('title').textContent = data.graph || 'graph';
    $('title').title = data.model;
    if (data.summary) {
      const {before, after} = data.summary;
      const change = (program, figure, unit) => before[program][figure] > 0
          ? `${scaled(before[program][figure], unit)} → ${scaled(after[program][figure], unit)}` : '';
      const facts = [[change('step', 'kernels', ''), 'kernels a step'],
                     [change('step', 'flop', 'FLOP'), ''],
                     [change('step', 'bytes', 'B'), 'of traffic for all steps of a sentence']];
      const program = before.step.nodes > 0 ? 'step' : 'source';
      if (program === 'source')
        facts.splice(0, 3, [change('source', 'kernels', ''), 'kernels a batch'],
                     [change('source', 'flop', 'FLOP'), ''], [change('source', 'bytes', 'B'), 'of traffic']);
      $('figures').append(...facts.filter(([text]) => text).flatMap(([text, what], i) =>
          [i ? ' · ' : '', html('b', {}, text), what ? ` ${what}` : '']));
    }
    $('slider').max = stages.length - 1;
    stages.forEach((stage, i) => {
      const change = Model.compare(stage, stages[i - 1], {stored: false, views: true});
      const acted = change.added.size || change.removed.size;
      const text = `${i}/${stages.length - 1}  ${words(stage.name)}` +
          (acted ? `  +${change.added.size} −${change.removed.size}` : '');
      $('stage').append(html('option', {value: i}, text));
      $('ticks').append(html('i', {class: stage.changed || !stage.pass ? 'acted' : '', title: text}));
    });
    for (const colour of ['', ...colours()])
      $('colour').append(html('option', {value: colour}, colour ? kColourNames[colour] : 'automatic'));
  }

  function reasonOf(stage) {
    if (stage.planned) return 'The programs as they run, each node with its kernel.';
    if (!stage.pass) return 'The graph as the model gives it, with what a search needs behind it.';
    return (stage.changed ? '' : 'Changed nothing. ') + (stage.reason || '');
  }

  function showStage() {
    const {state} = View, stage = View.stageNow();
    document.body.dataset.stage = stage.name;
    $('slider').value = state.stage;
    $('stage').value = state.stage;
    $('reason').textContent = reasonOf(stage);
    $('reason').title = reasonOf(stage);
    $('colour').value = state.colour;
    $('base').value = state.base;
    $('stored').checked = state.stored;
    $('views').checked = state.views;
    showLegend();
    showTab();
  }

  function showLegend() {
    const colour = View.colourNow(), {scene} = View, {change} = scene();
    $('base-label').hidden = colour !== 'changes';
    const entry = (kind, text) => html('span', {class: `entry ${kind}`}, html('i', {}), text);
    let entries;
    if (colour === 'kinds') {
      const counts = new Map();
      for (const lane of scene().lanes)
        for (const [kind, n] of Model.kindCounts(lane.members)) counts.set(kind, (counts.get(kind) || 0) + n);
      entries = Model.kKinds.map((kind) => entry(kind, `${counts.get(kind) || 0} ${kKindNames[kind]}`));
      entries.push(entry('plain', 'as written'));
    } else if (colour === 'changes') {
      entries = Object.entries(kChangeNames).map(([kind, text]) =>
          entry(kind, `${change[kind].size} ${text}`));
    } else {
      const unit = {flop: 'share of all FLOP', bytes: 'share of all bytes', time: 'share of measured time'};
      entries = [html('span', {class: 'scale'}), ` ${unit[colour]}, at load and at run time apart`];
    }
    $('legend').replaceChildren(...entries);
  }

  // --- Overview ---

  const kFigures = [
    ['step', 'kernels', ''], ['step', 'nodes', ''], ['step', 'flop', 'FLOP'], ['step', 'bytes', 'B'],
    ['step', 'weights', 'B'], ['step', 'arena', 'B'], ['source', 'kernels', ''], ['source', 'flop', 'FLOP'],
    ['source', 'bytes', 'B'], ['load', 'flop', 'FLOP'],
  ];
  const kFigureNames = {flop: 'work', bytes: 'traffic', arena: 'memory'};

  function figures(summary) {
    const table = html('table', {class: 'figures'}, html('tr', {}, ...['', 'raw', 'optimized', '']
        .map((text) => html('th', {}, text))));
    for (const [program, figure, unit] of kFigures) {
      const before = summary.before[program][figure], after = summary.after[program][figure];
      if (!before && !after) continue;
      const gain = before > 0 && after > 0 ? before / after : 0;
      const ratio = !gain || Math.abs(gain - 1) < 0.005 ? '' :
          gain > 1 ? `÷ ${Number(gain.toPrecision(3))}` : `× ${Number((1 / gain).toPrecision(3))}`;
      table.append(html('tr', {}, html('td', {}, `${program}: ${kFigureNames[figure] || figure}`),
          html('td', {}, scaled(before, unit)),
          html('td', {class: 'now'}, scaled(after, unit)),
          html('td', {class: gain > 1 ? 'gain' : 'loss'}, ratio)));
    }
    return table;
  }

  function workloadText({source_length: source, target_length: steps, beam, batch}) {
    return `Work and traffic of a sentence of ${source} words with ${steps} steps and a beam of ${beam}, ` +
        `in batches of ${batch}. Views, which cost nothing, are nodes too.`;
  }

  function grouped(ops) {
    const counts = new Map();
    for (const op of ops) counts.set(op, (counts.get(op) || 0) + 1);
    return [...counts].map(([op, n]) => (n > 1 ? `${n} ${op}` : op)).join(' + ');
  }

  // Equal findings in equal layers are one line: names that differ in numbers alone.
  function merged(entries) {
    const groups = new Map();
    for (const entry of entries) {
      const id = `${entry.name.replace(/\d+/g, '#')} ${entry.note}`;
      if (!groups.has(id)) groups.set(id, []);
      groups.get(id).push(entry);
    }
    return [...groups.values()].map((all) => ({...all[0], times: all.length}));
  }

  function finding(kind, entries) {
    const lines = merged(entries).map(({key, name, note, times}) => html('li', {}, link(key, name),
        times > 1 ? html('b', {}, ` (${times}×)`) : null, html('div', {class: 'soft'}, note)));
    return html('details', {class: `finding ${kind}`, open: lines.length > 0 && lines.length <= 12},
                html('summary', {}, html('i', {}), html('b', {}, String(entries.length)),
                     ` ${kKindNames[kind]}`), html('ul', {}, ...lines));
  }

  function findings({fusions, moves}) {
    const toLoad = moves.filter((m) => m.to_time === 'load' && m.from_time !== 'load');
    const others = moves.filter((m) => !toLoad.includes(m));
    return [
      finding('fused', fusions.map((f) => ({key: f.key, name: `${f.op} ${f.node}`,
          note: `← ${grouped(f.ops)} · ${f.rules.map(words).join(', ')}`}))),
      finding('moved', others.map((m) => ({key: m.key, name: `${m.op} ${m.node}`,
          note: `${m.from} → ${m.to}: ` + (m.rows_before === m.rows_after ? 'all in one run'
              : `${scaled(m.rows_before)} → ${scaled(m.rows_after)} rows a sentence`) +
              ` · ${m.rules.map(words).join(', ')}`}))),
      finding('precomputed', toLoad.map((m) => ({key: m.key, name: `${m.op} ${m.node}`,
          note: `${m.from} → ${m.to || 'once'} · ${m.rules.map(words).join(', ')}`}))),
    ];
  }

  function overview() {
    const {summary, model} = Model.data, parts = [];
    if (model) parts.push(html('p', {class: 'soft path'}, model));
    if (summary)
      parts.push(figures(summary), html('p', {class: 'soft'}, workloadText(summary.workload)));
    parts.push(html('h3', {}, 'What costs most, of source and step'), Costs.table(3),
               html('p', {}, html('a', {href: '#', onclick: (event) => {
                 event.preventDefault();
                 open('costs');
               }}, 'All nodes and the roofline')));
    if (summary) parts.push(html('h3', {}, 'What the optimizer did'), ...findings(summary));
    return parts;
  }

  // --- A pass ---

  const lines = (texts, kind) => texts.map((text) => html('div', {class: 'code ' + kind}, text));

  function stageDetails() {
    const stage = View.stageNow(), parts = [html('h2', {}, words(stage.name)),
                                           html('p', {}, reasonOf(stage))];
    const rules = Object.entries(stage.rewrites);
    if (rules.length)
      parts.push(html('h3', {}, 'Rewrites'), html('table', {}, ...rules.map(([rule, n]) =>
          html('tr', {}, html('td', {}, `${n} ×`), html('td', {}, words(rule))))));
    for (const r of Model.data.rewrites.filter((rewrite) => rewrite.stage === stage.name))
      parts.push(html('div', {class: 'reason fired'}, html('b', {}, words(r.rule)), ' ',
          ...r.made.slice(0, 1).map(linkTo), ...lines(r.before, 'soft')));
    if (stage.not_allowed.length)
      parts.push(html('h3', {}, 'Not allowed'), html('p', {}, stage.not_allowed.map(words).join(', ')));
    if (stage.refusals.length) parts.push(html('h3', {}, 'Refused'));
    for (const r of stage.refusals)
      parts.push(html('div', {class: 'reason refused'}, html('b', {}, words(r.rule)), ' ',
          ...(r.nodes.length ? r.nodes.map(linkTo) : [r.where]), `: ${r.reason} (${r.guard})`));
    return parts;
  }

  // --- A node ---

  const row = (name, ...value) => html('tr', {}, html('td', {}, name), html('td', {}, ...value));

  function costRows(node) {
    const {flop, bytes, weight_bytes: weights, rows} = node.cost;
    if (!flop && !bytes && !weights) return [];
    return [row('cost', `${scaled(flop, 'FLOP')} and ${scaled(bytes, 'B')} a row, ` +
                    `${scaled(weights, 'B')} of weights`),
            row('in all', `${scaled(rows * flop, 'FLOP')} for ${scaled(rows)} rows ` +
                    (node.binding === 'load' ? 'at load' : 'a sentence'))];
  }

  function kernelRows(plan) {
    if (!plan || !plan.kernel) return [];
    const rows = [row('kernel', plan.launched === false ? 'none: a view, which readers look through'
                                                        : plan.kernel)];
    if (plan.time)
      rows.push(row('time', `${percent(plan.time.share)}, ` +
          `${(1e3 * plan.time.seconds).toFixed(2)} ms in ${plan.time.runs} runs`));
    return rows;
  }

  function reasons(key) {
    const rewrite = (r, verb, texts) => html('div', {class: 'reason fired'},
        html('b', {}, words(r.rule)), ` ${verb} in ${words(r.stage)}`, ...lines(texts, 'soft'));
    return [...Model.made(key).map((r) => rewrite(r, 'made it of', r.before)),
            ...Model.taken(key).map((r) => rewrite(r, 'took it and made', r.after)),
            ...Model.refusals(key).map((r) => html('div', {class: 'reason refused'},
                html('b', {}, words(r.rule)), ` refused in ${words(r.stage)}: ${r.reason} (${r.guard})`))];
  }

  function resultRows(node) {
    const many = node.results.length > 1;
    return node.results.map((result, i) => row(many ? `result ${i + 1}` : 'result',
        html('code', {}, many ? `${result.name} : ${result.type}` : result.type),
        html('div', {class: 'soft'}, result.domain ? `one for each row of ${result.domain}` : 'one value')));
  }

  function nodeDetails(key, stage) {
    const node = stage.nodes.get(key), tag = (kind, text) => html('span', {class: 'tag ' + kind}, text);
    const tags = [tag('', node.binding), ...(node.layer ? [tag('', node.layer)] : []),
                  ...Model.kindsOf(stage, key).map((kind) => tag(kind, kind))];
    const table = html('table', {class: 'facts'}, row('op', html('b', {}, node.op), ' ',
                                                      html('code', {}, node.attributes)),
                       ...resultRows(node), ...costRows(node), ...kernelRows(Model.plan(key)));
    if (node.location) table.append(row('defined', html('code', {}, node.location)));
    if (node.origins.length)
      table.append(row('stands for', node.origins.join(', ')),
                   row('made by', node.rules.map(words).join(', ')));
    const parts = [html('h2', {}, node.name), html('div', {}, ...tags), table];
    const list = (title, keys) => {
      if (keys.length)
        parts.push(html('h3', {}, title), html('ul', {}, ...keys.map((k) => html('li', {}, linkTo(k)))));
    };
    list('Operands', [...new Set(node.operands.map((o) => Model.source(stage, Model.keyOf(o))))]);
    list('Users', Model.usersOf(stage, key));
    const why = reasons(key);
    if (why.length) parts.push(html('h3', {}, 'Why'), ...why);
    return parts;
  }

  function groupDetails(box) {
    const title = box.times ? `${box.title} (${box.times}×)` : box.title;
    return [html('h2', {}, title), html('p', {}, count(box.members.length, 'node'),
                html('button', {class: 'inline', onclick: () => View.toggleGroup(box.id)},
                     box.open ? 'close' : 'open')),
            html('table', {class: 'facts'}, ...['flop', 'bytes'].map((figure) => row(
                figure === 'flop' ? 'FLOP' : 'traffic',
                scaled(box.members.reduce((sum, item) => sum + (item.change === 'removed' ? 0
                    : Model.costOf(item.stage, item.key)[figure]), 0),
                       figure === 'flop' ? 'FLOP' : 'B')))),
            html('ul', {}, ...box.members.map((m) => html('li', {}, linkTo(m.key))))];
  }

  function selectionDetails() {
    const id = View.state.selected, box = id && View.boxOf(id);
    if (box && box.kind && box.kind !== 'fused' && box.id === id) return groupDetails(box);
    const key = box && box.key && !View.stageNow().nodes.has(id) ? box.key : id;
    const home = [View.stageNow(), View.stageBefore(), Model.raw].find((stage) => stage && stage.nodes.has(key));
    if (home) return nodeDetails(key, home);
    return [html('p', {class: 'soft'}, 'Click a node or a layer to read about it.')];
  }

  // --- Tabs ---

  const kContents = {overview, pass: stageDetails, costs: () => Costs.all(), node: selectionDetails};

  function showTab() {
    $('details').replaceChildren(...kContents[tab]());
    for (const button of $('tabs').children)
      button.setAttribute('aria-selected', String(button.dataset.tab === tab));
  }

  function open(name) {
    tab = name;
    $('details').scrollTop = 0;
    showTab();
  }

  function showSelection() {
    if (View.state.selected) open('node');
    else if (tab === 'node') open('overview');
    else showTab();
  }

  function start() {
    startHead();
    for (const [name, title] of kTabs)
      $('tabs').append(html('button', {role: 'tab', 'data-tab': name, onclick: () => open(name)}, title));
  }

  return {start, showStage, showLegend, showSelection, open, link, bar, colours};
})();
