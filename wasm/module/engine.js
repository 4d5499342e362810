// The module and a model, in the thread that calls: for workers, and for programs that wait anyway. fuselage.js is
// the interface for pages.
import {Library} from './library.js';

const KINDS = {text: 0, html: 1};

export class Engine {
  // `files` and `options` as in the constructor; `threads`, 1 if it is left out, as in Library.load.
  static async open(files, {threads, ...options} = {}) {
    const library = await Library.load(threads);
    try {
      return Object.assign(new Engine(library, files, options), {ownLibrary: library});
    } catch (error) {
      library.close();
      throw error;
    }
  }

  // `files`: a map from the names of a model directory's files to their bytes; `options`: beamSize, normalize,
  // maxLengthFactor, maxLength, alignment and precision, which the model has too; `model`: the name of the file to open,
  // if the files are no model directory. Models that translate together are of one library.
  constructor(library, files, options = {}, model = '') {
    this.library = library;
    this.module = library.module;
    this.translator = library.openTranslator(files, model, options);
  }

  get version() { return this.library.version; }
  get memory() { return this.library.memory; }
  get threads() { return this.library.threads; }

  // For each line its hypotheses, the best first, as {text, score, logProbability, wordScores}.
  translate(lines) {
    const texts = lines.map(line => this.library.allocateText(line));
    const list = this.module._malloc(4 * texts.length + 4);
    this.library.integers.set(texts, list / 4);
    const found = this.module._fuselage_translate(this.translator, list, texts.length);
    for (const pointer of [...texts, list]) this.module._free(pointer);
    this.library.found(found);
    try {
      return lines.map((_, line) => Array.from({length: this.module._fuselage_translation_count(found, line)},
                                               (_, rank) => this.library.hypothesis(found, line, rank)));
    } finally {
      this.module._fuselage_translations_free(found);
    }
  }

  // The translation of a page: of 'text', of any number of sentences and lines, or of 'html'. `second` is an engine of the
  // same library, which translates what this one gives.
  translatePage(page, kind = 'text', second = null) {
    return this.library.withText(page, text => {
      const found = this.library.found(this.module._fuselage_translate_page(
        this.translator, second ? second.translator : 0, KINDS[kind], text));
      try { return this.library.text(found); } finally { this.module._fuselage_page_free(found); }
    });
  }

  close() {
    this.module._fuselage_translator_close(this.translator);
    this.translator = 0;
    this.ownLibrary?.close();
  }
}
