// The menu of a word of the translation, with other words for its place.

let menuWord = null;  // the element whose menu is open

function closeMenu(focus = false) {
  at('menu').hidden = true;
  if (!menuWord) return;
  menuWord.removeAttribute('aria-expanded');
  if (focus) menuWord.focus();
  menuWord = null;
}

function menuItem(label, choose) {
  const item = document.createElement('div');
  item.setAttribute('role', 'menuitem');
  item.tabIndex = -1;
  item.textContent = label;
  if (choose)
    item.onclick = choose;
  else
    item.setAttribute('aria-disabled', 'true');
  return item;
}

// Also when the window changes, as it does when a phone puts its keyboard away.
function placeMenu() {
  if (!menuWord) return;
  const menu = at('menu');
  const box = menuWord.getBoundingClientRect();
  menu.style.left = menu.style.top = '0';
  const right = document.documentElement.clientWidth - menu.offsetWidth - 8;
  menu.style.left = `${Math.max(8, Math.min(box.left, right)) + scrollX}px`;
  menu.style.top = `${box.bottom + 4 + scrollY}px`;
}

function fillMenu(items) {
  at('menu').replaceChildren(...items);
  placeMenu();
  items[0].focus({preventScroll: true});
  items[0].scrollIntoView({block: 'nearest'});
}

// What a translation of the sentence has to begin with goes to the server; so does the sentence as it is read.
function translateSentence(sentence, prefix, count) {
  const [begin, end] = sentence.place;
  const text = sliceOf([...shown.text], begin, end).replace(/\s+/gu, ' ');
  const wanted = {text: [text], source: shown.source, target: shown.target, n_best: count};
  if (prefix) wanted.prefix = [prefix];
  if (sentence.source_tokens) wanted.alignment = wanted.tokens = true;
  return translateLines(wanted);
}

async function openMenu(word, sentence) {
  closeMenu();
  // By way of another language, the last model is one that translates from there.
  const model = modelsOf(shown.source, shown.target)[0] ?? modelsOf('auto', shown.target)[0];
  if (!model?.prefix) return;
  const element = menuWord = word.element;
  element.setAttribute('aria-expanded', 'true');
  at('menu').hidden = false;
  at('menu').setAttribute('aria-label', `Other words for ${word.text}`);
  at('menu').lang = shown.target;
  fillMenu([menuItem('…')]);
  const present = sentence.translations[0].text;
  try {
    const prefix = sliceOf([...present], 0, word.begin).trimEnd();
    const reply = await translateSentence(sentence, prefix, model.n_best);
    if (menuWord !== element) return;
    const texts = [...reply.lines[0].translations, ...sentence.translations].map(({text}) => text);
    const choices = choicesAt(texts, present, word, shown.target);
    fillMenu(choices.length ? choices.map(choice => menuItem(choice.label, () => choose(word, sentence, choice)))
                            : [menuItem('no other words')]);
  } catch (error) {
    if (menuWord === element) fillMenu([menuItem(error.message)]);
  }
}

// Translates the sentence with the choice as its beginning, and puts the focus on what was chosen.
async function choose(word, sentence, {prefix}) {
  closeMenu();
  try {
    const reply = await translateSentence(sentence, prefix, kVersions);
    if (!shown.sentences.includes(sentence)) return;
    sentence.translations = reply.lines[0].translations;
    render();
    const chosen = sentence.words.find(({begin}) => begin >= word.begin) ?? sentence.words[0];
    at('translation').querySelector('.word').tabIndex = -1;
    chosen.element.tabIndex = 0;
    chosen.element.focus();
    say('');
  } catch (error) {
    say(error.message, true);
  }
}

function onMenuKey(event) {
  const items = [...at('menu').children];
  const here = items.indexOf(document.activeElement);
  const last = items.length - 1;
  const to = {ArrowDown: here < last ? here + 1 : 0, ArrowUp: here > 0 ? here - 1 : last, Home: 0, End: last}[event.key];
  if (to !== undefined) items[to].focus();
  else if (event.key === 'Enter' || event.key === ' ') items[here]?.onclick?.();
  else if (event.key === 'Escape' || event.key === 'Tab') closeMenu(true);
  else return;
  event.preventDefault();
}
