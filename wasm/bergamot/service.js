// What bergamot-translator's worker does: models by pairs of languages, and texts that one or two of them translate.
import {Engine} from '../engine.js';
import {Library} from '../library.js';

// Settings of bergamot-translator's worker, and what a configuration cannot change.
const DEFAULTS = {
  'beam-size': 1, normalize: 1.0, 'word-penalty': 0, 'gemm-precision': 'int8shiftAlphaAll', 'skip-cost': true,
};
const FIXED = {'max-length-factor': 2.0, 'max-length-break': 128, 'mini-batch-words': 1024};
const CONFIGURATION = 'decoder.yml';
const FUNCTIONS = ['initialize', 'hasTranslationModel', 'loadTranslationModel', 'freeTranslationModel', 'translate'];

const keyOf = ({from, to}) => JSON.stringify({from, to});

// The files of a Marian model, with a configuration that names them.
function marianFiles({model, shortlist, vocabs, config}) {
  const sides = vocabs.length > 1 ? ['source.spm', 'target.spm'] : ['vocab.spm', 'vocab.spm'];
  const settings = {
    ...DEFAULTS, ...config, ...FIXED, 'relative-paths': true, models: ['model.bin'], vocabs: sides,
  };
  const files = [['model.bin', model], ...sides.map((name, i) => [name, vocabs[i] ?? vocabs[0]])];
  if (shortlist) {
    settings.shortlist = ['lex.s2t.bin'];
    files.push(['lex.s2t.bin', shortlist]);
  }
  const value = given => Array.isArray(given) ? JSON.stringify(given) : String(given);
  const text = Object.entries(settings).map(([key, given]) => `${key}: ${value(given)}\n`).join('');
  files.push([CONFIGURATION, new TextEncoder().encode(text)]);
  return new Map(files.map(([name, bytes]) => [name, new Uint8Array(bytes)]));
}

export class Service {
  answers(name) { return FUNCTIONS.includes(name); }

  // `options`: cacheSize, the number of texts whose translations are kept.
  async initialize(options = {}) {
    this.cacheSize = Math.max(options?.cacheSize || 0, 0);
    this.kept = new Map();
    this.engines = new Map();
    this.library = await Library.load();
  }

  hasTranslationModel(pair) { return this.engines.has(keyOf(pair)); }

  // `buffers` as TranslatorBacking.loadTranslationModel gives them.
  loadTranslationModel(pair, buffers) {
    this.freeTranslationModel(pair);
    const files = buffers.directory
      ? new Map(Object.entries(buffers.directory).map(([name, bytes]) => [name, new Uint8Array(bytes)]))
      : marianFiles(buffers);
    const open = alignment =>
      new Engine(this.library, files, {alignment}, buffers.directory ? '' : CONFIGURATION);
    let engine;
    try {
      engine = open(1);
    } catch {
      // The model has no alignments, by which tags follow their words; else the second try fails too.
      engine = open(0);
    }
    this.engines.set(keyOf(pair), engine);
  }

  freeTranslationModel(pair) {
    this.engines.get(keyOf(pair))?.close();
    this.engines.delete(keyOf(pair));
    this.kept.clear();
  }

  // `models`: one pair of languages, or two; `texts`: of {text, html}. Gives {target: {text}} for each.
  translate({models, texts}) {
    const [first, second] = models.map(pair => {
      const engine = this.engines.get(keyOf(pair));
      if (!engine) throw new Error(`the model ${pair.from}->${pair.to} is not loaded`);
      return engine;
    });
    return texts.map(({text, html, qualityScores}) => {
      if (qualityScores) throw new Error('there are no quality scores; leave qualityScores out');
      const key = JSON.stringify([models.map(keyOf), Boolean(html), text]);
      const found = this.kept.get(key) ?? first.translatePage(text, html ? 'html' : 'text', second);
      this.keep(key, found);
      return {target: {text: found}};
    });
  }

  // The newest translations are kept.
  keep(key, translation) {
    this.kept.delete(key);
    if (this.cacheSize) this.kept.set(key, translation);
    if (this.kept.size > this.cacheSize) this.kept.delete(this.kept.keys().next().value);
  }
}
