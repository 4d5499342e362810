// The interface of the npm package @browsermt/bergamot-translator (0.4), on Fuselage: the same classes, options,
// requests, responses and errors. See docs/wasm.md.
//
//     import {BatchTranslator} from './bergamot/translator.js';
//     const translator = new BatchTranslator({registryUrl: 'registry.json'});
//     const {target: {text}} = await translator.translate({from: 'en', to: 'de', text: 'Hello!'});

// A translation that a newer one took the place of, before it began.
export class SupersededError extends Error {}

// A translation that was removed before it began.
export class CancelledError extends Error {}

const keyOf = ({from, to}) => JSON.stringify({from, to});

const inNode = typeof process === 'object' && Boolean(process.versions?.node);

async function newWorker(url) {
  if (!inNode) return new Worker(url);
  const {Worker: NodeWorker} = await import('node:worker_threads');
  const worker = new NodeWorker(url);
  worker.addEventListener = (event, listener) =>
    worker.on(event, data => listener(event === 'message' ? {data} : data));
  return worker;
}

async function fetchAddress(address, options) {
  const url = new URL(address, inNode ? undefined : location.href);
  if (!inNode || url.protocol !== 'file:') return fetch(url, options);
  const {readFile} = await import('node:fs/promises');
  return new Response(await readFile(url));
}

// Where models come from, and the workers that translate.
export class TranslatorBacking {
  // `options`: registryUrl, workerUrl, pivotLanguage ("en"; null: none), downloadTimeout in milliseconds (60000; 0: none),
  // cacheSize, the number of texts whose translations a worker keeps (0), and onerror. useNativeIntGemm has no effect.
  constructor(options = {}) {
    this.options = options ?? {};
    this.registryUrl = this.options.registryUrl ?? new URL('registry.json', import.meta.url);
    this.workerUrl = this.options.workerUrl ?? new URL('worker/translator-worker.js', import.meta.url);
    this.downloadTimeout = Number.parseInt(this.options.downloadTimeout ?? 60000);
    this.pivotLanguage = this.options.pivotLanguage === undefined ? 'en' : this.options.pivotLanguage;
    this.onerror = this.options.onerror ?? (error => console.error('Translation worker:', error));
    this.registry = this.loadModelRegistery();
    this.registry.catch(() => {});  // whoever waits for it is told
    this.buffers = new Map();
    this.models = new Map();
  }

  // A worker, and its functions as functions that return promises.
  async loadWorker() {
    const worker = await newWorker(this.workerUrl);
    const waiting = new Map();
    let number = 0;
    const call = (name, ...args) => new Promise((accept, reject) => {
      waiting.set(++number, {accept, reject});
      worker.postMessage({id: number, name, args});
    });
    worker.addEventListener('message', ({data: {id, result, error}}) => {
      const {accept, reject} = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) accept(result); else reject(Object.assign(new Error(error.message), error));
    });
    worker.addEventListener('error', error => {
      for (const {reject} of waiting.values()) reject(new Error(error.message ?? 'the worker does not load'));
      waiting.clear();
      this.onerror(error);
    });
    const {registryUrl, workerUrl, onerror, ...plain} = this.options;
    await call('initialize', plain);
    // A promise is told by its member "then".
    const exports = new Proxy({}, {get: (_, name) => name === 'then' ? undefined : (...args) => call(name, ...args)});
    return {worker, exports};
  }

  // The models of the registry, as {from, to, files}; its keys are two codes of two letters, such as "ende".
  async loadModelRegistery() {
    const response = await fetchAddress(this.registryUrl, {credentials: 'omit'});
    if (!response.ok) throw new Error(`cannot fetch ${this.registryUrl}: ${response.status}`);
    return Object.entries(await response.json())
      .map(([key, files]) => ({from: key.slice(0, 2), to: key.slice(2, 4), files}));
  }

  // The models that translate between two languages: one, or two by way of the pivot language.
  getModels({from, to}) {
    const key = keyOf({from, to});
    if (!this.models.has(key)) this.models.set(key, this.findModels(from, to));
    return this.models.get(key);
  }

  async findModels(from, to) {
    const registry = await this.registry;
    const find = (a, b) => registry.find(model => model.from === a && model.to === b);
    const direct = find(from, to);
    if (direct) return [direct];
    const first = find(from, this.pivotLanguage), second = find(this.pivotLanguage, to);
    if (first && second) return [first, second];
    throw new Error(`No model available to translate from '${from}' to '${to}'`);
  }

  // The files of a model, fetched once; after a failure they are fetched again.
  getTranslationModel({from, to}, options) {
    const key = keyOf({from, to});
    if (!this.buffers.has(key)) {
      const files = this.loadTranslationModel({from, to}, options);
      files.catch(() => this.buffers.delete(key));
      this.buffers.set(key, files);
    }
    return this.buffers.get(key);
  }

  // {model, shortlist, vocabs, config} as ArrayBuffers of Marian's files, or {directory}, the files of a model directory
  // of Fuselage by name. The quality model of a registry is not used.
  async loadTranslationModel({from, to}, options) {
    const entry = (await this.registry).find(model => model.from === from && model.to === to);
    if (!entry) throw new Error(`No model for '${from}' -> '${to}'`);
    const {files} = entry;
    if (files.directory) return {directory: await this.loadDirectory(files.directory.name, options)};
    const get = async part => {
      if (!files[part]?.name) return undefined;
      try {
        return await this.fetch(files[part].name, files[part].expectedSha256Hash, options);
      } catch (cause) {
        throw new Error(`Could not fetch ${files[part].name} for ${from}->${to} model`, {cause});
      }
    };
    const parts = ['model', 'lex', 'vocab', 'srcvocab', 'trgvocab'];
    const [model, shortlist, vocab, source, target] = await Promise.all(parts.map(get));
    const vocabs = vocab ? [vocab] : [source, target];
    if (!model || vocabs.includes(undefined))
      throw new Error(`Could not identify the files of the ${from}->${to} model among: ${Object.keys(files).join(' ')}`);
    const config = files.model.name.endsWith('intgemm8.bin') ? {'gemm-precision': 'int8shiftAll'} : {};
    return {model, shortlist, vocabs, config: {...config, ...files.config}};
  }

  // The files of a model directory that its SHA256SUMS lists, which the engine compares with it.
  async loadDirectory(name, options) {
    const folder = new URL(name, this.registryUrl instanceof URL || inNode ? this.registryUrl
      : new URL(this.registryUrl, location.href));
    const sums = await this.fetch(new URL('SHA256SUMS', folder), undefined, options);
    const names = new TextDecoder().decode(sums).split('\n').filter(Boolean).map(line => line.slice(66));
    const files = await Promise.all(names.map(async file => [file, await this.fetch(new URL(file, folder), undefined, options)]));
    return Object.fromEntries([['SHA256SUMS', sums], ...files]);
  }

  // The bytes at an address. `checksum`: SHA-256 in hexadecimal digits; `extra.signal` aborts.
  async fetch(url, checksum, extra) {
    const signals = [];
    if (this.downloadTimeout) signals.push(AbortSignal.timeout(this.downloadTimeout));
    if (extra?.signal) signals.push(extra.signal);
    const controller = new AbortController();
    for (const signal of signals) signal.addEventListener('abort', () => controller.abort(signal.reason), {once: true});
    if (extra?.signal?.aborted) throw new CancelledError('abort signal');
    const response = await fetchAddress(url, {credentials: 'omit', signal: controller.signal});
    if (!response.ok) throw new Error(`cannot fetch ${url}: ${response.status}`);
    const bytes = await response.arrayBuffer();
    if (checksum && await sha256(bytes) !== checksum.toLowerCase())
      throw new Error(`${url} is not the file whose SHA-256 is ${checksum}`);
    return bytes;
  }
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
}

// Translates requests of two languages by a worker, which gets the models that it lacks.
async function translateBy(backing, worker, models, requests, options) {
  for (const {from, to} of models)
    if (!await worker.hasTranslationModel({from, to}))
      await worker.loadTranslationModel({from, to}, await backing.getTranslationModel({from, to}, options));
  return worker.translate({
    models: models.map(({from, to}) => ({from, to})),
    texts: requests.map(({text, html, qualityScores}) =>
      ({text: String(text), html: Boolean(html), qualityScores: Boolean(qualityScores)})),
  });
}

// Translates many texts with as many workers as are allowed.
export class BatchTranslator {
  // `options`: those of TranslatorBacking; workers, their largest number (1); batchSize, the texts of a batch (8).
  constructor(options = {}, backing = undefined) {
    this.backing = backing ?? new TranslatorBacking(options);
    this.workerLimit = Math.max(options?.workers || 0, 1);
    this.batchSize = Math.max(options?.batchSize || 8, 1);
    this.onerror = options?.onerror ?? (error => console.error('Translation worker:', error));
    this.workers = [];
    this.queue = [];
  }

  // `request`: {from, to, text, html, priority}; lower priorities come first. Gives {request, target: {text}}.
  async translate(request) {
    const models = await this.backing.getModels(request);
    return new Promise((resolve, reject) => {
      this.enqueue({key: keyOf(request), priority: request.priority ?? 0, models, request, resolve, reject});
      this.notify();
    });
  }

  // Rejects the requests that wait and that `filter` accepts, with a CancelledError.
  remove(filter) {
    const waiting = this.queue;
    this.queue = [];
    for (const {requests, ...batch} of waiting)
      for (const {request, resolve, reject} of requests)
        if (filter(request)) reject(Object.assign(new CancelledError('removed by filter'), {request}));
        else this.enqueue({...batch, request, resolve, reject});
  }

  // Cancels what waits, and ends all workers.
  async delete() {
    this.remove(() => true);
    for (const {worker} of this.workers) worker?.terminate();
  }

  enqueue({key, priority, models, request, resolve, reject}) {
    let batch = this.queue.find(other =>
      other.key === key && other.priority === priority && other.requests.length < this.batchSize);
    if (!batch) {
      batch = {key, priority, models, requests: []};
      this.queue.push(batch);
      this.queue.sort((a, b) => a.priority - b.priority);
    }
    batch.requests.push({request, resolve, reject});
  }

  // Gives waiting work to a worker, later, so that batches fill.
  notify() { setTimeout(() => this.work()); }

  async work() {
    if (!this.queue.length) return;
    let place = this.workers.find(({idle}) => idle);
    if (!place) {
      if (this.workers.length >= this.workerLimit) return;
      place = {idle: false};
      this.workers.push(place);
      try {
        Object.assign(place, await this.backing.loadWorker());
      } catch (error) {
        this.workers.splice(this.workers.indexOf(place), 1);
        const failure = new Error(`Could not initialise translation worker: ${error.message}`);
        this.onerror(failure);
        for (const {requests} of this.queue.splice(0)) for (const {reject} of requests) reject(failure);
        return;
      }
    }
    place.idle = false;
    for (let batch; (batch = this.queue.shift());) await this.translateBatch(batch, place.exports);
    place.idle = true;
  }

  async translateBatch({models, requests}, worker) {
    try {
      const responses = await translateBy(this.backing, worker, models, requests.map(({request}) => request));
      requests.forEach(({request, resolve}, i) => resolve({request, ...responses[i]}));
    } catch (error) {
      for (const {reject} of requests) reject(error);
    }
  }
}

// Translates the newest text as soon as possible, with one worker.
export class LatencyOptimisedTranslator {
  constructor(options = {}, backing = undefined) {
    this.backing = backing ?? new TranslatorBacking(options);
    this.pending = null;
    this.worker = this.backing.loadWorker().then(loaded => ({...loaded, idle: true}));
    this.worker.catch(() => {});  // whoever translates is told
  }

  // As BatchTranslator's; a request that waits is rejected with a SupersededError. `options.signal` cancels.
  translate(request, options) {
    this.pending?.reject(new SupersededError());
    return new Promise((accept, reject) => {
      const pending = {request, accept, reject, options};
      options?.signal?.addEventListener('abort', () => {
        reject(new CancelledError('abort signal'));
        if (this.pending === pending) this.pending = null;
      });
      this.pending = pending;
      setTimeout(() => this.work());
    });
  }

  async delete() {
    this.pending?.reject(new CancelledError('translator got deleted'));
    this.pending = null;
    const {worker} = await this.worker;
    worker.terminate();
    this.worker = null;
  }

  async work() {
    let place;
    try {
      place = await this.worker;
    } catch (error) {
      this.pending?.reject(error);
      this.pending = null;
    }
    if (!place?.idle) return;
    place.idle = false;
    while (this.pending) {
      const {request, accept, reject, options} = this.pending;
      this.pending = null;
      try {
        const models = await this.backing.getModels(request);
        const [response] = await translateBy(this.backing, place.exports, models, [request], options);
        accept({request, ...response});
      } catch (error) {
        reject(error);
      }
    }
    place.idle = true;
  }
}
