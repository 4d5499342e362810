// Usage: firefox.mjs FOLDER FILES INPUT EXPECTED: translates the lines of INPUT by the interface of bergamot-translator in
// FOLDER, with the model of FILES, which has the form of Firefox's: model.intgemm.alphas.bin, lex.s2t.bin and vocab.spm.
// Compares them with the lines of EXPECTED.
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, files, input, expected] = process.argv.slice(2);
const {BatchTranslator} = await import(pathToFileURL(path.resolve(folder, 'bergamot/translator.js')));
const linesOf = async file => (await readFile(file, 'utf8')).trimEnd().split('\n');
const file = name => ({name: pathToFileURL(path.resolve(files, name)).href});

const registry = {ende: {
  model: file('model.intgemm.alphas.bin'), lex: file('lex.s2t.bin'), vocab: file('vocab.spm'),
}};
const translator = new BatchTranslator({registryUrl: `data:application/json,${JSON.stringify(registry)}`});
const found = await Promise.all((await linesOf(input)).map(text => translator.translate({from: 'en', to: 'de', text})));
await translator.delete();

const native = await linesOf(expected);
const differences = found.filter(({target}, line) => target.text !== native[line]).length;
console.log(`files in Firefox's form: ${found.length} lines compared, ${differences} differences`);
process.exitCode = differences || found.length !== native.length ? 1 : 0;
