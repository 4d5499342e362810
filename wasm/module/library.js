// The module's memory: texts, structs and errors of the C interface, and files.
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
const OWN = ['device', 'log', 'logData', 'threads'];
const sizeOf = struct => 4 * Object.keys(struct).length;

export class Library {
  // `wasm`: the bytes of fuselage-module.wasm.
  static async load(wasm) { return new Library(await createModule({wasmBinary: wasm})); }

  constructor(module) {
    this.module = module;
    this.folders = 0;
  }

  get version() { return this.text(this.module._fuselage_version()); }

  // Bytes of the module's memory, which only grows.
  get memory() { return this.module.HEAPU8.length; }

  // Opens a model: `files` is a map from names to bytes, and `model` the name of the file to open, or '' for their folder.
  openTranslator(files, model, options) {
    for (const name of Object.keys(options))
      if (!(name in DEFAULTS) || OWN.includes(name)) throw new Error(`there is no option ${name}; leave it out`);
    const folder = `/model${++this.folders}`;
    this.module.FS.mkdir(folder);
    for (const [name, bytes] of files) this.module.FS.createDataFile(folder, name, bytes, true, true, true);
    try {
      return this.withText(`${folder}/${model}`, path => this.withText(options.precision ?? '', precision => {
        const given = {...DEFAULTS, ...options, precision: options.precision ? precision : 0, size: sizeOf(OPTIONS)};
        return this.withStruct(OPTIONS, given, struct => this.found(this.module._fuselage_translator_open(path, struct)));
      }));
    } finally {
      // The weights are in the module's memory now.
      for (const name of files.keys()) this.module.FS.unlink(`${folder}/${name}`);
      this.module.FS.rmdir(folder);
    }
  }

  hypothesis(translations, line, rank) {
    return this.withStruct(HYPOTHESIS, {size: sizeOf(HYPOTHESIS)}, struct => {
      if (this.module._fuselage_translation_hypothesis(translations, line, rank, struct)) throw this.lastError();
      const {text, score, logProbability, words, wordScores} = this.members(HYPOTHESIS, struct);
      return {text: this.text(text), score, logProbability,
              wordScores: this.module.HEAPF32.slice(wordScores / 4, wordScores / 4 + words)};
    });
  }

  // A pointer that a call returned; throws its error for null.
  found(pointer) {
    if (!pointer) throw this.lastError();
    return pointer;
  }

  lastError() { return new Error(this.text(this.module._fuselage_last_error())); }

  text(pointer) {
    const bytes = this.module.HEAPU8;
    return new TextDecoder().decode(bytes.subarray(pointer, bytes.indexOf(0, pointer)));
  }

  withText(text, use) {
    const pointer = this.allocateText(text);
    try { return use(pointer); } finally { this.module._free(pointer); }
  }

  allocateText(text) {
    const bytes = new TextEncoder().encode(text);
    const pointer = this.module._malloc(bytes.length + 1);
    this.module.HEAPU8.set(bytes, pointer);
    this.module.HEAPU8[pointer + bytes.length] = 0;
    return pointer;
  }

  withStruct(struct, values, use) {
    const pointer = this.module._malloc(sizeOf(struct));
    Object.entries(struct).forEach(([name, type], i) => {
      (type === 'f' ? this.module.HEAPF32 : this.module.HEAP32)[pointer / 4 + i] = values[name] ?? 0;
    });
    try { return use(pointer); } finally { this.module._free(pointer); }
  }

  members(struct, pointer) {
    return Object.fromEntries(Object.entries(struct).map(
      ([name, type], i) => [name, (type === 'f' ? this.module.HEAPF32 : this.module.HEAPU32)[pointer / 4 + i]]));
  }
}
