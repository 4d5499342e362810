// The state of the page in its address, with the names of stages and nodes that the command takes:
// #stage=NAME&node=NAME&colour=flop&from=raw&show=weights,views&open=…

const Address = (() => {
  const known = ['stage', 'node', 'colour', 'from', 'show', 'open', 'selftest'];
  let last = '';

  function read() {
    const text = location.hash.slice(1), wanted = {problems: []};
    const entries = new URLSearchParams(text);
    for (const name of entries.keys())
      if (!known.includes(name))
        wanted.problems.push(`The address has “${name}”; it can have ${known.slice(0, -1).join(', ')}.`);
    if (entries.has('stage')) {
      const at = Model.findStage(entries.get('stage'));
      if (at >= 0) wanted.stage = at;
      else
        wanted.problems.push(`There is no stage “${entries.get('stage')}”. The stages are ` +
                             `${Model.stages.map((stage) => stage.name).join(', ')}.`);
    }
    if (entries.has('node')) {
      const stage = Model.stages[wanted.stage === undefined ? Model.stages.length - 1 : wanted.stage];
      wanted.node = Model.findNode(entries.get('node'), stage);
      if (!wanted.node)
        wanted.problems.push(`No stage has a node “${entries.get('node')}”. Search for part of its name.`);
    }
    if (entries.has('colour')) {
      if (Panels.colours().includes(entries.get('colour'))) wanted.colour = entries.get('colour');
      else
        wanted.problems.push(`There is no colour “${entries.get('colour')}”; it can be ` +
                             `${Panels.colours().join(', ')}.`);
    }
    if (entries.has('from')) wanted.base = entries.get('from') === 'raw' ? 'raw' : 'previous';
    const shown = (entries.get('show') || '').split(',');
    if (entries.has('show')) {
      wanted.stored = shown.includes('weights');
      wanted.views = shown.includes('views');
    }
    if (entries.has('open')) wanted.toggled = new Set(entries.get('open').split('|'));
    wanted.selftest = entries.has('selftest');
    return wanted;
  }

  function write(state) {
    const stage = Model.stages[state.stage], entries = new URLSearchParams();
    if (!stage.planned) entries.set('stage', stage.name);
    const node = state.selected && stage.nodes.get(state.selected);
    if (node) entries.set('node', node.name);
    if (state.colour) entries.set('colour', state.colour);
    if (state.base === 'raw') entries.set('from', 'raw');
    const shown = [['weights', state.stored], ['views', state.views]].filter(([, on]) => on);
    if (shown.length) entries.set('show', shown.map(([name]) => name).join());
    if (state.toggled.size) entries.set('open', [...state.toggled].join('|'));
    last = `#${entries}`;
    // A page inside another document has no address of its own.
    if (location.protocol !== 'about:')
      history.replaceState(null, '', last === '#' ? location.pathname + location.search : last);
  }

  function listen() {
    window.addEventListener('hashchange', () => {
      if (location.hash !== last) View.restore(read());
    });
  }

  return {read, write, listen};
})();
