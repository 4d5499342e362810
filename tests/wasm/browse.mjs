// Usage: browse.mjs CHROMIUM URL ELEMENT SECONDS: opens a page in headless Chromium, waits until the element with this id
// has a text other than "running", and prints it. Virtual time (--dump-dom) does not wait for workers.
import {spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';

const [chromium, url, element, seconds] = process.argv.slice(2);
const home = await mkdtemp(path.join(tmpdir(), 'browse-'));
const browser = spawn(chromium, [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage',
  '--disable-background-networking', `--user-data-dir=${home}`, '--remote-debugging-pipe',
], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: {...process.env, HOME: home}});

// The protocol of the developer tools: messages of JSON that end with a zero byte.
const waiting = new Map();
let number = 0, rest = '';
browser.stdio[4].setEncoding('utf8').on('data', data => {
  const messages = (rest + data).split('\0');
  rest = messages.pop();
  for (const {id, result, error} of messages.map(message => JSON.parse(message))) {
    waiting.get(id)?.(result ?? {error});
    waiting.delete(id);
  }
});
const call = (method, params = {}, sessionId = undefined) => new Promise(resolve => {
  waiting.set(++number, resolve);
  browser.stdio[3].write(`${JSON.stringify({id: number, method, params, sessionId})}\0`);
});

const {targetId} = await call('Target.createTarget', {url});
const {sessionId} = await call('Target.attachToTarget', {targetId, flatten: true});
const expression = `document.getElementById(${JSON.stringify(element)})?.textContent`;
let text;
for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
  const {result} = await call('Runtime.evaluate', {expression}, sessionId);
  text = result?.value;
  if (text && text !== 'running') break;
  await new Promise(done => setTimeout(done, 100));
}
console.log(text ?? 'there is no result');
browser.kill();
await new Promise(done => browser.on('exit', done));
await rm(home, {recursive: true, force: true, maxRetries: 10});
