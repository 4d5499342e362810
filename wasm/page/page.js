// Translates while one types. Sentences that were translated are kept, so that a key costs one sentence.
import {Translator} from './fuselage.js';
import {piecesOf} from './sentences.js';

const at = id => document.getElementById(id);
const kept = new Map();
let translator, running = false, wanted = null;

async function translate(text) {
  const pieces = piecesOf(text, translator.source);
  const fresh = [...new Set(pieces.map(({sentence}) => sentence).filter(sentence => sentence && !kept.has(sentence)))];
  // One at a time, so that a newer text need not wait for all of an older one.
  for (const sentence of fresh) {
    if (wanted !== null) return;
    const [[{text: translation}]] = await translator.translateLines([sentence]);
    kept.set(sentence, translation);
  }
  at('translation').value = pieces.map(({sentence, between}) => sentence ? kept.get(sentence) : between).join('');
}

async function work() {
  if (running || !translator) return;
  running = true;
  while (wanted !== null) {
    const text = wanted;
    wanted = null;
    try {
      await translate(text);
      at('state').textContent = `${translator.source} to ${translator.target}`;
    } catch (error) {
      at('state').textContent = error.message;
    }
  }
  running = false;
}

at('text').addEventListener('input', () => { wanted = at('text').value; work(); });

try {
  translator = await Translator.open('model/');
  at('translation').lang = translator.target;
  at('state').textContent = `${translator.source} to ${translator.target}; ready after ${Math.round(performance.now())} ms`;
  document.documentElement.dataset.ready = Math.round(performance.now());
  wanted = at('text').value || null;
  work();
} catch (error) {
  at('state').textContent = error.message;
}
if (location.hash === '#selftest') (await import('./selftest.js')).selfTest();
