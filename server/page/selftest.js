// The page uses itself and tells what came of it; tests/server/page_test.sh reads it.
async function selfTest() {
  const failures = [];
  let checks = 0;
  const expect = (condition, text) => { ++checks; if (!condition) failures.push(text); };
  const until = async condition => {
    for (let i = 0; i < 200 && !condition(); ++i) await new Promise(done => setTimeout(done, 50));
    return condition();
  };
  const type = text => { at('text').value = text; at('text').dispatchEvent(new Event('input')); };
  type('Tom is my friend.');
  expect(await until(() => at('translation').value.includes('Tom')), 'a text is translated while one types');
  expect(!at('more').hidden && at('alternatives').children.length > 0, 'there are alternatives');
  expect(at('translation').lang === at('target').value, 'the translation has its language');
  await testWords(expect, until);
  type('I am tired.');
  translate();
  type('Tom is here.\n\nTom is there.');
  expect(await until(() => /\n\nTom/.test(at('translation').value)), 'lines stay');
  expect(!at('translation').classList.contains('busy'), 'an older request leaves no trace');
  const limit = settings.charLimit;
  if (limit > 0) {
    type('a'.repeat(limit + 1));
    expect(await until(() => at('state').classList.contains('bad')), 'a refusal is told');
  }
  at('clear').click();
  expect(at('translation').value === '' && at('text').value === '', 'the text is cleared');
  expect(document.activeElement === at('text'), 'the text has the focus again');
  expect(document.documentElement.scrollWidth <= innerWidth, 'nothing is wider than the window');
  for (const control of document.querySelectorAll('button, select, textarea, output, a:not([hidden])'))
    expect(control.tabIndex >= 0 && (control.textContent || control.ariaLabel || control.labels.length),
           `${control.id} can be reached and has a name`);
  for (const control of document.querySelectorAll('button, select')) {
    const box = control.getBoundingClientRect();
    expect(box.height >= 36 && box.right <= innerWidth, `${control.id} is large enough and in the window`);
  }
  for (const [one, other] of [['--ink', '--card'], ['--ink', '--lit'], ['--soft', '--card'], ['--accent', '--paper'], ['--bad', '--card']])
    expect(contrast(one, other) >= 4.5, `${one} can be read on ${other}: ${contrast(one, other)}`);
  const result = document.createElement('pre');
  result.id = 'selftest';
  result.textContent = failures.length ? `selftest failed: ${failures.join('; ')}` : `selftest passed: ${checks} checks`;
  document.body.append(result);
}

// The ratio of WCAG 2 for two colours of the page.
function contrast(...names) {
  const luminance = name => {
    const digits = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
    const wide = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
    const [red, green, blue] = [0, 2, 4].map(i => parseInt(wide.slice(i, i + 2), 16) / 255)
      .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, bright] = names.map(luminance).sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

// Of "Tom is my friend.": alternatives by pointer and by keys, and words that are lit together.
async function testWords(expect, until) {
  const words = () => [...at('translation').querySelectorAll('.word')];
  const press = (element, key) => element.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
  const filled = () => until(() => at('menu').querySelector('[role=menuitem]:not([aria-disabled])'));
  const first = at('translation').value;

  expect(words().filter(({tabIndex}) => tabIndex === 0).length === 1, 'one word is in the order of keys');
  words()[0].focus();
  press(words()[0], 'ArrowRight');
  expect(document.activeElement === words()[1], 'arrows go from word to word');
  press(words()[1], 'End');
  const last = words().at(-1);
  expect(document.activeElement === last, 'and to the end');
  press(last, 'Enter');
  expect(last.getAttribute('aria-expanded') === 'true' && !at('menu').hidden, 'Enter opens the menu');
  expect(await filled(), 'the menu has other words');
  expect(document.activeElement === at('menu').firstChild, 'the first has the focus');
  press(at('menu').firstChild, 'ArrowUp');
  expect(document.activeElement === at('menu').lastChild, 'arrows go round');
  const box = at('menu').getBoundingClientRect();
  expect(box.left >= 0 && box.right <= innerWidth, 'the menu is in the window');
  for (const item of at('menu').children) expect(item.offsetHeight >= 36, 'a choice is large enough');
  press(document.activeElement, 'Escape');
  expect(at('menu').hidden && document.activeElement === last, 'Escape closes it');

  last.click();
  await filled();
  const choice = at('menu').firstChild.textContent;
  expect(choice !== last.textContent, 'they are others');
  press(at('menu').firstChild, 'Enter');
  expect(await until(() => at('translation').value !== first), 'a choice translates again');
  const before = first.slice(0, first.lastIndexOf(last.textContent));
  expect(at('translation').value.startsWith(before + choice), `${at('translation').value} has ${choice}`);
  expect(document.activeElement.textContent === choice.split(' ')[0], 'the choice has the focus');
  words()[0].click();
  await filled();
  document.body.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));
  expect(at('menu').hidden, 'the menu closes for a click elsewhere');

  const lit = () => [...document.querySelectorAll('.lit')].map(({textContent}) => textContent).join(' ');
  const tom = [...at('mirror').querySelectorAll('.source')].find(({textContent}) => textContent === 'Tom');
  words()[0].dispatchEvent(new PointerEvent('pointerenter'));
  const aligned = modelsOf(shown.source, shown.target).every(({alignment}) => alignment);
  expect(lit() === (aligned ? 'Tom Tom' : ''), `a word is lit with its source: '${lit()}'`);
  words()[0].dispatchEvent(new PointerEvent('pointerleave'));
  expect(lit() === '', 'and no longer');
  const place = tom.getBoundingClientRect();
  at('text').dispatchEvent(new PointerEvent('pointermove', {clientX: place.x + place.width / 2, clientY: place.y + place.height / 2}));
  expect(lit() === (aligned ? 'Tom Tom' : ''), `a word of the text is lit with its translation: '${lit()}'`);
  light(null);
  at('text').focus();
  at('text').setSelectionRange(1, 1);
  lightSourceAtCaret();
  expect(lit() === (aligned ? 'Tom Tom' : ''), `also at the caret: '${lit()}'`);
  expect(at('text').scrollHeight <= at('text').clientHeight && at('text').clientHeight === at('mirror').clientHeight,
         'the text and its mirror are of one size');

  expect(!at('graph').hidden, 'there is a link to the graph');
  const graph = await fetch(at('graph').href);
  const page = await graph.text();
  expect(graph.ok && page.includes('<svg'), 'the link leads to the graph');
}
