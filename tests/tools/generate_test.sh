#!/usr/bin/env bash
# generate, and score with a language model. Usage: generate_test.sh FUSELAGE DATA MODULE MAKE_MODEL

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
"$4" words.txt lm || fail "no language model"

printf 'the sky\n\na rose is\n' >prompts
works generate -m lm -i prompts -o expected
[[ $(wc -l <expected) -eq 3 ]] || fail "not a line per prompt: $(cat expected)"
works generate prompts -m lm
same out expected "a file as an argument"
timeout 60 "$fuselage" generate -m lm <prompts >out 2>/dev/null || fail "standard input"
same out expected "standard input"
works generate prompts -m lm --mini-batch 1 --cpu-threads 2
same out expected "other batches"
grep -qF "note: 1 line was empty (line 2)" err || fail "no note on an empty prompt: $(cat err)"
cp -r lm one_name
rm one_name/SHA256SUMS
sed -i -z 's/"words.txt",[[:space:]]*"words.txt"/"words.txt"/' one_name/config.json
grep -q '"words.txt"' one_name/config.json || fail "no vocabulary in the configuration"
works generate prompts -m one_name --quiet
same out expected "a model directory with one vocabulary"
works generate prompts -m lm -v words.txt
same out expected "a vocabulary that is given"

works generate prompts -m lm --include-prompt
paste -d ' ' prompts expected | sed 's/^ //; s/ $//' >joined
same out joined "prompts and continuations"
works generate prompts -m lm --max-new-tokens 2 --allow-unk --quiet
[[ $(wc -w <out) -le 6 ]] || fail "more words than --max-new-tokens: $(cat out)"
works generate prompts -m lm -b 3 --n-best --word-scores
[[ $(grep -cE '^2 \|\|\| .*\|\|\| WordScores= -[0-9. -]+ \|\|\| F0= -[0-9.]+ \|\|\| -[0-9.]+$' out) -eq 3 ]] ||
  fail "the n-best list: $(cat out)"
works generate prompts -m lm -b 3 --n-best --json
[[ $(grep -cE '^\{"line":[0-2],"continuations":\[\{"text":"' out) -eq 3 ]] || fail "JSON: $(cat out)"
works generate prompts -m lm -b 1 -n 1 --word-penalty 0.5 --json
[[ $(grep -cE '^\{"line":[0-2],"text":".*","score":-.*,"log_probability":-.*\}$' out) -eq 3 ]] ||
  fail "JSON: $(cat out)"

works generate prompts -m lm --output-sampling --seed 3 -b 2 --n-best -o drawn
works generate prompts -m lm --output-sampling full 1 --seed 3 -b 2 --n-best --mini-batch 1 --cpu-threads 2
same out drawn "samples in other batches"

refuses "give a language model with --model" generate prompts
refuses "translate with a Translator, the command translate" generate "${usual[@]}" -i prompts
refuses "with a Generator, the command generate" translate -m lm -i prompts
refuses "--max-new-tokens" generate prompts -m lm --max-new-tokens 0
refuses "--alignment" generate prompts -m lm --alignment

works score -m lm -t prompts
[[ $(grep -cE '^-[0-9]+\.[0-9]{6}$' out) -eq 3 ]] || fail "the scores of a text: $(cat out)"
works score -m lm -t prompts --word-scores
[[ $(sed -n 1p out | wc -w) -eq 6 ]] || fail "the scores of the words of a text: $(cat out)"
works score -m lm -t prompts --summary=perplexity
grep -qxE '[0-9.]+' out || fail "the perplexity: $(cat out)"
perplexity=$(cat out)
works score -m lm -t prompts --summary ce-mean-words
awk -v p="$perplexity" '{ d = exp($1) - p; exit d * d > 1e-6 }' out ||
  fail "the cross-entropy is $(cat out), the perplexity $perplexity"
works score -m lm -t prompts --summary
[[ $(wc -l <out) -eq 1 ]] || fail "a summary: $(cat out)"
refuses "--summary" score -m lm -t prompts --summary=entropy
refuses "--summary" score -m lm -t prompts --summary --json
refuses "give one text with -t TEXT" score -m lm -t prompts prompts
refuses "give the two texts with -t SOURCE TARGET" score "${usual[@]}" -t "$input"

works dump -m lm --summary
works convert -m lm -o again
works generate prompts -m again
same out expected "a converted model"

end
