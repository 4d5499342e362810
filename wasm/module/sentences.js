// A model translates a sentence at a time: a text is divided by the browser's own rules for its language, and blanks and
// line ends between sentences stay.

// The pieces of a text: {sentence} to translate, or {between} as it is.
export function piecesOf(text, language) {
  const segmenter = new Intl.Segmenter(language, {granularity: 'sentence'});
  const pieces = [];
  for (const line of text.split(/(\n+)/))
    for (const {segment} of segmenter.segment(line)) {
      const sentence = segment.trim();
      const begin = segment.indexOf(sentence);
      pieces.push({between: segment.slice(0, begin)});
      if (sentence) pieces.push({sentence});
      pieces.push({between: segment.slice(begin + sentence.length)});
    }
  return pieces.filter(({sentence, between}) => sentence || between);
}
