// A scene as SVG elements.

const Drawing = (() => {
  const {svg} = Format;
  const kLaneNotes = {load: 'once, when the model is loaded', source: 'once for a batch',
                      step: 'at each decoding step'};

  // From the paper's colour to a strong one, for a share of all cost.
  function heat(share) {
    return `color-mix(in srgb, var(--heat) ${Math.round(90 * Math.min(1, Math.sqrt(share)))}%, var(--paper))`;
  }

  // A bar at the bottom of a box: a part for each kind, as wide as its share of the nodes.
  function stripe(box, counts) {
    const total = Math.max(box.members.length, counts.reduce((sum, [, n]) => sum + n, 0));
    let x = 0.5;
    return counts.map(([kind, n]) => {
      const width = (box.w - 1) * n / total, y = box.h - Scene.kStripe - 0.5;
      x += width;
      return svg('rect', {class: `stripe ${kind}`, x: x - width, y, width, height: Scene.kStripe});
    });
  }

  // `colour`: "kinds", "changes", "flop", "bytes" or "time"; `share(box)` for the latter three.
  function drawBox(box, colour, share) {
    const {title, type, note} = box.labels, single = !box.kind;
    const classes = ['node', single ? '' : `box ${box.kind}`];
    const rect = svg('rect', {class: 'body', width: box.w, height: box.h, rx: 5});
    const group = svg('g', {transform: `translate(${box.x},${box.y})`, tabindex: 0, role: 'button',
                            'data-id': box.id}, rect);
    if (single && box.item.node.stored) classes.push('stored');
    if (single && Model.isView(box.key)) classes.push('view');
    if (single && box.item.change === 'raw') classes.push('inner');
    if (share) {
      const part = share(box);
      rect.style.fill = heat(part);
      if (part >= 0.0005)
        group.append(svg('text', {class: 'share', x: box.w - (box.canOpen ? 22 : 9), y: 29,
                                  'text-anchor': 'end'}, Format.percent(part)));
    } else {
      const counts = colour === 'changes' ? Model.changeCounts(box.members)
                                          : Model.kindCounts(box.members);
      // A group has the colour of a kind that half of its nodes are of.
      const most = counts.find(([, n]) => 2 * n >= box.members.length);
      if (single ? counts.length : most) classes.push(`kind ${(most || counts[0])[0]}`);
      group.append(...stripe(box, counts));
    }
    group.append(svg('text', {class: single ? 'op' : 'title', x: 9, y: 15}, title),
                 svg('text', {class: 'type', x: box.w - 9, y: 15, 'text-anchor': 'end'}, type),
                 svg('text', {class: 'name', x: 9, y: 29}, note));
    if (box.canOpen) group.append(openMark(box));
    const counted = Model.kindCounts(box.members).map(([kind, n]) => (single ? kind : `${n} ${kind}`)).join(', ');
    const what = single ? `${box.item.node.name} : ${Model.types(box.item.node)}` : title;
    group.append(svg('title', {}, [what, counted, single && !box.canOpen ? '' : 'double-click to open']
        .filter(Boolean).join('\n')));
    group.setAttribute('class', classes.filter(Boolean).join(' '));
    group.setAttribute('aria-label', what);
    return group;
  }

  // A plus sign: a fused node opens to its raw nodes.
  function openMark(box) {
    const [x, y] = [box.w - 16, box.h - Scene.kStripe - 13];
    return svg('g', {class: 'open', 'data-open': `fused ${box.key}`},
               svg('rect', {x, y, width: 11, height: 11, rx: 2}),
               svg('path', {d: `M${x + 2.5},${y + 5.5} h6 M${x + 5.5},${y + 2.5} v6`}));
  }

  const drawFrame = (frame) => svg('rect', {class: `frame ${frame.kind}`, x: frame.x, y: frame.y,
                                            width: frame.w, height: frame.h, rx: 7});

  // Above the edges that enter the frame.
  function drawTitle(frame) {
    const fused = frame.kind === 'fused';
    const title = fused ? `${frame.labels.title} · ${frame.labels.note}` : frame.title;
    const text = svg('text', {class: `frame ${frame.kind}`, x: frame.x + 8, y: frame.y + 15, tabindex: 0,
                              role: 'button', 'data-close': fused ? `fused ${frame.key}` : frame.id},
                     `▾ ${title}`);
    text.append(svg('title', {}, 'click to close'));
    return text;
  }

  function drawLane(lane) {
    return svg('g', {class: 'lane'},
        svg('rect', {x: lane.x, y: lane.y, width: lane.w, height: lane.h, rx: 10}),
        svg('text', {x: lane.x + Scene.kPad, y: lane.y + 19}, lane.title),
        svg('text', {class: 'note', x: lane.x + Scene.kPad, y: lane.y + 35}, kLaneNotes[lane.id]));
  }

  function drawEdge(edge) {
    const kinds = [['cross', !edge.parent], ['of-load', !edge.parent && edge.from.lane === 'load'], ['carried', edge.carried], ['gone', edge.gone]];
    return svg('path', {d: Scene.pathOf(edge), 'data-from': edge.from.id, 'data-to': edge.to.id,
                        'marker-end': 'url(#arrow)',
                        class: ['edge', ...kinds.filter(([, is]) => is).map(([kind]) => kind)].join(' ')});
  }

  function draw(scene, colour, share) {
    const frames = scene.frames.slice().sort((a, b) => b.w * b.h - a.w * a.h);
    const inner = scene.edges.filter((edge) => edge.parent);
    return [
      svg('g', {}, ...scene.lanes.map(drawLane)),
      svg('g', {}, ...frames.map(drawFrame)),
      svg('g', {}, ...scene.edges.filter((edge) => !edge.parent).map(drawEdge)),
      svg('g', {}, ...inner.map(drawEdge)),
      svg('g', {}, ...frames.map(drawTitle)),
      svg('g', {}, ...scene.boxes.map((box) => drawBox(box, colour, share))),
    ];
  }

  // The drawing as a file of its own, with the page's colours.
  function exportSvg(canvas, scene) {
    const copy = canvas.cloneNode(true), style = getComputedStyle(document.documentElement);
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .map((rule) => rule.cssText).filter((text) => text.includes('#world') || text.includes('#arrow'));
    const colours = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => rule.selectorText === ':root').flatMap((rule) => [...rule.style])
        .filter((name) => name.startsWith('--'))
        .map((name) => `${name}: ${style.getPropertyValue(name)};`).join(' ');
    copy.querySelector('#world').removeAttribute('transform');
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('viewBox', `-12 -12 ${scene.width + 24} ${scene.height + 24}`);
    copy.setAttribute('width', scene.width + 24);
    copy.setAttribute('height', scene.height + 24);
    copy.prepend(svg('style', {}, `svg { ${colours} background: ${style.getPropertyValue('--ground')}; ` +
        `font-family: ${getComputedStyle(document.body).fontFamily}; } ${rules.join('\n')}`));
    return new XMLSerializer().serializeToString(copy);
  }

  return {draw, exportSvg};
})();
