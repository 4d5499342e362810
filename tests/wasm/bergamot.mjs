// Usage: bergamot.mjs FOLDER: the interface of bergamot-translator's package on the module in FOLDER, with the model of its
// registry, the bundled one. The last line tells how many checks passed.
import assert from 'node:assert/strict';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {check, tellPassed} from './checks.mjs';

const [folder] = process.argv.slice(2);
const {BatchTranslator, CancelledError, LatencyOptimisedTranslator, SupersededError, TranslatorBacking} =
  await import(pathToFileURL(path.resolve(folder, 'bergamot/translator.js')));

const pair = {from: 'en', to: 'de'};
const silent = {onerror: () => {}};

const batch = new BatchTranslator({batchSize: 2, cacheSize: 10});
await check('a text of several sentences', async () => {
  const request = {...pair, text: 'Tom is my friend. Where is the station?\n\nI am tired.'};
  const response = await batch.translate(request);
  assert.equal(response.request, request);
  assert.equal(response.target.text, 'Tom ist mein Freund. Wo ist der Bahnhof?\n\nIch bin müde.');
});
await check('HTML', async () => {
  const {target} = await batch.translate({...pair, text: '<p class="x">My <b>friend</b> is here.</p>', html: true});
  assert.equal(target.text, '<p class="x">Mein <b>Freund</b> ist hier.</p>');
});
await check('many texts, in batches by priority', async () => {
  const texts = ['Tom is here.', 'I am tired.', 'Tom is here.', 'Where is the station?', 'Hello!'];
  const order = [];
  const found = await Promise.all(texts.map(async (text, i) => {
    const {target} = await batch.translate({...pair, text, priority: -i});
    order.push(i);
    return target.text;
  }));
  assert.equal(found[0], 'Tom ist hier.');
  assert.equal(found[2], found[0]);
  assert.ok(order.indexOf(4) < order.indexOf(0), `order ${order}`);
});
await check('requests that are removed', async () => {
  const kept = batch.translate({...pair, text: 'I am tired.', tab: 1});
  const removed = batch.translate({...pair, text: 'Tom is here.', tab: 2});
  await new Promise(done => setImmediate(done));
  batch.remove(({tab}) => tab === 2);
  await assert.rejects(removed, error => error instanceof CancelledError && error.request.tab === 2);
  assert.equal((await kept).target.text, 'Ich bin müde.');
});
await check('languages without a model', () =>
  assert.rejects(batch.translate({from: 'en', to: 'fr', text: 'a'}), /No model available to translate from 'en' to 'fr'/));
await check('quality scores', () =>
  assert.rejects(batch.translate({...pair, text: 'Hello!', qualityScores: true}), /no quality scores/));
await batch.delete();

const quick = new LatencyOptimisedTranslator();
await check('the newest text', async () => {
  const older = quick.translate({...pair, text: 'Tom is here.'});
  const newer = quick.translate({...pair, text: 'I am tired.'});
  await assert.rejects(older, SupersededError);
  assert.equal((await newer).target.text, 'Ich bin müde.');
});
await check('an aborted text', async () => {
  const controller = new AbortController();
  const aborted = quick.translate({...pair, text: 'Hello!'}, {signal: controller.signal});
  controller.abort();
  await assert.rejects(aborted, CancelledError);
});
await quick.delete();

// Two models, one after the other: here the same one twice.
class TwoModels extends TranslatorBacking {
  async loadModelRegistery() {
    const [{files}] = await super.loadModelRegistery();
    return [{from: 'fr', to: 'en', files}, {from: 'en', to: 'de', files}];
  }
}
const through = new BatchTranslator({}, new TwoModels({}));
await check('by way of a pivot language', async () =>
  assert.match((await through.translate({from: 'fr', to: 'de', text: 'Tom is here.'})).target.text, /Tom/));
await through.delete();

const broken = new BatchTranslator({...silent, workerUrl: new URL('data:text/javascript,throw new Error("no worker")')});
await check('a worker that does not load', () => assert.rejects(broken.translate({...pair, text: 'a'}), /worker/));
await broken.delete();

const damaged = new TranslatorBacking({});
await check('a file with another digest', () =>
  assert.rejects(damaged.fetch(damaged.registryUrl, '0'.repeat(64)), /is not the file whose SHA-256/));

tellPassed("bergamot's interface");
