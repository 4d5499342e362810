// The module's memory: texts, structs and errors of the C interface, and files.
import {readBytes} from './model_files.js';

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

// Threads share memory, which a page may do if it is isolated from other origins. Node always may.
const mayShareMemory = globalThis.crossOriginIsolated ?? typeof SharedArrayBuffer === 'function';
const isNode = typeof process === 'object' && Boolean(process.versions?.node);

export class Library {
  // With more than one thread it is the module with threads, where memory may be shared; else `threads` is 1.
  static async load(threads = 1) {
    if (!Number.isInteger(threads) || threads < 1) throw new Error(`threads must be 1 or more, not ${threads}`);
    const shared = threads > 1 && mayShareMemory;
    const [{default: createModule}, wasmBinary] = await Promise.all([
      shared ? import('./threads/fuselage-module.js') : import('./fuselage-module.js'),
      readBytes(new URL(shared ? 'threads/fuselage-module.wasm' : 'fuselage-module.wasm', import.meta.url)),
    ]);
    const settings = {wasmBinary, locateFile: name => new URL(`threads/${name}`, import.meta.url).href, threads};
    if (shared && isNode) settings.environment = (await import('./node_worker.js')).environment;
    return new Library(await createModule(settings), shared ? threads : 1);
  }

  constructor(module, threads) {
    this.module = module;
    this.threads = threads;
    this.folders = 0;
    // A program of Node may end while threads wait.
    for (const worker of module.PThread?.unusedWorkers ?? []) worker.unref?.();
  }

  get version() { return this.text(this.module._fuselage_version()); }

  // Bytes of the module's memory, which only grows.
  get memory() { return this.bytes.length; }

  // Views of the memory, made for each use: with threads, the module's own do not follow when another one makes it larger.
  get buffer() { return (this.module.wasmMemory ?? this.module.HEAPU8).buffer; }
  get bytes() { return new Uint8Array(this.buffer); }
  get integers() { return new Uint32Array(this.buffer); }
  get floats() { return new Float32Array(this.buffer); }

  // Opens a model: `files` is a map from names to bytes, and `model` the name of the file to open, or '' for their folder.
  openTranslator(files, model, options) {
    for (const name of Object.keys(options))
      if (!(name in DEFAULTS) || OWN.includes(name)) throw new Error(`there is no option ${name}; leave it out`);
    const folder = `/model${++this.folders}`;
    this.module.FS.mkdir(folder);
    for (const [name, bytes] of files) this.module.FS.createDataFile(folder, name, bytes, true, true, true);
    try {
      return this.withText(`${folder}/${model}`, path => this.withText(options.precision ?? '', precision => {
        const given = {...DEFAULTS, ...options, threads: this.threads, precision: options.precision ? precision : 0,
                       size: sizeOf(OPTIONS)};
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
              wordScores: this.floats.slice(wordScores / 4, wordScores / 4 + words)};
    });
  }

  // A pointer that a call returned; throws its error for null.
  found(pointer) {
    if (!pointer) throw this.lastError();
    return pointer;
  }

  lastError() { return new Error(this.text(this.module._fuselage_last_error())); }

  text(pointer) {
    const bytes = this.bytes;
    // A copy, since shared memory cannot be decoded.
    return new TextDecoder().decode(bytes.slice(pointer, bytes.indexOf(0, pointer)));
  }

  withText(text, use) {
    const pointer = this.allocateText(text);
    try { return use(pointer); } finally { this.module._free(pointer); }
  }

  allocateText(text) {
    const bytes = new TextEncoder().encode(text);
    const pointer = this.module._malloc(bytes.length + 1);
    this.bytes.set(bytes, pointer);
    this.bytes[pointer + bytes.length] = 0;
    return pointer;
  }

  withStruct(struct, values, use) {
    const pointer = this.module._malloc(sizeOf(struct));
    const {integers, floats} = this;
    Object.entries(struct).forEach(([name, type], i) => {
      (type === 'f' ? floats : integers)[pointer / 4 + i] = values[name] ?? 0;
    });
    try { return use(pointer); } finally { this.module._free(pointer); }
  }

  members(struct, pointer) {
    const {integers, floats} = this;
    return Object.fromEntries(Object.entries(struct).map(
      ([name, type], i) => [name, (type === 'f' ? floats : integers)[pointer / 4 + i]]));
  }

  // Ends the threads.
  close() { this.module.PThread?.terminateAllThreads(); }
}
