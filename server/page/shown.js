// The translation on the page: words that can be clicked, and lit together with those they are aligned with.

const shown = {
  text: '',         // the text that was translated
  source: '',       // languages
  target: '',
  sentences: [],    // with `place`, `source_tokens`, `translations`; after show() with `words`
  sourceWords: [],  // parts of the text
  links: new Map(), // from the element of a word to those that it is aligned with
};

const placeOf = ([begin, end]) => ({begin, end});
const sliceOf = (characters, begin, end) => characters.slice(begin, end).join('');

// Shows sentences of the server's reply in their text.
function show(text, reply) {
  Object.assign(shown, {text, source: reply.source, target: reply.target, sentences: reply.lines});
  render();
}

function showNothing() {
  Object.assign(shown, {text: '', sentences: [], sourceWords: []});
  shown.links.clear();
  closeMenu();
  at('mirror').replaceChildren('\u200B');
  at('translation').replaceChildren();
  at('translation').tabIndex = 0;
  at('more').hidden = true;
}

function render() {
  const characters = [...shown.text];
  const nodes = [];
  let place = 0;
  shown.links.clear();
  closeMenu();
  shown.sourceWords = partsOf(shown.text, shown.source);
  const mirrored = nodesOf(shown.sourceWords, 'source');
  if (at('text').value === shown.text) at('mirror').replaceChildren(...mirrored, '\u200B');
  shown.sourceWords = shown.sourceWords.filter(part => part.isWord);
  for (const sentence of shown.sentences) {
    const [begin, end] = sentence.place;
    nodes.push(sliceOf(characters, place, begin));
    place = end;
    const parts = partsOf(sentence.translations[0].text, shown.target);
    nodes.push(...nodesOf(parts, 'word'));
    sentence.words = parts.filter(part => part.isWord);
    for (const word of sentence.words) prepare(word, sentence);
    link(sentence);
  }
  nodes.push(sliceOf(characters, place));
  at('translation').replaceChildren(...nodes);
  at('translation').lang = shown.target;
  const first = at('translation').querySelector('.word');
  at('translation').tabIndex = first ? -1 : 0;
  if (first) first.tabIndex = 0;
  showAlternatives(characters);
}

// Whole texts in which each sentence has its next best translation.
function showAlternatives(characters) {
  const versions = shown.sentences.map(({translations}) => [...new Set(translations.map(({text}) => text))]);
  const count = Math.max(1, ...versions.map(texts => texts.length));
  const items = [];
  for (let rank = 1; rank < count; ++rank) {
    let text = '', place = 0;
    shown.sentences.forEach(({place: [begin, end]}, i) => {
      text += sliceOf(characters, place, begin) + versions[i][Math.min(rank, versions[i].length - 1)];
      place = end;
    });
    const item = document.createElement('li');
    item.textContent = text + sliceOf(characters, place);
    items.push(item);
  }
  at('alternatives').replaceChildren(...items);
  at('more').hidden = items.length === 0;
}

function prepare(word, sentence) {
  const {element} = word;
  element.tabIndex = -1;
  element.setAttribute('role', 'button');
  element.setAttribute('aria-haspopup', 'menu');
  element.onclick = () => openMenu(word, sentence);
  element.onkeydown = event => onWordKey(event, word, sentence);
  element.onfocus = element.onpointerenter = () => light(element);
  element.onblur = element.onpointerleave = () => light(null);
}

// Links the words of a sentence with those of its translation by the tokens that are aligned.
function link({place, source_tokens: sources, translations: [{tokens, alignment}], words}) {
  if (!sources || !tokens || !alignment) return;
  const own = shown.sourceWords.filter(part => overlap(part, placeOf(place)));
  const connect = (from, to) => {
    if (!shown.links.has(from)) shown.links.set(from, new Set());
    shown.links.get(from).add(to);
  };
  for (const [source, target] of alignment) {
    if (!sources[source] || !tokens[target]) continue;  // the end of the sentence
    for (const here of own.filter(part => overlap(part, placeOf(sources[source]))))
      for (const there of words.filter(part => overlap(part, placeOf(tokens[target])))) {
        connect(here.element, there.element);
        connect(there.element, here.element);
      }
  }
}

// Lights a word and those that it is aligned with; null: none.
function light(element) {
  for (const lit of document.querySelectorAll('.lit')) lit.classList.remove('lit');
  const others = shown.links.get(element);
  if (!others || at('text').value !== shown.text) return;
  for (const one of [element, ...others]) one.classList.add('lit');
}

// The word of the text below the pointer: the field is above it.
function lightSourceAt(x, y) {
  light(document.elementsFromPoint(x, y).find(element => element.className.startsWith?.('source')) ?? null);
}

// The word of the text at the caret.
function lightSourceAtCaret() {
  const field = at('text');
  const place = [...field.value.slice(0, field.selectionStart)].length;
  light(shown.sourceWords.find(word => word.begin <= place && place <= word.end)?.element ?? null);
}

function onWordKey(event, word, sentence) {
  const words = [...at('translation').querySelectorAll('.word')];
  const here = words.indexOf(word.element);
  const to = {ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: words.length - 1}[event.key];
  if (to !== undefined && words[to]) {
    word.element.tabIndex = -1;
    words[to].tabIndex = 0;
    words[to].focus();
  } else if (['Enter', ' ', 'ArrowDown'].includes(event.key)) {
    openMenu(word, sentence);
  } else {
    return;
  }
  event.preventDefault();
}
