// Numbers as text, and elements.

const Format = (() => {
  // Three significant digits: "9.22 kB", "0 B", "634 M".
  function scaled(value, unit = '') {
    const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
    let at = 0;
    while (value >= 999.5 && at + 1 < prefixes.length) {
      value /= 1000;
      ++at;
    }
    const whole = at === 0 && Number.isInteger(value);
    const digits = whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return `${value.toFixed(digits)} ${prefixes[at]}${unit}`.trim();
  }

  const percent = (share) => `${(100 * share).toFixed(share >= 0.0995 ? 0 : 1)} %`;
  const count = (n, one, many = one + 's') => `${n} ${n === 1 ? one : many}`;
  const clip = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);
  // "merge common subexpressions 2" for "merge_common_subexpressions.2".
  const words = (name) => name.replaceAll('_', ' ').replace(/\.(\d+)$/, ' $1');

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes))
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) element.setAttribute(name, value === true ? '' : value);
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }
  const html = (tag, attributes = {}, ...children) =>
      fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
      fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

  // Width of a text in the drawing, in pixels at scale 1.
  const pen = document.createElement('canvas').getContext('2d');
  const kFonts = {title: '600 13px', op: '600 12px', name: '10.5px', type: '10.5px', lane: '600 15px'};
  const widths = new Map();
  function width(text, kind) {
    const key = `${kind}/${text}`;
    if (!widths.has(key)) {
      pen.font = `${kFonts[kind]} ${getComputedStyle(document.body).fontFamily}`;
      widths.set(key, pen.measureText(text).width);
    }
    return widths.get(key);
  }

  return {scaled, percent, count, clip, words, html, svg, width};
})();
