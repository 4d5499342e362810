// The worker of fuselage.js: answers {number, call, arguments} with {number, result} or {number, error}.
import {Engine} from './engine.js';
import {fetchBytes, readModel} from './model_files.js';

let engine;

const calls = {
  async open(model, options) {
    const [wasm, files] = await Promise.all([
      fetchBytes(new URL('fuselage-module.wasm', import.meta.url)),
      readModel(name => fetchBytes(new URL(name, model))),
    ]);
    engine = await Engine.open(wasm, files, options);
    const {text} = JSON.parse(new TextDecoder().decode(files.get('config.json')));
    return {source: text?.['source-language'], target: text?.['target-language'], version: engine.version};
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
