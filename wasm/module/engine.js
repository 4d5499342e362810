// The module and a model, in the thread that calls: for workers, and for programs that wait anyway. fuselage.js is
// the interface for pages.
import createModule from './fuselage-module.js';

// Members of the C interface's structs, each of four bytes; include/fuselage/fuselage.h has them in this order.
const OPTIONS = {
  size: 'i', beamSize: 'i', normalize: 'f', maxLengthFactor: 'f', maxLength: 'i', alignment: 'i', strict: 'i',
  threads: 'i', device: 'i', precision: 'i', log: 'i', logData: 'i',
};
const DEFAULTS = {
  beamSize: -1, normalize: -1, maxLengthFactor: -1, maxLength: -1, alignment: 0, strict: 0, threads: 1, device: 0,
  precision: 0, log: 0, logData: 0,
};
const HYPOTHESIS = {
  size: 'i', text: 'i', score: 'f', logProbability: 'f', words: 'i', wordScores: 'i', sourceWords: 'i',
  alignment: 'i',
};
const sizeOf = struct => 4 * Object.keys(struct).length;
const FOLDER = '/model';

export class Engine {
  // `wasm`: the bytes of fuselage-module.wasm; `files`: a map from the names of a model directory's files to their
  // bytes; `options`: beamSize, normalize, maxLengthFactor, maxLength and precision, which the model has too.
  static async open(wasm, files, options = {}) {
    const module = await createModule({wasmBinary: wasm});
    const engine = new Engine(module);
    module.FS.mkdir(FOLDER);
    for (const [name, bytes] of files) module.FS.createDataFile(FOLDER, name, bytes, true, true, true);
    engine.translator = engine.openTranslator(options);
    // The weights are in the module's memory now.
    for (const name of files.keys()) module.FS.unlink(`${FOLDER}/${name}`);
    return engine;
  }

  constructor(module) { this.module = module; }

  get version() { return this.text(this.module._fuselage_version()); }

  // Bytes of the module's memory, which only grows.
  get memory() { return this.module.HEAPU8.length; }

  // For each line its hypotheses, the best first, as {text, score, logProbability, wordScores}.
  translate(lines) {
    const texts = lines.map(line => this.allocateText(line));
    const list = this.module._malloc(4 * texts.length + 4);
    this.module.HEAPU32.set(texts, list / 4);
    const found = this.module._fuselage_translate(this.translator, list, texts.length);
    for (const pointer of [...texts, list]) this.module._free(pointer);
    if (!found) throw this.lastError();
    try {
      return lines.map((_, line) => Array.from(
        {length: this.module._fuselage_translation_count(found, line)}, (_, rank) => this.hypothesis(found, line, rank)));
    } finally {
      this.module._fuselage_translations_free(found);
    }
  }

  close() {
    this.module._fuselage_translator_close(this.translator);
    this.translator = 0;
  }

  openTranslator(options) {
    for (const name of Object.keys(options))
      if (!(name in DEFAULTS) || ['device', 'log', 'logData', 'threads'].includes(name))
        throw new Error(`there is no option ${name}; leave it out`);
    const given = {...DEFAULTS, ...options, size: sizeOf(OPTIONS)};
    if (options.precision) given.precision = this.allocateText(options.precision);
    const path = this.allocateText(FOLDER), struct = this.module._malloc(given.size);
    Object.entries(OPTIONS).forEach(([name, type], i) => {
      (type === 'f' ? this.module.HEAPF32 : this.module.HEAP32)[struct / 4 + i] = given[name];
    });
    const translator = this.module._fuselage_translator_open(path, struct);
    for (const pointer of [path, struct, given.precision]) this.module._free(pointer);
    if (!translator) throw this.lastError();
    return translator;
  }

  hypothesis(translations, line, rank) {
    const struct = this.module._malloc(sizeOf(HYPOTHESIS));
    this.module.HEAP32[struct / 4] = sizeOf(HYPOTHESIS);
    const failed = this.module._fuselage_translation_hypothesis(translations, line, rank, struct);
    const members = {};
    Object.entries(HYPOTHESIS).forEach(([name, type], i) => {
      members[name] = (type === 'f' ? this.module.HEAPF32 : this.module.HEAPU32)[struct / 4 + i];
    });
    this.module._free(struct);
    if (failed) throw this.lastError();
    const {text, score, logProbability, words, wordScores} = members;
    return {text: this.text(text), score, logProbability,
            wordScores: this.module.HEAPF32.slice(wordScores / 4, wordScores / 4 + words)};
  }

  lastError() { return new Error(this.text(this.module._fuselage_last_error())); }

  text(pointer) {
    const bytes = this.module.HEAPU8;
    return new TextDecoder().decode(bytes.subarray(pointer, bytes.indexOf(0, pointer)));
  }

  allocateText(text) {
    const bytes = new TextEncoder().encode(text);
    const pointer = this.module._malloc(bytes.length + 1);
    this.module.HEAPU8.set(bytes, pointer);
    this.module.HEAPU8[pointer + bytes.length] = 0;
    return pointer;
  }
}
