// Opened with #selftest, the page performs a user's actions, measures what is drawn, and writes the
// results.

const Selftest = (() => {
  const $ = (id) => document.getElementById(id);
  const nodes = () => [...document.querySelectorAll('#world .node')];
  const failures = [];
  let checks = 0;

  function expect(condition, what) {
    ++checks;
    if (!condition && failures.length < 20) failures.push(what);
  }
  const click = (element, type = 'click') =>
      element.dispatchEvent(new MouseEvent(type, {bubbles: true}));
  const press = (key) => window.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  function change(id, value) {
    $(id).value = value;
    $(id).dispatchEvent(new Event('change'));
  }

  // --- What is seen ---

  const inside = (inner, outer, slack) => inner.left >= outer.left - slack && inner.right <= outer.right + slack &&
      inner.top >= outer.top - slack && inner.bottom <= outer.bottom + slack;
  const overlap = (a, b) => a.x < b.x + b.w - 0.5 && b.x < a.x + a.w - 0.5 && a.y < b.y + b.h - 0.5 &&
      b.y < a.y + a.h - 0.5;

  // Boxes lie apart, texts inside their boxes, and all inside the window if it fits.
  function geometry(where, fitted) {
    const {boxes, lanes, frames} = View.scene(), canvas = $('canvas').getBoundingClientRect();
    const sorted = boxes.slice().sort((a, b) => a.x - b.x);
    for (let i = 0; i < sorted.length; ++i)
      for (let k = i + 1; k < sorted.length && sorted[k].x < sorted[i].x + sorted[i].w; ++k)
        expect(!overlap(sorted[i], sorted[k]), `${where}: ${sorted[i].id} overlaps ${sorted[k].id}`);
    for (const [i, lane] of lanes.entries())
      for (const other of lanes.slice(i + 1))
        expect(!overlap(lane, other), `${where}: lane ${lane.id} overlaps ${other.id}`);
    for (const box of [...boxes, ...frames])
      expect(box.x >= box.parent.x && box.x + box.w <= box.parent.x + box.parent.w + 0.5 &&
             box.y + box.h <= box.parent.y + box.parent.h + 0.5, `${where}: ${box.id} leaves its frame`);
    for (const element of nodes().slice(0, 400)) {
      const body = element.querySelector('.body').getBBox();
      let free = body.x;
      for (const text of element.querySelectorAll('text')) {
        const {x, width} = text.getBBox();
        expect(!width || (x >= body.x && x + width <= body.x + body.width + 0.5),
               `${where}: “${text.textContent}” leaves its box`);
        if (text.classList.contains('type') && width) expect(x > free, `${where}: texts of ${element.dataset.id} meet`);
        if (!text.classList.contains('type')) free = x + width;
      }
    }
    if (fitted)
      for (const lane of document.querySelectorAll('#world .lane > rect'))
        expect(inside(lane.getBoundingClientRect(), canvas, 1), `${where}: a lane is cut off`);
    for (const element of document.querySelectorAll('#world [d], #world [transform]'))
      expect(!/NaN|undefined/.test((element.getAttribute('d') || '') + (element.getAttribute('transform') || '')),
             `${where}: a place is no number`);
  }

  // The parts of the page lie inside the window, beside each other.
  function frame() {
    const parts = ['header', 'nav', '#tools', '#stageboard', 'aside'].map((name) => [name,
        document.querySelector(name).getBoundingClientRect()]);
    for (const [name, box] of parts) {
      expect(box.left >= -1 && box.right <= innerWidth + 1 && box.top >= -1 && box.bottom <= innerHeight + 1,
             `${name} leaves the window`);
      for (const child of document.querySelectorAll(`${name} button, ${name} select, ${name} input`)) {
        const own = child.getBoundingClientRect();
        expect(!own.width || inside(own, box, 2) || name === 'aside', `${child.id} leaves ${name}`);
      }
    }
    const heads = parts.slice(0, 3).reduce((sum, [, box]) => sum + box.height, 0);
    expect(heads < (innerWidth > 900 ? 120 : 240), `the head is ${heads} pixels high`);
    expect(document.documentElement.scrollWidth <= innerWidth, 'the page is wider than the window');
  }

  // --- Actions ---

  function stages() {
    for (let i = 0; i < Model.stages.length; ++i) {
      $('slider').value = i;
      $('slider').dispatchEvent(new Event('input'));
      const {boxOf, change: changes} = View.scene(), stage = Model.stages[i];
      for (const key of Model.shown(stage, {stored: false, views: false}))
        expect(boxOf.has(key), `stage ${stage.name} lacks ${key}`);
      const expected = Model.compare(stage, stage.pass ? Model.stages[i - 1] : null,
                                     {stored: false, views: false});
      for (const kind of ['added', 'removed', 'changed'])
        expect(changes[kind].size === expected[kind].size, `stage ${stage.name} shows what is ${kind}`);
      geometry(stage.name, true);
      for (const name of stage.pass ? [stage.name, stage.pass] : [stage.name])
        expect(Model.findStage(name.replaceAll('_', '-')) >= i, `the name ${name} finds a stage`);
    }
  }

  function search() {
    const wanted = [...Model.stages.at(-1).nodes.values()].find((n) => !n.stored && !n.of && !Model.isView(n.key));
    if (!wanted) return;
    $('search').value = wanted.name;
    $('search').dispatchEvent(new Event('input'));
    expect(document.querySelectorAll('#world .node.match').length > 0, 'search finds a node');
    $('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
    expect(View.state.selected !== null, 'Enter selects a node');
    $('search').value = '';
    $('search').dispatchEvent(new Event('input'));
    expect(document.querySelectorAll('#world .node.match').length === 0, 'search ends');
    press('c');
  }

  function selection() {
    const key = [...Model.shown(View.stageNow(), {stored: false, views: false})][0];
    View.go(key);
    const node = View.stageNow().nodes.get(key), text = $('details').textContent;
    expect(text.includes(node.name) && text.includes(node.op), 'details name the node');
    expect(document.querySelectorAll('#world .node.selected').length === 1, 'one node is selected');
    expect(Model.findNode(node.name, View.stageNow()) !== null, 'a node is found by its name');
    press('Escape');
    expect(View.state.selected === null, 'Escape selects nothing');
    press('c');
  }

  function opening() {
    const closed = document.querySelectorAll('#world .node.box');
    const before = nodes().length;
    if (closed.length) {
      click(closed[0], 'dblclick');
      expect(nodes().length > before || View.scene().frames.length > 0, 'a box opens');
      geometry('opened', View.state.fitted);
      const title = document.querySelector('#world text.frame');
      click(title);
      expect(nodes().length === before, 'a frame closes');
    }
    press('e');
    expect(!document.querySelector('#world .node.box'), 'all layers open');
    geometry('expanded', true);
    const mark = document.querySelector('#world [data-open]');
    if (mark) {
      click(mark);
      expect(document.querySelectorAll('#world .node.inner').length > 1, 'a fused node shows its raw nodes');
      geometry('fused open', View.state.fitted);
    }
    press('c');
    expect(nodes().length === before, 'all layers close');
  }

  function colours() {
    for (const colour of Panels.colours()) {
      change('colour', colour);
      geometry(colour, true);
      expect($('legend').textContent.length > 0, `${colour} has a legend`);
    }
    change('colour', '');
    for (const tab of $('tabs').children) {
      click(tab);
      expect($('details').textContent.length > 0, `the tab ${tab.textContent} has a text`);
      expect(!/undefined|NaN|Infinity/.test($('details').textContent), `${tab.textContent} has numbers`);
      expect($('details').scrollWidth <= $('details').clientWidth + 1, `${tab.textContent} is cut off`);
    }
    click($('tabs').children[0]);
  }

  function moving() {
    const transform = () => $('world').getAttribute('transform');
    const first = transform();
    $('canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: -300, clientX: 200, clientY: 300,
                                                       bubbles: true, cancelable: true}));
    const zoomed = transform();
    expect(zoomed !== first, 'the wheel zooms');
    const pointer = (type, x) => new PointerEvent(type, {clientX: x, clientY: 300, pointerId: 1, bubbles: true});
    $('canvas').dispatchEvent(pointer('pointerdown', 200));
    window.dispatchEvent(pointer('pointermove', 260));
    window.dispatchEvent(pointer('pointerup', 260));
    expect(transform() !== zoomed, 'dragging pans');
    press('f');
    geometry('fitted', true);
  }

  function rest() {
    press('?');
    expect($('help').open, 'help opens');
    $('help').close();
    const saved = Drawing.exportSvg($('canvas'), View.scene());
    expect(new DOMParser().parseFromString(saved, 'image/svg+xml').querySelectorAll('.node').length === nodes().length,
           'the saved drawing has all nodes');
    View.restore({...Address.read(), problems: ['none such']});
    expect(!$('notice').hidden, 'problems are told');
  }

  function run() {
    const times = [];
    for (const test of [frame, stages, search, selection, opening, colours, moving, rest]) {
      const start = performance.now();
      try {
        test();
      } catch (error) {
        failures.push(String(error && error.stack));
      }
      times.push(`${test.name} ${Math.round(performance.now() - start)} ms`);
    }
    const verdict = failures.length ? `FAILED: ${failures.join('; ')}`
                                    : `selftest passed: ${checks} checks`;
    document.body.append(Format.html('pre', {id: 'selftest', hidden: '', 'data-times': times.join(', ')}, verdict));
  }

  return {run};
})();
