// Usage: n_best.mjs FOLDER MODEL INPUT PRECISION THREADS OUTPUT: translates the lines of INPUT by the module in FOLDER and
// compares the n-best lists with OUTPUT, which the command wrote (translate --n-best --word-scores --json). Tells the times.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {compare, parseLines} from './compare.js';

const [folder, model, input, precision, threads, output] = process.argv.slice(2);
const module = file => import(pathToFileURL(path.resolve(folder, file)));
const {Engine} = await module('engine.js');
const {readModel} = await module('model_files.js');

const lines = (await readFile(input, 'utf8')).trimEnd().split('\n');
const begin = performance.now();
const files = await readModel(name => readFile(path.join(model, name)));
const bytes = [...files.values()].reduce((sum, {length}) => sum + length, 0);
const engine = await Engine.open(files, {precision, threads: Number(threads)});
assert.equal(engine.threads, Number(threads));
const loaded = performance.now();
engine.translate([lines[0]]);
const first = performance.now();
const before = process.cpuUsage();
const found = engine.translate(lines);
const cpuSeconds = process.cpuUsage(before).user / 1e6;
const seconds = (performance.now() - first) / 1e3;
const words = lines.join(' ').split(/\s+/).length;
const title = `${path.basename(model)}, ${precision}, threads: ${threads}`;
console.log(`${title}: ${words} words, ${(words / seconds).toFixed(0)} a second, ` +
  `${(words / cpuSeconds).toFixed(0)} a second of the processor; first translation after ` +
  `${(first - begin).toFixed(0)} ms, ${(loaded - begin).toFixed(0)} of them to load; memory ` +
  `${(engine.memory / bytes).toFixed(2)} times the model's ${bytes} bytes`);
if (output) {
  const {differences, hypotheses} = compare(parseLines(await readFile(output, 'utf8')), found);
  for (const difference of differences.slice(0, 10)) console.error(`FAILED: ${title}: ${difference}`);
  console.log(`${title}: ${hypotheses} hypotheses compared, ${differences.length} differences`);
  process.exitCode = differences.length || !hypotheses ? 1 : 0;
}
engine.close();
