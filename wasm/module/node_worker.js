// Workers of pages in Node, whose own have another interface. This file is also the script that such a worker begins with.
import {Worker, parentPort, workerData} from 'node:worker_threads';

class PageWorker extends Worker {
  constructor(script) {
    super(new URL(import.meta.url), {workerData: {pageScript: script}});
    this.on('message', data => this.onmessage({data}));
    this.on('error', error => this.onerror(error));
  }
}

// What wasm/threads/worker_environment.js asks for: the module takes what has importScripts for a worker.
const importScripts = () => {};
export const environment = {Worker: PageWorker, importScripts, self: {location: {href: import.meta.url}}};

if (workerData?.pageScript) {
  Object.assign(globalThis, {
    self: globalThis, location: {href: workerData.pageScript}, importScripts,
    postMessage: message => parentPort.postMessage(message),
  });
  await import(workerData.pageScript);
  parentPort.on('message', data => self.onmessage({data}));
}
