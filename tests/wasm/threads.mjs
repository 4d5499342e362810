// Usage: threads.mjs FOLDER MODEL: the threads of the module in FOLDER. The last line tells how many checks passed.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {check, tellPassed} from './checks.mjs';

const [folder, model] = process.argv.slice(2);
const module = file => import(pathToFileURL(path.resolve(folder, file)));
const {Engine} = await module('engine.js');
const {Library} = await module('library.js');
const {readModel} = await module('model_files.js');
const files = await readModel(name => readFile(path.join(model, name)));
const lines = ['Tom is here.', 'I am tired.', 'Where is the station?'];
const bestOf = engine => engine.translate(lines).map(([{text}]) => text);

await check('numbers that are none', async () => {
  for (const threads of [0, -1, 1.5, '2']) await assert.rejects(Library.load(threads), /threads must be 1 or more/);
});
await check('one by default', async () => {
  const engine = await Engine.open(files);
  assert.equal(engine.threads, 1);
  engine.close();
});
await check('several models and calls, one after another, with the same threads', async () => {
  const library = await Library.load(2);
  const engines = [new Engine(library, files), new Engine(library, files)];
  const expected = bestOf(engines[0]);
  assert.equal(expected[0], 'Tom ist hier.');
  for (let i = 0; i < 10; ++i) assert.deepEqual(bestOf(engines[i % 2]), expected);
  for (const engine of engines) engine.close();
  library.close();
});
await check('an error, and a translation after it', async () => {
  const library = await Library.load(2);
  assert.throws(() => new Engine(library, files, {precision: 'int5'}), /int5/);
  assert.throws(() => new Engine(library, files, {device: 'cpu'}), /there is no option device/);
  assert.equal(bestOf(new Engine(library, files))[0], 'Tom ist hier.');
});
// The last library is not closed: its threads do not keep the program from ending.
tellPassed('threads');
