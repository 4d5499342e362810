// The files of a model directory, which its SHA256SUMS lists. `read` gives the bytes of one by its name.
export async function readModel(read) {
  const sums = await read('SHA256SUMS');
  const names = new TextDecoder().decode(sums).split('\n').filter(Boolean).map(line => line.slice(66));
  const files = await Promise.all(names.map(async name => [name, await read(name)]));
  return new Map([['SHA256SUMS', sums], ...files]);
}

export async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`cannot fetch ${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

// The same, and of files in Node.
export async function readBytes(url) {
  if (url.protocol !== 'file:') return fetchBytes(url);
  const {readFile} = await import('node:fs/promises');
  return readFile(url);
}
