#!/usr/bin/env bash
# Translations, scores and their output formats. Usage: translate_test.sh FUSELAGE DATA MODULE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

# Translations do not depend on how they are computed.
works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores -o expected
[[ $(cut -d' ' -f1 expected | sort -n | uniq | wc -l) -eq 40 ]] || fail "40 lines in, 40 lines out"
for way in "--mini-batch 1 --maxi-batch 1 --cpu-threads 1" "--mini-batch 16 --maxi-batch 10 --maxi-batch-sort src" "--cpu-threads 3 --mini-batch 2" \
  "--threads-per-sentence 3" "--cpu-threads 2 --threads-per-sentence 2 --mini-batch 5" \
  "--mini-batch-words 100 --maxi-batch 50 --cpu-threads 2" "--mini_batch=64 --quiet"; do
  # shellcheck disable=SC2086
  works translate "${usual[@]}" -b 2 --n-best --word-scores $way <"$input"
  same out expected "$way"
done
works translate "${usual[@]}" -b 1 --word-scores --max-length-factor 2 -i "$input"
cut -d'|' -f1 out >texts
cut -d'|' -f1 "$data/transformer-ssru/expected.greedy.txt" >expected.texts
same texts expected.texts "greedy"

# What a vocabulary cannot write comes through by placeholders.
bundled=$data/../../models/en-de
printf 'It costs 5 € 😀.\nTom is here.\n' >signs
works translate -m "$bundled" -i signs
printf 'Es kostet 5 € 😀.\nTom ist hier.\n' >expected.signs
same out expected.signs "placeholders"
works translate -m "$bundled" -i signs --placeholders DVD,XYZ
same out expected.signs "--placeholders"
works translate -m "$bundled" -i signs --no-placeholders
grep -q € out && fail "--no-placeholders has an effect on €"
refuses "the placeholder 'a b' must be a word" translate -m "$bundled" -i signs --placeholders "DVD,a b"
refuses "excludes" translate -m "$bundled" -i signs --placeholders DVD --no-placeholders

# A greedy search over the words that can be produced finds the same, with higher scores.
works translate "${usual[@]}" -b 1 --n-best --max-length-factor 2 -i "$input" -o plain
works translate "${usual[@]}" -b 1 --n-best --max-length-factor 2 -i "$input" --renormalize -o renormalized
cut -d'|' -f1-4 plain >plain.texts
cut -d'|' -f1-4 renormalized >renormalized.texts
same renormalized.texts plain.texts "--renormalize"
paste <(awk '{print $NF}' plain) <(awk '{print $NF}' renormalized) |
  awk '$2 < $1 {bad = 1} $2 > $1 {more = 1} END {exit bad || !more}' || fail "--renormalize: scores"

# Samples depend on the seed and the number of a line alone.
drawn=(translate "${usual[@]}" --output-sampling nucleus 0.95 --word-scores)
works "${drawn[@]}" --seed 11 -i "$input" -o expected.drawn
works "${drawn[@]}" --seed 11 --mini-batch 7 --cpu-threads 3 <"$input"
same out expected.drawn "samples in other batches"
works "${drawn[@]}" --seed 15 < <(sed -n 5p "$input")
sed -n 5p expected.drawn >fifth
same out fifth "the sample of a line alone"
works "${drawn[@]}" --seed 12 -i "$input"
cmp -s out expected.drawn && fail "another seed draws the same"
works "${drawn[@]}" --seed 11 -b 3 --n-best -i "$input"
[[ $(cut -d' ' -f1 out | sort -n | uniq -c | awk '$1 == 3' | wc -l) -eq 40 ]] || fail "three samples of each line"
works translate "${usual[@]}" --output-sampling -i "$input"
works translate "${usual[@]}" --output-sampling topk -i "$input"

# A GPU is a device, by a module that is loaded; errors of the module are the command's.
gpu=(translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --device)
export FUSELAGE_CUDA_MODULE=$module
# The stand-in has the kernels of the CPU, of which none adds sinusoids of positions.
for device in cuda cuda:0 cuda:1 cuda:0,cuda:1 cuda,cuda; do
  works "${gpu[@]}" "$device" --deterministic --passes all,-fuse_positions
  same out expected "--device $device"
done
refuses "there is no GPU 2" "${gpu[@]}" cuda:2
refuses "there is no GPU 3" "${gpu[@]}" cuda:0,cuda:3
# The stand-in computes on the CPU, which rounds no rows.
works "${gpu[@]}" cuda --precision fp16 --passes all,-round_rows,-round_attention
refuses "the cpu back-end has no products in fp16; use fp32, bf16, int16" "${gpu[@]}" cpu --precision fp16
refuses "no kernel for 1 node: linear_k_best" "${gpu[@]}" cuda -b 70
refuses "the best 64 at most, not 71" "${gpu[@]}" cuda -b 70
refuses "the cuda back-end has no products in int4; use fp32, bf16" "${gpu[@]}" cuda --precision int4
refuses "--device: cpu, cuda or cuda:N is needed, not 'cuda:x'" "${gpu[@]}" cuda:x
refuses "--device: cpu, cuda or cuda:N is needed, not 'cuda:-1'" "${gpu[@]}" cuda:-1
refuses "is needed, not ''" "${gpu[@]}" cuda:0,
refuses "several devices are GPUs of one kind, as cuda:0,cuda:1, not 'cpu' after 'cuda:0'" "${gpu[@]}" cuda:0,cpu
refuses "several devices are GPUs of one kind, as cuda:0,cuda:1, not 'cpu' after 'cpu'" "${gpu[@]}" cpu,cpu
refuses "at most 64 devices are possible, not 65" "${gpu[@]}" "cuda$(printf ',cuda%.0s' {1..64})"
refuses "the cuda back-end has no use for threads-per-sentence; leave it out, or take the cpu back-end" "${gpu[@]}" cuda --threads-per-sentence 2
refuses "the cuda back-end has no use for weights-cache" "${gpu[@]}" cuda --weights-cache cache
refuses "the cpu back-end has no use for tf32; leave it out, or take the cuda back-end" "${gpu[@]}" cpu --tf32
refuses "is needed, not 'cud'; did you mean 'cuda'?" "${gpu[@]}" cud
refuses "the reference back-end has no use for threads-per-sentence" \
  translate "${usual[@]}" -i "$input" --backend reference --threads-per-sentence 7
refuses "the reference back-end has no use for weights-cache" \
  translate "${usual[@]}" -i "$input" --backend reference --weights-cache cache
refuses "--device excludes --backend" "${gpu[@]}" cuda --backend reference
export FUSELAGE_CUDA_MODULE=$PWD/missing.so
refuses "there is no CUDA back-end at $PWD/missing.so" "${gpu[@]}" cuda
echo 'no library' >missing.so
refuses "the CUDA back-end does not load: $PWD/missing.so" "${gpu[@]}" cuda
works dump "$model" --device cuda --program step
grep -qE '= linear_k_best.*# output_layer \(fused_output: it multiplies with matrices of bf16' out ||
  fail "a dump for CUDA: $(grep k_best out)"
works dump "$model" --device cuda --program step --precision bf16
grep -qE '= linear_k_best.*# fused_output$' out || fail "a dump for CUDA: $(grep k_best out)"
works dump "$model" --device cuda --program step --precision fp16
grep -qE '= linear_k_best.*# fused_output$' out || fail "a dump in fp16: $(grep k_best out)"
works dump "$model" --device cuda --program load
grep -qE '= mul\(.*# binary$' out || fail "the load program is the CPU's"
works dump "$model" --device cuda --program step -b 70
grep -qE '# no kernel .*the best 64 at most' out || fail "a dump tells what no kernel runs"
works dump "$model" --device cuda --summary
grep -qE '^step +kernels +[1-9]' out || fail "figures of CUDA's kernels: $(cat out)"
refuses "the cuda back-end has no use for profile" dump "$model" --device cuda --profile "$input"
unset FUSELAGE_CUDA_MODULE

# Odd lines give one line each, and notes.
{
  printf '▁Tom\n\n   \n'
  head -c 100000 /dev/zero | tr '\0' 'a'
  printf '\n'
  for _ in $(seq 3000); do printf '▁Tom '; done
  printf '\n\xff\xfe abc\nab\0cd\n\r\nlast'
} >odd
works translate "${usual[@]}" -i odd -b 2
[[ $(wc -l <out) -eq 9 ]] || fail "9 odd lines gave $(wc -l <out) lines"
[[ $(sed -n '2p;3p;8p' out | tr -d '\n') == "" ]] || fail "empty lines have translations"
grep -qF 'note: 3 lines were empty (lines 2, 3, 8)' err || fail "no note on empty lines"
grep -qF 'note: 1 line longer than 1000 tokens was cut (line 5)' err || fail "no note on the cut"
grep -qF '(lines 6, 7)' err || fail "no note on invalid text"
works translate "${usual[@]}" -i odd -b 2 --quiet --max-length-crop
[[ ! -s err ]] || fail "--quiet prints: $(cat err)"
refuses "line 5 has 3001 tokens" translate "${usual[@]}" -i odd --strict -o strict.out
[[ $(wc -l <strict.out) -eq 4 ]] || fail "lines before an error are lost"
works translate "${usual[@]}" -i /dev/null
[[ ! -s out ]] || fail "no lines in, no lines out"
works translate "${usual[@]}" --n-best --alignment --word-scores -i <(printf '\n')
[[ $(cat out) == "0 |||  ||| 0-0 ||| WordScores= 0.00000 ||| F0= 0 ||| 0" ]] ||
  fail "empty line: $(cat out)"

refuses "--threads-per-sentence" translate "${usual[@]}" --threads-per-sentence 0
refuses "--threads-per-sentence" translate "${usual[@]}" --threads-per-sentence x

# Lines come out while the input pauses, whatever the batch size.
mkfifo to from
"$fuselage" translate "${usual[@]}" --mini-batch 64 --maxi-batch 100 <to >from &
exec 3>to 4<from
for _ in 1 2; do
  echo '▁Tom' >&3
  read -r -t 20 answer <&4 || fail "no answer while the input is open"
done
exec 3>&-
wait $! || fail "translating line by line"
exec 4<&-

# Scoring reports what decoding reports.
works translate "${usual[@]}" -b 1 --word-scores -i "$input" -o decoded
sed 's/ ||| .*//' decoded >decoded.text
works score "${usual[@]}" -t "$input" decoded.text --word-scores
paste -d'\n' <(sed 's/.* ||| //' decoded) <(sed 's/.* ||| //' out) | awk '
  NR % 2 { n = split($0, a, " "); next }
  { m = split($0, b, " ")
    # A translation that was cut has no end symbol; its text has.
    if (m != n && m != n + 1) exit 1
    for (i = 2; i <= n; ++i) if (a[i] - b[i] > 2e-5 || b[i] - a[i] > 2e-5) exit 1 }' ||
  fail "scores differ from those of decoding"
# Rescoring an n-best list: the features of the same model agree, without a normalization.
works translate "${usual[@]}" -b 3 -n 0 --n-best --alignment -i "$input" -o n-best
grep -v '^[1-4] ' n-best >some # not each line has entries
works score "${usual[@]}" --n-best -t "$input" some
sed 's/ Score= [^ ]*//' out >without
same without some "entries with a further feature"
awk -F ' [|][|][|] ' '{ split($4, f, " "); d = f[2] - f[4]; bad += f[3] != "Score=" || d > 1e-3 || d < -1e-3 }
  END { exit !(NR > 50 && bad == 0) }' out || fail "scores of n-best lists: $(cat out)"
works score "${usual[@]}" --n-best --n-best-feature F9 --word-scores -t "$input" some --mini-batch 1
head -n 1 out | grep -qE '^0 \|\|\| .* \|\|\| WordScores= [^|]* \|\|\| F0= [^ ]* F9= [^ ]* \|\|\| -' ||
  fail "fields of n-best lists: $(head -n 1 out)"
works score "${usual[@]}" --n-best --json -t "$input" some
[[ $(wc -l <out) -eq $(wc -l <some) ]] || fail "n-best lists as JSON"
head -n 1 out | grep -qE '^\{"line":0,"text":".*","score":-.*\}$' || fail "n-best lists as JSON: $(head -n 1 out)"
works score "${usual[@]}" --n-best --summary -t "$input" some
[[ $(wc -w <out) -eq 1 ]] || fail "the summary of an n-best list: $(cat out)"
tac some >wrong
refuses "sort the list by the number of the source line" score "${usual[@]}" --n-best -t "$input" wrong
refuses "of source line 5, counted from 0, but the source text has 2 lines" score "${usual[@]}" --n-best -t two some
refuses "entry 1 of the n-best list has 1 field instead of four" score "${usual[@]}" --n-best -t two two
refuses "cannot be called 'a b'" score "${usual[@]}" --n-best --n-best-feature 'a b' -t two some
refuses "the target text ends after 1 line" score "${usual[@]}" -t two one
refuses "give the two texts with -t" score "${usual[@]}"
works score "${usual[@]}" -t one one --normalize -o score.out
grep -qE '^-[0-9]+\.[0-9]{6}$' score.out || fail "the form of a score: $(cat score.out)"

# JSON has the numbers of the text form.
if command -v python3 >/dev/null; then
  works translate "${usual[@]}" -b 2 --n-best --word-scores --alignment -i "$input" -o text.out
  works translate "${usual[@]}" -b 2 --n-best --word-scores --alignment --json -i "$input"
  python3 - out text.out <<'PYTHON' || fail "n-best lists as JSON"
import json, sys
def near(text, number): return abs(float(text) - number) < 1e-4
rows = []
for line in open(sys.argv[1]):
    o = json.loads(line)
    assert list(o) == ["line", "translations"], o
    rows += [(o["line"], t) for t in o["translations"]]
lines = open(sys.argv[2]).read().splitlines()
assert len(lines) == len(rows) > 40
for text, (line, t) in zip(lines, rows):
    number, words, pairs, scores, sum, score = text.split(" ||| ")
    assert (int(number), words) == (line, t["text"]), (text, t)
    assert pairs == " ".join("%d-%d" % tuple(p) for p in t["alignment"]), (text, t)
    assert all(map(near, scores.split()[1:], t["word_scores"])), (text, t)
    assert len(scores.split()) == 1 + len(t["word_scores"]), (text, t)
    assert near(sum.split()[1], t["log_probability"]) and near(score, t["score"]), (text, t)
PYTHON
  works translate "${usual[@]}" -b 2 --alignment soft --json -i two
  python3 -c 'import json
for line in open("out"):
    o = json.loads(line)
    assert all(abs(sum(row) - 1) < 1e-3 for row in o["alignment"]), o' || fail "soft alignments as JSON"
  works score "${usual[@]}" -t "$input" decoded.text --word-scores --json
  python3 -c 'import json
for line in open("out"):
    o = json.loads(line)
    assert abs(sum(o["word_scores"]) - o["log_probability"]) < 1e-3, o' || fail "scores as JSON"
fi

# Shortlists: of all words, of few, of a batch, and in a configuration.
mkdir -p lists
sed -n 's/^"\(.*\)": .*/\1 \1 0.5/p' "$vocabulary" >lists/lex.s2t
works translate "${usual[@]}" -i "$input" -b 2 -o plain
works translate "${usual[@]}" -i "$input" -b 2 --shortlist lists/lex.s2t 1000000
same out plain "a shortlist of all words"
works translate "${usual[@]}" -i "$input" -b 2 --shortlist lists/lex.s2t 50 1 0.1
cmp -s out plain && fail "a shortlist of few words restricts nothing"
cp out few
works translate "${usual[@]}" -i "$input" -b 2 --shortlist lists/lex.s2t 50 1 0.1 --mini-batch 64
same out few "a shortlist in a batch"
works translate "${usual[@]}" -i "$input" -b 2 --shortlist lists/lex.s2t 50 1 0.1 --shortlist-union
printf 'relative-paths: true\nshortlist: [lex.s2t, 50, 1, 0.1]\n' >lists/decoder.yml
works translate "${usual[@]}" -i "$input" -b 2 -c lists/decoder.yml
same out few "a shortlist in a configuration"
gzip -k lists/lex.s2t
works translate "${usual[@]}" -i "$input" -b 2 --shortlist lists/lex.s2t.gz 50 1 0.1
same out few "a compressed shortlist"
gzip -c "$vocabulary" >vocab.yml.gz
works translate -m "$model" -v vocab.yml.gz vocab.yml.gz -i "$input" -b 2
same out plain "compressed vocabularies"
head -c 300 vocab.yml.gz >cut.yml.gz
refuses "cannot read cut.yml.gz: it is cut off (gzip)" translate -m "$model" -v cut.yml.gz cut.yml.gz -i one
refuses "cannot open nope.s2t" translate "${usual[@]}" --shortlist nope.s2t
printf 'a b\n' >lists/bad.s2t
refuses "lists/bad.s2t:1: 2 fields" translate "${usual[@]}" --shortlist lists/bad.s2t
printf 'a b 1\n' >lists/lex.bin
refuses "lists/lex.bin: the file is truncated" translate "${usual[@]}" --shortlist lists/lex.bin false
refuses "--shortlist: PRUNE must be a number from 0 on, not 'x'" \
  translate "${usual[@]}" --shortlist lists/lex.s2t 1 2 x
refuses "lists/lex.s2t is input and output at once" \
  translate "${usual[@]}" --shortlist lists/lex.s2t -o lists/lex.s2t

end
