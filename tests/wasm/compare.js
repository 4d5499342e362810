// Compares the module's n-best lists with those of the command, bit by bit.

// `lines`: the command's lines of JSON, with the digits of every float. Returns the differences, and the number of
// hypotheses that were compared.
export function compare(lines, found) {
  const differences = [];
  let hypotheses = 0;
  const same = (native, own, where) => {
    if (!Object.is(native, own)) differences.push(`${where}: ${native} natively, ${own} here`);
  };
  lines.forEach(({translations}, line) => {
    same(translations.length, found[line].length, `line ${line}: hypotheses`);
    translations.forEach((native, rank) => {
      const own = found[line][rank] ?? {wordScores: []};
      const where = `line ${line}, hypothesis ${rank}`;
      ++hypotheses;
      same(native.text, own.text, `${where}: text`);
      same(Math.fround(native.score), own.score, `${where}: score`);
      same(Math.fround(native.log_probability), own.logProbability, `${where}: log-probability`);
      same(native.word_scores.length, own.wordScores.length, `${where}: words`);
      native.word_scores.forEach((score, word) =>
        same(Math.fround(score), own.wordScores[word], `${where}: score of word ${word}`));
    });
  });
  return {differences, hypotheses};
}

export const parseLines = text => text.split('\n').filter(Boolean).map(line => JSON.parse(line));
