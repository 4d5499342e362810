const at = id => document.getElementById(id);
const kPause = 250;  // milliseconds without a key before the text is translated
const kVersions = 4;  // translations of each sentence
let languages = [];
let models = [];
let settings = {charLimit: -1, keyRequired: false};
let timer = 0;
let request = null;  // the AbortController of the request that is under way

async function call(path, body, signal) {
  const options = body === undefined ? {signal} : {
    method: 'POST', signal, headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)};
  const reply = await fetch(path, options);
  const json = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(json.error || reply.statusText),
                                     {status: reply.status, wait: Number(reply.headers.get('Retry-After')) || 0});
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

// The models that may translate from a language, or from any, into another.
const modelsOf = (source, target) =>
  models.filter(model => model.target === target && (source === 'auto' || model.source === source));

function showGraphLink(source, target) {
  const model = modelsOf(source, target).find(({graph}) => graph);
  at('graph').hidden = !model;
  if (model) at('graph').href = `graph?source=${encodeURIComponent(model.source)}&target=${encodeURIComponent(target)}`;
}

// The reply of /v1/translate. Where the server finds out the language, it may have no alignments.
async function translateLines(wanted, signal) {
  if (at('key').value) wanted.api_key = at('key').value;
  try {
    return await call('v1/translate', wanted, signal);
  } catch (error) {
    if (error.status !== 400 || !wanted.alignment) throw error;
    return call('v1/translate', {...wanted, alignment: false, tokens: false}, signal);
  }
}

function count() {
  const length = [...at('text').value].length;
  if (at('text').value !== shown.text) at('mirror').replaceChildren(at('text').value, '\u200B');
  at('count').textContent = settings.charLimit > 0 ? `${length} / ${settings.charLimit}` : `${length}`;
}

async function translate() {
  clearTimeout(timer);
  if (request) request.abort();
  request = null;
  const q = at('text').value;
  count();
  say('');
  if (!q.trim()) return showNothing();
  const mine = request = new AbortController();
  at('translation').classList.add('busy');
  try {
    const source = at('source').value, target = at('target').value;
    const able = modelsOf(source, target);
    const aligned = able.length > 0 && able.every(({alignment}) => alignment);
    const reply = await translateLines(
      {text: q, source, target, sentences: true, n_best: kVersions, alignment: aligned, tokens: aligned}, mine.signal);
    if (mine !== request) return;
    show(q, reply);
    showGraphLink(reply.source, reply.target);
    if (source === 'auto') say(`from ${named(reply.source)}`);
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
    [languages, settings, models] =
      await Promise.all([call('languages'), call('frontend/settings'), call('v1/models')]);
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
  const change = () => { showGraphLink(at('source').value, at('target').value); translate(); };
  at('source').addEventListener('change', () => { fillTargets(at('target').value); change(); });
  at('target').addEventListener('change', change);
  showGraphLink(at('source').value, at('target').value);
  at('text').addEventListener('pointermove', event => lightSourceAt(event.clientX, event.clientY));
  at('text').addEventListener('pointerleave', () => light(null));
  document.addEventListener('selectionchange', () => { if (document.activeElement === at('text')) lightSourceAtCaret(); });
  at('menu').addEventListener('keydown', onMenuKey);
  addEventListener('resize', placeMenu);
  document.addEventListener('pointerdown', event => {
    if (menuWord && !at('menu').contains(event.target) && event.target !== menuWord) closeMenu();
  });
  at('key').addEventListener('change', translate);
  at('swap').addEventListener('click', swap);
  at('clear').addEventListener('click', () => { at('text').value = ''; translate(); at('text').focus(); });
  at('copy').addEventListener('click', () => navigator.clipboard.writeText(at('translation').value)
    .then(() => say('copied'), () => say('the browser does not allow to copy', true)));
  if (at('text').value) translate();
  if (location.hash === '#selftest') selfTest();
}

start();
