'use strict';
const at = id => document.getElementById(id);
const kPause = 250;  // milliseconds without a key before the text is translated
let languages = [];
let settings = {charLimit: -1, keyRequired: false};
let timer = 0;
let request = null;  // the AbortController of the request that is under way

async function call(path, body, signal) {
  const options = body === undefined ? {signal} : {
    method: 'POST', signal, headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)};
  const reply = await fetch(path, options);
  const json = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(json.error || reply.statusText),
                                     {wait: Number(reply.headers.get('Retry-After')) || 0});
  return json;
}

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([code, name]) => new Option(name, code)));
  if (entries.some(([code]) => code === chosen)) select.value = chosen;
}

const named = code => (languages.find(language => language.code === code) || {name: code}).name;

function targetsOf(source) {
  const from = languages.filter(language => source === 'auto' || language.code === source);
  return [...new Set(from.flatMap(language => language.targets))].sort();
}

function fillTargets(wanted) {
  fill(at('target'), targetsOf(at('source').value).map(code => [code, named(code)]), wanted);
}

function say(text, bad = false) {
  at('state').textContent = text;
  at('state').classList.toggle('bad', bad);
}

function show(translation, alternatives = []) {
  at('translation').value = translation;
  at('translation').lang = at('target').value;
  at('alternatives').replaceChildren(...alternatives.map(text => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  }));
  at('more').hidden = alternatives.length === 0;
}

function count() {
  const length = [...at('text').value].length;
  at('count').textContent = settings.charLimit > 0 ? `${length} / ${settings.charLimit}` : `${length}`;
}

async function translate() {
  clearTimeout(timer);
  if (request) request.abort();
  request = null;
  const q = at('text').value;
  count();
  say('');
  if (!q.trim()) return show('');
  const mine = request = new AbortController();
  at('translation').classList.add('busy');
  try {
    const wanted = {q, source: at('source').value, target: at('target').value, alternatives: 3};
    if (at('key').value) wanted.api_key = at('key').value;
    const reply = await call('translate', wanted, mine.signal);
    if (mine !== request) return;
    show(reply.translatedText, reply.alternatives);
    const found = reply.detectedLanguage;
    if (found) say(`from ${named(found.language)}`);
  } catch (error) {
    if (mine !== request) return;
    say(error.message, true);
    if (error.wait) timer = setTimeout(translate, error.wait * 1000);
  } finally {
    if (mine === request) {
      request = null;
      at('translation').classList.remove('busy');
    }
  }
}

function translateSoon() {
  clearTimeout(timer);
  timer = setTimeout(translate, kPause);
  count();
}

function swap() {
  const source = at('source').value, target = at('target').value;
  if (!languages.some(language => language.code === target && language.targets.length)) return;
  const text = at('translation').value;
  at('source').value = target;
  fillTargets(source);
  if (text) at('text').value = text;
  translate();
}

async function start() {
  try {
    [languages, settings] = await Promise.all([call('languages'), call('frontend/settings')]);
  } catch (error) {
    return say(error.message, true);
  }
  const sources = languages.filter(language => language.targets.length);
  fill(at('source'), [['auto', 'Find out'], ...sources.map(({code, name}) => [code, name])],
       sources.length === 1 ? sources[0].code : 'auto');
  fillTargets(settings.language.target.code);
  document.querySelector('.key').hidden = !settings.keyRequired;
  count();
  at('text').addEventListener('input', translateSoon);
  at('text').addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) translate();
  });
  at('source').addEventListener('change', () => { fillTargets(at('target').value); translate(); });
  at('target').addEventListener('change', translate);
  at('key').addEventListener('change', translate);
  at('swap').addEventListener('click', swap);
  at('clear').addEventListener('click', () => { at('text').value = ''; translate(); at('text').focus(); });
  at('copy').addEventListener('click', () => navigator.clipboard.writeText(at('translation').value)
    .then(() => say('copied'), () => say('the browser does not allow to copy', true)));
  if (at('text').value) translate();
  if (location.hash === '#selftest') selfTest();
}

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
  for (const control of document.querySelectorAll('button, select, textarea, output'))
    expect(control.tabIndex >= 0 && (control.textContent || control.ariaLabel || control.labels.length),
           `${control.id} can be reached and has a name`);
  for (const control of document.querySelectorAll('button, select')) {
    const box = control.getBoundingClientRect();
    expect(box.height >= 36 && box.right <= innerWidth, `${control.id} is large enough and in the window`);
  }
  const result = document.createElement('pre');
  result.id = 'selftest';
  result.textContent = failures.length ? `selftest failed: ${failures.join('; ')}` : `selftest passed: ${checks} checks`;
  document.body.append(result);
}

start();
