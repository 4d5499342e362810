// The worker of the npm package @browsermt/bergamot-translator, on Fuselage: answers messages {id, name, args} with
// {id, result} or {id, error}. A script and a module alike, since pages start it as either.
(async () => {
  const port = typeof self === 'object' ? self : (await import('node:worker_threads')).parentPort;
  const ready = import('../service.js').then(({Service}) => new Service());
  const answer = async ({id, name, args}) => {
    try {
      const service = await ready;
      if (!service.answers(name)) throw new Error(`there is no function ${name}`);
      port.postMessage({id, result: await service[name](...args)});
    } catch ({name: kind, message, stack}) {
      port.postMessage({id, error: {name: kind, message, stack}});
    }
  };
  if (port.on) port.on('message', answer); else port.addEventListener('message', ({data}) => answer(data));
})();
