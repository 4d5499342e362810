'use strict';
// Places in texts are counted in characters, as the server counts them.

// The parts of a text, each with its place and whether it is a word.
function partsOf(text, language) {
  let locale;
  try {
    locale = Intl.getCanonicalLocales(language)[0];
  } catch {
    // A code of the model's own.
  }
  const parts = [];
  let at = 0;
  const add = (part, isWord) => {
    const begin = at;
    at += [...part].length;
    parts.push({text: part, begin, end: at, isWord});
  };
  if (Intl.Segmenter) {
    for (const {segment, isWordLike} of new Intl.Segmenter(locale, {granularity: 'word'}).segment(text))
      add(segment, isWordLike);
  } else {
    for (const [part, word] of text.matchAll(/([\p{L}\p{M}\p{N}'’]+)|[^\p{L}\p{M}\p{N}'’]+/gu)) add(part, Boolean(word));
  }
  return parts;
}

const overlap = (a, b) => a.begin < b.end && b.begin < a.end;

// Nodes for the parts of a text; each word has an element of this class.
function nodesOf(parts, style) {
  return parts.map(part => {
    if (!part.isWord) return document.createTextNode(part.text);
    part.element = document.createElement('span');
    part.element.className = style;
    part.element.textContent = part.text;
    return part.element;
  });
}

// What other translations of a sentence have at the place of a word: a list of `label` and `prefix`, the
// beginning of the translation up to the choice. Where one has the same word there, the label goes on to the
// first word that differs.
function choicesAt(translations, present, word, language) {
  const characters = [...present];
  const before = characters.slice(0, word.begin).join('');
  const own = partsOf(present, language).filter(part => part.isWord && part.begin >= word.begin);
  const choices = new Map();
  for (const text of translations) {
    const words = partsOf(text, language).filter(part => part.isWord);
    const start = words.findIndex(part => part.begin >= word.begin);
    const all = [...text];
    // Another beginning, or one in whose last word the translation goes on.
    if (start < 0 || all.slice(0, word.begin).join('') !== before) continue;
    let last = start;
    while (words[last + 1] && own[last - start] && words[last].text === own[last - start].text) ++last;
    if (own[last - start] && words[last].text === own[last - start].text) continue;
    const label = all.slice(words[start].begin, words[last].end).join('');
    if (!choices.has(label)) choices.set(label, {label, prefix: all.slice(0, words[last].end).join('')});
  }
  return [...choices.values()].sort((a, b) => partsOf(a.label, language).length - partsOf(b.label, language).length);
}
