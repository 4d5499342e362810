// What nodes cost: a sorted table with bars, and a roofline.

const Costs = (() => {
  const {html, svg, scaled, percent} = Format;
  const kFigures = {flop: ['FLOP', 'FLOP'], bytes: ['traffic', 'B'], time: ['time', 's']};
  let figure = Model.data.profile ? 'time' : 'flop', atLoad = false;

  // The nodes of the stage that is shown, the most expensive first, with costs and shares.
  function rows(by = figure, load = atLoad) {
    const stage = View.stageNow();
    const all = Model.costly(stage, load).map((key) => ({key, node: stage.nodes.get(key),
                                                         cost: Model.costOf(stage, key)}));
    const total = all.reduce((sum, {cost}) => sum + cost[by], 0);
    for (const one of all) one.share = total ? one.cost[by] / total : 0;
    return all.sort((a, b) => b.cost[by] - a.cost[by]);
  }

  const text = (cost, by) => (by === 'time' ? `${(1e3 * cost.time).toFixed(2)} ms`
                                            : scaled(cost[by], kFigures[by][1]));

  // Rows whose ops are equal and whose names differ in numbers alone are one, with their sum.
  function merged(found) {
    const groups = new Map();
    for (const one of found) {
      const id = `${one.node.op} ${Model.nameOf(one.node).replace(/\d+/g, '#')}`;
      const group = groups.get(id);
      if (!group) groups.set(id, {...one, cost: {...one.cost}, times: 1});
      else {
        group.cost[figure] += one.cost[figure];
        group.share += one.share;
        ++group.times;
      }
    }
    return [...groups.values()].sort((a, b) => b.share - a.share);
  }

  // All nodes, or those that cost most, equal ones of equal layers together.
  function table(most) {
    const found = most ? merged(rows(figure, false)).slice(0, most) : rows();
    return html('table', {class: 'costs'}, ...found.map(({key, node, cost, share, times = 1}) => {
      const [kind = ''] = Model.kindsOf(View.stageNow(), key);
      return html('tr', {}, html('td', {}, Panels.link(key, Model.nameOf(node)),
                                 times > 1 ? html('b', {}, ` (${times}×)`) : null,
                                 html('div', {class: 'soft'}, node.op),
                                 Panels.bar(share, kind)),
                  html('td', {}, text(cost, figure), html('div', {class: 'soft'}, percent(share))));
    }));
  }

  // A row of buttons of which one is chosen.
  function choice(options, chosen, choose) {
    return html('div', {class: 'choice'}, ...Object.entries(options).map(([name, title]) =>
        html('button', {'aria-pressed': String(name === chosen), onclick: () => {
          choose(name);
          Panels.open('costs');
        }}, title)));
  }

  function all() {
    const figures = Object.fromEntries(Object.entries(kFigures)
        .filter(([name]) => name !== 'time' || Model.data.profile).map(([name, [title]]) => [name, title]));
    return [
      choice({run: 'source and step', load: 'load'}, atLoad ? 'load' : 'run', (name) => { atLoad = name === 'load'; }),
      choice(figures, figure, (name) => { figure = name; }),
      ...roofline(), html('h3', {}, 'Nodes'), table(),
    ];
  }

  // --- Roofline (Williams, Waterman and Patterson 2009) ---

  const kWidth = 300, kHeight = 190, kLeft = 40, kBottom = 26, kTop = 10, kRight = 8;

  function roofline() {
    const {target} = Model.data;
    if (!target) return [];
    const {flop_per_second: peak, bytes_per_second: speed} = target;
    const points = rows().filter(({cost}) => cost.flop > 0 && cost.bytes > 0).map((one) => {
      const intensity = one.cost.flop / one.cost.bytes, {time} = Model.plan(one.key) || {};
      const rate = time && time.rows ? time.rows * one.node.cost.flop / time.seconds : 0;
      return {...one, intensity, rate, roof: Math.min(peak, speed * intensity)};
    });
    if (!points.length) return [];
    const measured = points.some(({rate}) => rate > 0);
    const log = Math.log10, ridge = peak / speed;
    const xs = [...points.map((p) => p.intensity), ridge / 10, ridge * 10].map(log);
    const ys = [...points.map((p) => p.rate || p.roof), peak].map(log);
    const [x0, x1] = [Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs))];
    const [y0, y1] = [Math.floor(Math.min(...ys, log(peak) - 3)), Math.ceil(Math.max(...ys))];
    const x = (value) => kLeft + (log(value) - x0) / (x1 - x0) * (kWidth - kLeft - kRight);
    const y = (value) => kHeight - kBottom - (log(value) - y0) / (y1 - y0) * (kHeight - kBottom - kTop);
    const picture = svg('svg', {class: 'roofline', viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'img',
                                'aria-label': 'Roofline'});
    for (let i = x0; i <= x1; ++i)
      picture.append(svg('path', {class: 'grid', d: `M${x(10 ** i)},${kTop} V${kHeight - kBottom}`}),
                     svg('text', {x: x(10 ** i), y: kHeight - kBottom + 11, 'text-anchor': 'middle'},
                         10 ** i < 1 ? String(10 ** i) : scaled(10 ** i)));
    for (let i = y0; i <= y1; ++i)
      picture.append(svg('path', {class: 'grid', d: `M${kLeft},${y(10 ** i)} H${kWidth - kRight}`}),
                     svg('text', {x: kLeft - 4, y: y(10 ** i) + 3, 'text-anchor': 'end'}, scaled(10 ** i)));
    const left = Math.max(10 ** x0, 10 ** y0 / speed);
    picture.append(
        svg('path', {class: 'roof', d: `M${x(left)},${y(speed * left)} L${x(ridge)},${y(peak)} H${kWidth - kRight}`}),
        svg('text', {x: (kLeft + kWidth) / 2, y: kHeight - 3, 'text-anchor': 'middle'}, 'FLOP a byte'),
        svg('text', {x: kLeft + 2, y: kTop + 2}, 'FLOP/s'));
    for (const point of points) {
      const [kind = ''] = Model.kindsOf(View.stageNow(), point.key);
      const rate = point.rate || point.roof;
      const dot = svg('circle', {class: kind || 'plain', cx: x(point.intensity), cy: y(Math.max(rate, 10 ** y0)),
                                 r: 2.5 + 6 * Math.sqrt(point.share), onclick: () => View.go(point.key)});
      dot.append(svg('title', {}, `${Model.nameOf(point.node)} (${point.node.op})\n` +
          `${point.intensity.toPrecision(3)} FLOP a byte, ` +
          (point.rate ? `${scaled(point.rate, 'FLOP/s')}, ${percent(point.rate / point.roof)} of the roof`
                      : `roof ${scaled(point.roof, 'FLOP/s')}`)));
      picture.append(dot);
    }
    return [html('h3', {}, 'Roofline'), picture, html('p', {class: 'soft'}, (measured
        ? 'Measured rates. ' : 'Not measured, so each node lies on its roof; --profile measures. ') +
        `The roof is the cost model's: ${scaled(peak, 'FLOP/s')} and ${scaled(speed, 'B/s')}.`)];
  }

  return {table, all};
})();
