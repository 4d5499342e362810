// Translation in a page, in a worker. Nothing is sent anywhere: the module and the model are fetched once.
//
//     import {Translator} from './fuselage.js';
//     const translator = await Translator.open('model/');
//     await translator.translate('Where is the station?');
import {piecesOf} from './sentences.js';

export class Translator {
  // `model`: address of a model directory with its SHA256SUMS, relative to the page; `options` as in engine.js, and
  // `threads`: as many as the processor has, 4 at most, if it is left out. The member `threads` tells how many there are:
  // 1 in a page that is not isolated from other origins.
  static async open(model, options = {}) {
    const translator = new Translator();
    const given = {threads: Math.min(navigator.hardwareConcurrency, 4), ...options};
    return Object.assign(translator, await translator.call('open', new URL(model, document.baseURI).href, given));
  }

  constructor() {
    this.waiting = new Map();
    this.number = 0;
    this.worker = new Worker(new URL('worker.js', import.meta.url), {type: 'module'});
    this.worker.onmessage = ({data: {number, result, error}}) => {
      const {resolve, reject} = this.waiting.get(number);
      this.waiting.delete(number);
      if (error === undefined) resolve(result); else reject(new Error(error));
    };
    this.worker.onerror = ({message}) => {
      for (const {reject} of this.waiting.values()) reject(new Error(message ?? 'the worker does not load'));
      this.waiting.clear();
    };
  }

  // The translation of a text of any number of sentences and lines.
  async translate(text) {
    const pieces = piecesOf(text, this.source);
    const sentences = pieces.filter(({sentence}) => sentence).map(({sentence}) => sentence);
    const found = sentences.length ? await this.translateLines(sentences) : [];
    let next = 0;
    return pieces.map(({sentence, between}) => sentence ? found[next++][0].text : between).join('');
  }

  // For each line, which is one sentence, its hypotheses: see Engine.translate.
  translateLines(lines) { return this.call('translate', lines); }

  // Bytes of the module's memory.
  memory() { return this.call('memory'); }

  close() { this.worker.terminate(); }

  call(call, ...args) {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.number, {resolve, reject});
      this.worker.postMessage({number: this.number, call, args});
    });
  }
}
