// The page types a paragraph into itself and tells the translation; tests/wasm/wasm_test.sh reads it.
export async function selfTest() {
  const at = id => document.getElementById(id);
  const text = 'Tom is my friend. Where is the station?\n\nI am tired.';
  const until = async condition => {
    for (let i = 0; i < 600 && !condition(); ++i) await new Promise(done => setTimeout(done, 50));
  };
  for (let end = 1; end <= text.length; ++end) {
    at('text').value = text.slice(0, end);
    at('text').dispatchEvent(new Event('input'));
    await new Promise(done => setTimeout(done, 5));
  }
  const lines = () => at('translation').value.split('\n');
  let before;
  await until(() => lines().length === 3 && lines()[2] && before === (before = at('translation').value) && /[.!]$/.test(lines()[2]));
  const result = document.createElement('pre');
  result.id = 'selftest';
  result.textContent = JSON.stringify({ready: document.documentElement.dataset.ready, translation: at('translation').value});
  document.body.append(result);
}
