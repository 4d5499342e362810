// Opened with #selftest, the page performs a user's actions and writes the results.

const Selftest = (() => {
  const $ = (id) => document.getElementById(id);
  const nodes = () => [...document.querySelectorAll('#world .node')];
  const failures = [];
  let checks = 0;

  function expect(condition, what) {
    ++checks;
    if (!condition) failures.push(what);
  }
  function click(element, type = 'click') {
    element.dispatchEvent(new MouseEvent(type, {bubbles: true}));
  }

  function slider() {
    for (let i = 0; i < Model.stages.length; ++i) {
      $('slider').value = i;
      $('slider').dispatchEvent(new Event('input'));
      const stage = Model.stages[i], drawn = new Set(nodes().map((e) => e.dataset.key));
      for (const key of Model.shown(stage, View.shownKinds()))
        expect(drawn.has(key), `stage ${stage.name} lacks ${key}`);
      const change = Model.compare(stage, Model.stages[i - 1], View.shownKinds());
      for (const kind of ['added', 'removed', 'changed'])
        expect(document.querySelectorAll(`#world .node.${kind}`).length === change[kind].size,
               `stage ${stage.name} colours what is ${kind}`);
    }
  }

  function search() {
    const some = Model.stages[0].nodes.values().next().value;
    const wanted = [...Model.stages.at(-1).nodes.values()].find((n) => !n.stored && !n.of) || some;
    $('search').value = wanted.name;
    $('search').dispatchEvent(new Event('input'));
    expect(document.querySelectorAll('#world .node.match').length > 0, 'search finds a node');
    $('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
    expect(View.state.selected !== null, 'Enter selects what is found');
    $('search').value = '';
    $('search').dispatchEvent(new Event('input'));
    expect(document.querySelectorAll('#world .node.match').length === 0, 'search ends');
  }

  function details() {
    const element = nodes()[0], node = View.stageNow().nodes.get(element.dataset.key);
    click(element);
    const text = $('details').textContent;
    expect(text.includes(node.name) && text.includes(node.op), 'details name the node');
    expect(text.includes('known at'), 'details tell the binding time');
    expect(element.classList.contains('selected'), 'a click selects');
    click($('canvas'));
    expect(View.state.selected === null, 'a click beside nodes selects none');
  }

  function layers() {
    const before = nodes().length;
    click($('collapse'));
    const boxes = document.querySelectorAll('#world .node.box');
    expect(!boxes.length || nodes().length < before, 'collapsed layers have fewer nodes');
    if (boxes.length) {
      click(boxes[0], 'dblclick');
      expect(document.querySelectorAll('#world .node.box').length < boxes.length, 'a box opens');
    }
    click($('expand'));
    expect(nodes().length === before, 'all layers open again');
  }

  function moving() {
    const transform = () => $('world').getAttribute('transform');
    const first = transform();
    $('canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: -300, clientX: 300, clientY: 400,
                                                       bubbles: true, cancelable: true}));
    const zoomed = transform();
    expect(zoomed !== first, 'the wheel zooms');
    const pointer = (type, x) => new PointerEvent(type, {clientX: x, clientY: 300, bubbles: true});
    $('canvas').dispatchEvent(pointer('pointerdown', 300));
    window.dispatchEvent(pointer('pointermove', 360));
    window.dispatchEvent(pointer('pointerup', 360));
    expect(transform() !== zoomed, 'dragging pans');
    click($('fit'));
  }

  function finite() {
    for (const element of document.querySelectorAll('#world [d], #world [transform]'))
      expect(!/NaN|undefined/.test((element.getAttribute('d') || '') +
                                   (element.getAttribute('transform') || '')), 'places are numbers');
  }

  function run() {
    try {
      for (const test of [slider, search, details, layers, moving, finite]) test();
    } catch (error) {
      failures.push(String(error && error.stack));
    }
    const verdict = failures.length ? `FAILED: ${failures.join('; ')}`
                                    : `selftest passed: ${checks} checks`;
    document.body.append(View.html('pre', {id: 'selftest', hidden: ''}, verdict));
  }

  return {run};
})();

// #stage=NAME opens a stage, #node=KEY a node.
window.addEventListener('load', () => {
  View.start();
  const [, what, value] = /^#(\w+)=?(.*)$/.exec(decodeURIComponent(location.hash)) || [];
  if (what === 'selftest') Selftest.run();
  if (what === 'stage') View.setStage(Model.stages.findIndex((stage) => stage.name === value));
  if (what === 'node') View.go(value);
});
