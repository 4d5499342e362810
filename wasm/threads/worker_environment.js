// What a worker of a browser has, by which the module knows where it runs. For Node, library.js gives it.
var {Worker, importScripts, self} = Module['environment'] || globalThis;
