// Layered layout of a directed graph: ranks by longest path, order by barycenters, columns by
// isotonic regression (Sugiyama's method).

const Layout = (() => {
  const kGapX = 16, kGapY = 22, kDummyGap = 10;

  // Indexes of the back edges of a depth-first search.
  function backEdges(count, edges) {
    const out = Array.from({length: count}, () => []);
    edges.forEach(([a], i) => out[a].push(i));
    const state = new Uint8Array(count), back = new Set();
    for (let root = 0; root < count; ++root) {
      if (state[root]) continue;
      const stack = [[root, 0]];
      state[root] = 1;
      while (stack.length) {
        const top = stack[stack.length - 1];
        if (top[1] === out[top[0]].length) {
          state[top[0]] = 2;
          stack.pop();
          continue;
        }
        const edge = out[top[0]][top[1]++], to = edges[edge][1];
        if (state[to] === 1) back.add(edge);
        if (state[to] === 0) {
          state[to] = 1;
          stack.push([to, 0]);
        }
      }
    }
    return back;
  }

  function rankNodes(count, edges) {
    const out = Array.from({length: count}, () => []), missing = new Int32Array(count);
    for (const [a, b] of edges) {
      out[a].push(b);
      ++missing[b];
    }
    const hasInput = missing.map((n) => n > 0), order = [], rank = new Int32Array(count);
    for (let i = 0; i < count; ++i) if (!missing[i]) order.push(i);
    for (let at = 0; at < order.length; ++at)
      for (const to of out[order[at]]) {
        rank[to] = Math.max(rank[to], rank[order[at]] + 1);
        if (--missing[to] === 0) order.push(to);
      }
    // An item without inputs goes directly above its first user.
    for (let at = order.length - 1; at >= 0; --at) {
      const i = order[at];
      if (!hasInput[i] && out[i].length) rank[i] = Math.min(...out[i].map((to) => rank[to])) - 1;
    }
    return rank;
  }

  // Adds an item for each rank that an edge passes, unless edges may go straight.
  function withDummies(nodes, edges, rank, straight) {
    const items = nodes.map((node, i) => ({w: node.w, h: node.h, rank: rank[i], up: [], down: []}));
    const chains = edges.map(([a, b]) => {
      const chain = [a];
      for (let r = rank[a] + 1; r < rank[b] && !straight; ++r) {
        items.push({w: 2, h: 0, rank: r, up: [], down: [], dummy: true});
        chain.push(items.length - 1);
      }
      chain.push(b);
      for (let i = 1; i < chain.length; ++i) {
        items[chain[i - 1]].down.push(chain[i]);
        items[chain[i]].up.push(chain[i - 1]);
      }
      return chain;
    });
    return {items, chains};
  }

  function crossings(items, ranks) {
    let total = 0;
    for (const row of ranks) {
      const ends = [];
      for (const i of row)
        ends.push(...items[i].down.map((to) => items[to].place).sort((a, b) => a - b));
      for (let i = 0; i < ends.length; ++i)
        for (let k = i + 1; k < ends.length; ++k) total += ends[i] > ends[k];
    }
    return total;
  }

  function orderRanks(items, ranks) {
    const place = () => ranks.forEach((row) => row.forEach((i, at) => { items[i].place = at; }));
    const keep = () => ranks.map((row) => row.slice());
    place();
    let best = keep(), least = crossings(items, ranks);
    for (let sweep = 0; sweep < 16 && least > 0; ++sweep) {
      const down = sweep % 2 === 0;
      for (const row of down ? ranks : ranks.slice().reverse()) {
        const weight = new Map(row.map((i) => {
          const next = down ? items[i].up : items[i].down;
          const sum = next.reduce((total, n) => total + items[n].place, 0);
          return [i, next.length ? sum / next.length : items[i].place];
        }));
        row.sort((a, b) => weight.get(a) - weight.get(b) || items[a].place - items[b].place);
        row.forEach((i, at) => { items[i].place = at; });
      }
      const now = crossings(items, ranks);
      if (now < least) {
        least = now;
        best = keep();
      }
    }
    ranks.forEach((row, r) => row.splice(0, row.length, ...best[r]));
    place();
  }

  // The positions nearest to `wanted` that keep order and distances (pool adjacent violators).
  function spread(row, items, wanted, weights) {
    const offsets = [];
    row.forEach((i, at) => {
      if (at === 0) return offsets.push(0);
      const left = items[row[at - 1]], gap = left.dummy || items[i].dummy ? kDummyGap : kGapX;
      offsets.push(offsets[at - 1] + left.w / 2 + gap + items[i].w / 2);
    });
    const blocks = [];
    row.forEach((_, at) => {
      let block = {sum: (wanted[at] - offsets[at]) * weights[at], weight: weights[at], count: 1};
      while (blocks.length) {
        const last = blocks[blocks.length - 1];
        if (last.sum / last.weight <= block.sum / block.weight) break;
        block = {sum: last.sum + block.sum, weight: last.weight + block.weight,
                 count: last.count + block.count};
        blocks.pop();
      }
      blocks.push(block);
    });
    let at = 0;
    for (const block of blocks)
      for (let i = 0; i < block.count; ++i, ++at)
        items[row[at]].x = block.sum / block.weight + offsets[at];
  }

  function placeColumns(items, ranks) {
    for (const row of ranks) spread(row, items, row.map(() => 0), row.map(() => 1));
    for (let sweep = 0; sweep < 24; ++sweep) {
      const down = sweep % 2 === 0;
      for (const row of down ? ranks : ranks.slice().reverse()) {
        const wanted = [], weights = [];
        for (const i of row) {
          const item = items[i];
          let next = sweep >= 20 ? item.up.concat(item.down) : down ? item.up : item.down;
          if (!next.length) next = item.up.concat(item.down);
          wanted.push(next.length ? next.reduce((sum, n) => sum + items[n].x, 0) / next.length
                                  : item.x);
          weights.push(item.dummy ? 4 : next.length ? 1 : 0.1);
        }
        spread(row, items, wanted, weights);
      }
    }
  }

  function placeRows(items, ranks) {
    let y = 0;
    for (const row of ranks) {
      const height = Math.max(0, ...row.map((i) => items[i].h));
      for (const i of row) {
        items[i].y = y + (height - items[i].h) / 2;
        items[i].top = y;
        items[i].bottom = y + height;
      }
      y += height + kGapY;
    }
    return Math.max(0, y - kGapY);
  }

  // Lays out one connected component.
  function layOutPart(nodes, edges, straight) {
    const back = backEdges(nodes.length, edges);
    const forward = edges.map(([a, b], i) => (back.has(i) ? [b, a] : [a, b]));
    const {items, chains} =
        withDummies(nodes, forward, rankNodes(nodes.length, forward), straight);
    const ranks = [];
    items.forEach((item, i) => (ranks[item.rank] = ranks[item.rank] || []).push(i));
    for (let r = 0; r < ranks.length; ++r) ranks[r] = ranks[r] || [];
    orderRanks(items, ranks);
    placeColumns(items, ranks);
    const height = placeRows(items, ranks);
    const left = Math.min(...items.map((item) => item.x - item.w / 2));
    const right = Math.max(...items.map((item) => item.x + item.w / 2));
    for (const item of items) item.x -= left;
    const routes = chains.map((chain, i) => {
      const points = [];
      for (const at of chain.slice(1, -1))
        points.push([items[at].x, items[at].top], [items[at].x, items[at].bottom]);
      return back.has(i) ? points.reverse() : points;
    });
    return {items, routes, width: right - left, height};
  }

  // Node indexes of each connected component.
  function partsOf(count, edges) {
    const part = Int32Array.from({length: count}, (_, i) => i);
    const find = (i) => {
      while (part[i] !== i) i = part[i] = part[part[i]];
      return i;
    };
    for (const [a, b] of edges) part[Math.max(find(a), find(b))] = Math.min(find(a), find(b));
    const parts = new Map();
    for (let i = 0; i < count; ++i) {
      if (!parts.has(find(i))) parts.set(find(i), []);
      parts.get(find(i)).push(i);
    }
    return [...parts.values()];
  }

  // nodes: [{w, h}], edges: [[from, to]] by index. Returns places (x of the middle, y of the top),
  // inner points of each edge, and the size. Connected components are placed in rows of about the
  // width `wide`. With `straight`, edges pass behind nodes instead of around them.
  function layered(nodes, edges, {straight = false, wide = 900} = {}) {
    const places = [], routes = edges.map(() => []);
    let x = 0, y = 0, rowHeight = 0, width = 0;
    for (const part of partsOf(nodes.length, edges)) {
      const local = new Map(part.map((node, i) => [node, i])), inner = [];
      edges.forEach(([a], i) => { if (local.has(a)) inner.push(i); });
      const result = layOutPart(part.map((i) => nodes[i]),
          inner.map((i) => edges[i].map((node) => local.get(node))), straight);
      if (x > 0 && x + result.width > wide) {
        x = 0;
        y += rowHeight + kGapY;
        rowHeight = 0;
      }
      part.forEach((node, i) => {
        places[node] = {x: result.items[i].x + x, y: result.items[i].y + y};
      });
      inner.forEach((edge, i) => {
        routes[edge] = result.routes[i].map(([px, py]) => [px + x, py + y]);
      });
      x += result.width + kGapX;
      width = Math.max(width, x - kGapX);
      rowHeight = Math.max(rowHeight, result.height);
    }
    return {places, routes, width, height: y + rowHeight};
  }

  return {layered};
})();
