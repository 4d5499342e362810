// The worker of fuselage.js: answers {number, call, arguments} with {number, result} or {number, error}.
import {Engine} from './engine.js';
import {Library} from './library.js';
import {fetchBytes, readModel} from './model_files.js';

let engine;

const calls = {
  async open(model, {threads, ...options}) {
    const [library, files] = await Promise.all([
      Library.load(threads), readModel(name => fetchBytes(new URL(name, model))),
    ]);
    engine = new Engine(library, files, options);
    const {text} = JSON.parse(new TextDecoder().decode(files.get('config.json')));
    return {source: text?.['source-language'], target: text?.['target-language'], version: engine.version,
            threads: engine.threads};
  },
  translate(lines) { return engine.translate(lines); },
  memory() { return engine.memory; },
};

onmessage = async ({data: {number, call, args}}) => {
  try {
    postMessage({number, result: await calls[call](...args)});
  } catch (error) {
    postMessage({number, error: error.message});
  }
};
