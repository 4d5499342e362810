#!/usr/bin/env bash
# Runs the command as a user does. Usage: cli_test.sh FUSELAGE DATA MODULE, with the folder of test
# data and a module that stands in for the CUDA back-end.

set -u
fuselage=$1
data=$2
module=$3
model=$data/transformer-ssru/model.npz
input=$data/transformer-ssru/input.sp.en
vocabulary=$data/vocab.yml
usual=(-m "$model" -v "$vocabulary" "$vocabulary")
export FUSELAGE_MODELS=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# refuses MESSAGE ARGUMENTS…: exit status 1, and one line on standard error that holds MESSAGE.
refuses() {
  local message=$1
  shift
  timeout 60 "$fuselage" "$@" >out 2>err </dev/null
  local status=$?
  [[ $status -eq 1 ]] || fail "exit status $status instead of 1: $*"
  [[ $(wc -l <err) -eq 1 ]] || fail "not one line of message: $* ($(cat err))"
  grep -qF -- "$message" err || fail "the message of '$*' lacks '$message': $(cat err)"
  grep -q '^fuselage: ' err || fail "the message of '$*' does not begin with 'fuselage: '"
}

# works ARGUMENTS…: exit status 0.
works() {
  timeout 60 "$fuselage" "$@" >out 2>err || fail "exit status $?: $* ($(cat err))"
}

same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

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

# Cached weights are those that are made, and a damaged cache is no hindrance.
for run in first second; do
  works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --weights-cache cache
  same out expected "$run run with a cache"
  [[ ! -s err ]] || fail "$run run with a cache: $(cat err)"
done
works translate "${usual[@]}" -i "$input" -b 2 --memory --cpu-threads 2 --weights-cache cache
grep -qE 'note: memory: [0-9.]+ MB of packed matrices, .*; mapped from cache/' err &&
  grep -qE 'memory: [0-9.]+ MB for the values of 2 workers' err &&
  grep -qE 'the process has [1-9][0-9.]* MB' err || fail "--memory: $(cat err)"
works translate "${usual[@]}" -i "$input" -b 2 --memory --quiet
[[ ! -s err ]] || fail "--memory --quiet prints: $(cat err)"
cached=(translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --weights-cache cache)
# noted MESSAGE WHAT: the same translations, and one note that holds MESSAGE.
noted() {
  works "${cached[@]}"
  same out expected "$2"
  [[ $(wc -l <err) -eq 1 ]] && grep -qF "note: $1" err || fail "the note on $2: $(cat err)"
}
file=$(echo cache/*.weights)
size=$(stat -c %s "$file")
truncate -s 5000 "$file"
noted "cached weights are made anew: $file: 904 bytes follow its header" "a truncated file"
truncate -s 4096 "$file"
truncate -s "$size" "$file"
noted "cached weights are made anew: $file: the checksum of its content" "zeros in a file"
works "${cached[@]}"
[[ ! -s err ]] || fail "a cache that was made anew: $(cat err)"
chmod 666 "$file"
noted "weights are not cached: $file: other users may write it (its mode is 0666)" "a file of all"
mv "$file" elsewhere
ln -s ../elsewhere "$file"
noted "weights are not cached: $file: it is a symbolic link" "a symbolic link"
rm "$file"
mkfifo "$file"
noted "weights are not cached: $file: it is no regular file" "a pipe"
rm "$file"
(
  ulimit -f 100
  exec "$fuselage" "${cached[@]}" >out 2>err
)
same out expected "a cache without room"
grep -qF "note: weights are not cached: cannot write $file: File too large" err ||
  fail "the note on a cache without room: $(cat err)"
[[ -z $(ls cache) ]] || fail "a cache without room keeps $(ls cache)"
for run in 1 2 3; do "$fuselage" "${cached[@]}" -o "out.$run" 2>"err.$run" & done
wait
for run in 1 2 3; do
  same "out.$run" expected "processes that cache at once"
  [[ ! -s err.$run ]] || fail "processes that cache at once: $(cat "err.$run")"
done
[[ $(ls cache) == "${file#cache/}" ]] || fail "processes that cache at once leave $(ls cache)"
works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --weights-cache "$input"
same out expected "no place for a cache"
grep -qF 'note: weights are not cached: ' err || fail "no note on a cache that cannot be"

# A small stack is an error instead of a crash; the least one is enough, and so is any.
for stack in 64 128 1023; do
  (
    ulimit -s "$stack"
    failures=0
    refuses "the stack is limited to $stack KiB, but 1024 KiB are needed" \
      translate "${usual[@]}" -i "$input"
    exit "$failures"
  ) || fail "a stack of $stack KiB"
done
for stack in 1024 unlimited; do
  (
    ulimit -s "$stack"
    exec "$fuselage" translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores >out 2>err
  ) || fail "a stack of $stack KiB: $(cat err)"
  same out expected "a stack of $stack KiB"
done

# A GPU is one device, by a module that is loaded; errors of the module are the command's.
gpu=(translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores --device)
export FUSELAGE_CUDA_MODULE=$module
for device in cuda cuda:0; do
  works "${gpu[@]}" "$device" --deterministic
  same out expected "--device $device"
done
refuses "there is no GPU 1" "${gpu[@]}" cuda:1
works "${gpu[@]}" cuda --precision fp16
refuses "the cpu back-end has no products in fp16; use bf16" "${gpu[@]}" cpu --precision fp16
refuses "no kernel for 1 node: linear_k_best" "${gpu[@]}" cuda -b 70
refuses "the best 64 at most, not 71" "${gpu[@]}" cuda -b 70
refuses "use device cpu or another precision" "${gpu[@]}" cuda --precision int4
refuses "--device: cpu, cuda or cuda:N is needed, not 'cuda:x'" "${gpu[@]}" cuda:x
refuses "--device: cpu, cuda or cuda:N is needed, not 'cuda:-1'" "${gpu[@]}" cuda:-1
refuses "--threads-per-sentence is for --device cpu" "${gpu[@]}" cuda --threads-per-sentence 2
refuses "--weights-cache is for --device cpu" "${gpu[@]}" cuda --weights-cache cache
refuses "--tf32 is for --device cuda" "${gpu[@]}" cpu --tf32
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
refuses "--profile measures the cpu back-end" dump "$model" --device cuda --profile "$input"
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
printf '▁Tom\n▁Tom\n' >two
printf '▁Tom\n' >one
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

# Model directories.
works convert "${usual[@]}" -b 2 -n 0.6 -o directory
works translate "${usual[@]}" -b 2 -n 0.6 -i "$input" -o expected
works translate -m directory -i "$input"
same out expected "model directory"
# Tables of frequent words, and tables that are stored: the same bytes.
gru=(-m "$data/nematus/model.npz" -v "$vocabulary" "$vocabulary")
works translate "${gru[@]}" -b 2 --n-best --exact -i "$input" -o expected.exact
sort -u "$input" | tr ' ' '\n' | sort | uniq -c | awk '{ print $2, $1 }' >frequency
echo 'no_such_word 1' >>frequency
for way in "--precompute-memory 0" "--precompute-memory 0.1" \
  "--precompute-memory 0.1 --frequency frequency"; do
  # shellcheck disable=SC2086
  works translate "${gru[@]}" -b 2 --n-best --exact $way --stats -i "$input"
  same out expected.exact "$way"
  [[ "$way" == *" 0" ]] || grep -qE 'note: table of [0-9]+ of [0-9]+ words for .*: [0-9.]+ % of' err ||
    fail "no hit rate: $(cat err)"
done
grep -q 'note: frequency: 1 of [0-9]* words are not in the model' err || fail "no note on a word"
echo 'word x' >frequency.bad
refuses "frequency.bad:1: 'x' is no count" translate "${gru[@]}" --frequency frequency.bad
works convert "${gru[@]}" --bake-tables --exact --precompute-memory 0.1 --frequency frequency -o baked
works translate -m baked -b 2 --n-best --exact --stats -i "$input"
same out expected.exact "baked tables"
grep -q 'note: table of' err || fail "no hit rate of a baked table: $(cat err)"
works convert "${gru[@]}" --bake-tables -o baked
works translate -m baked -b 2 --n-best -i "$input" -o baked.out
works translate "${gru[@]}" -b 2 --n-best -i "$input"
same out baked.out "baked tables, all passes"
refuses "give --bake-tables too" convert "${gru[@]}" --frequency frequency -o refused
refuses "--half" convert "${gru[@]}" --bake-tables --half -o refused

works convert -m directory --half -o half
works translate -m half -i "$input" -b 1
mkdir again bundled
works convert -m directory -o again/directory
for file in graph.ir weights.safetensors config.json; do
  same directory/$file again/directory/$file "converted twice"
done
mv again/directory bundled/en-de
FUSELAGE_MODELS=$work/bundled works translate -i "$input"
same out expected "bundled model"
refuses "there is no bundled model in /nonexistent" translate
refuses "--beam-size" convert "${usual[@]}" -b x -o refused
refuses "--beam-size" convert "${usual[@]}" -b 0 -o refused
refuses "--maxi-batch-sort" convert "${usual[@]}" --maxi-batch-sort foo -o refused
for name in config.json graph.ir weights.safetensors SHA256SUMS; do
  mkdir -p vocabularies && cp "$vocabulary" vocabularies/$name
  refuses "cannot be called $name" convert -m "$model" -v vocabularies/$name vocabularies/$name -o refused
done
[[ ! -e refused ]] || fail "a refused conversion writes"

# A model directory is checked, and is written as a whole or not at all.
(cd directory && sha256sum --quiet -c SHA256SUMS) || fail "sha256sum does not take SHA256SUMS"
[[ $(wc -l <directory/SHA256SUMS) -eq 4 ]] || fail "SHA256SUMS lists $(wc -l <directory/SHA256SUMS)"
cp -r directory touched
sed -i 's/"beam-size": 2/"beam-size": 3/' touched/config.json
refuses "touched/config.json: its SHA-256 is" translate -m touched -i "$input"
works translate -m touched -i "$input" --no-verify
[[ ! -s err ]] || fail "a note where nothing is to be checked: $(cat err)"
(cd touched && sha256sum config.json graph.ir weights.safetensors vocab.yml >SHA256SUMS)
works translate -m touched -i "$input"
echo >>touched/vocab.yml
refuses "touched/vocab.yml: its SHA-256 is" translate -m touched -i "$input"
rm touched/SHA256SUMS
works translate -m touched -i "$input"
grep -qxF 'fuselage: note: touched has no SHA256SUMS, so nothing was checked' err ||
  fail "no note on a directory without a list: $(cat err)"
touch touched/README.md
refuses "touched: the directory holds 'README.md', which is no part of its model" \
  convert "${usual[@]}" -o touched
refuses "nope.yml" convert -m "$model" -v nope.yml nope.yml -o new/directory
if (ulimit -f 200 && timeout 60 "$fuselage" convert "${usual[@]}" -o new/directory) 2>err; then
  fail "a directory that is too large for the system is written"
fi
grep -qF 'File too large' err || fail "no reason for a directory that is not written: $(cat err)"
[[ ! -e new ]] || fail "a failed conversion leaves $(find new)"
(ulimit -f 200 && timeout 60 "$fuselage" convert "${usual[@]}" -o directory) 2>err &&
  fail "a directory that is too large for the system is replaced"
works translate -m directory -i "$input"
same out expected "a model directory after a failed conversion"
[[ -z $(find . -name '*.tmp.*') ]] || fail "a failed conversion leaves $(find . -name '*.tmp.*')"

# Dumps.
works dump "$model"
for program in load source step; do
  grep -qx "# program $program" out || fail "the dump lacks the program $program"
done
works dump directory --program step --passes none --format dot
grep -q '^digraph' out || fail "no Graphviz source"
works dump directory --program whole --passes none --model-only
sed 's/  # [a-z]*$//' out >dumped
same dumped directory/graph.ir "dump of a model directory"
refuses "there is no pass 'foo'" dump "$model" --passes foo
works dump directory --stage raw --model-only
sed '/^#/d;s/  # [a-z]*$//' out >dumped
same dumped directory/graph.ir "dump of the stage raw"
works dump directory --stage commute-rows
grep -qx '# stage commute_rows.*' out || fail "no stage"
works dump directory --only-changed
grep -qx '# stage raw' out || fail "no raw stage"
grep -q '# pass .*: no change' out && fail "a pass that changed nothing is shown"
works dump directory --diff raw commute_rows
head -n 1 out | grep -q '^# diff raw commute_rows.*: [0-9]* nodes added' || fail "no diff"
works dump directory --explain 'embeddings@*' --explain 'attention@*'
grep -q '^embeddings fired in commute_rows' out || fail "nothing explains embeddings"
grep -q '^attention ' out || fail "nothing explains attention"
works dump directory --summary
grep -qE '^step +kernels +[0-9]+ +[0-9]+' out || fail "no summary"
works dump directory --format json --summary
works dump "$model" --profile one -v "$vocabulary" "$vocabulary" -b 2 --program step
grep -q ' % .* ms in ' out || fail "no times"
works dump directory --exact --explain 'attention@*'
grep -q 'not allowed' out || fail "--exact allows attention"
if command -v dot >/dev/null; then
  works dump directory --program step --format svg
  grep -q '<svg' out || fail "no picture"
  refuses "svg shows one" dump directory --stage '.*' --format svg
else
  echo "SKIPPED: pictures, which need graphviz" >&2
fi
PATH=/nonexistent "$fuselage" dump directory --format svg >out 2>err && fail "a picture without graphviz"
grep -q 'package graphviz' err || fail "the message on graphviz: $(cat err)"
refuses "there is no stage 'simplifi'; did you mean 'simplify" dump directory --stage simplifi
refuses "exclude each other" dump directory --summary --stage raw
refuses "--diff compares two stages, not 1" dump directory --diff raw
refuses "did you mean 'embeddings'?" dump directory --explain 'embedings@*'
refuses "no stage has a node 'foo'" dump directory --explain embeddings@foo
refuses "write RULE@NODE" dump directory --explain embeddings
refuses "cannot open nope.txt" dump directory --profile nope.txt
refuses "has no line to translate" dump "$model" --profile /dev/null -v "$vocabulary" "$vocabulary"

# A dump is a test case: passes run on a text, on all of it or on a program.
works dump directory --stage raw -o raw.ir
works run raw.ir --passes none -o none.ir
works run raw.ir --passes all,-attention,-fold-constants
grep -q '^# pass fold_constants' out && fail "a pass that is left out runs"
grep -q '^# pass commute_rows.* attention ' out && fail "a rule that is left out runs"
works run raw.ir --passes simplify --print-after-all
mv out printed.ir
works run printed.ir --passes none
works dump directory --program step --passes none -o step.ir
works run step.ir
refuses "did you mean 'merge_states'?" run raw.ir --passes all,-merge-state
refuses "write 'all,-embeddings'" run raw.ir --passes simplify,-embeddings
refuses "cannot open nope.ir" run nope.ir
refuses "is input and output at once" run raw.ir -o raw.ir
refuses "one:1" run one

# Configuration files.
mkdir config
cp "$model" config/model.npz
cp "$vocabulary" config/vocab.yml
cat >config/decoder.yml <<'YAML'
relative-paths: true
models:
  - model.npz
vocabs: [vocab.yml, vocab.yml]
beam-size: 2
normalize: 0.6
word_penalty: 0
mini-batch: 8
maxi-batch: 10
maxi-batch-sort: src
fp16: false
quiet-translation: true
YAML
works translate -c config/decoder.yml -i "$input"
same out expected "decoder.yml"
works translate "${usual[@]}" -b 1 -i "$input" -o greedy
works translate -c config/decoder.yml -b 1 -n 0 -i "$input"
same out greedy "the command line comes before decoder.yml"
works score -c config/decoder.yml -t one one
cat config/decoder.yml - >config/dumped.yml <<'YAML'
n-best: false
max-length-factor: 2
allow-unk: false
skip-cost: false
input: [stdin]
version: v1.10
sigterm: save-and-exit
type: amun
stat-freq: 0
tsv-fields: 0
devices: [0]
num-devices: 0
no-nccl: false
precision: [float32, float32]
quantize-range: 0
shortlist: []
cpu-threads: 0
YAML
works score -c config/dumped.yml -t one one
works translate -c config/dumped.yml -i one
echo 'devices: [0, 1]' >bad.yml
refuses "bad.yml: marian-decoder's --devices is not supported; name a GPU" translate -c bad.yml
echo 'max-length-factor: .inf' >bad.yml
refuses "bad.yml: --max-length-factor" translate -c bad.yml
echo 'word-penalty: 1e7' >bad.yml
refuses "bad.yml: --word-penalty" score -c bad.yml
echo 'beem-size: 2' >bad.yml
refuses "bad.yml: unknown option --beem-size; did you mean 'beam-size'?" translate -c bad.yml
works translate "${usual[@]}" -c bad.yml --ignore-unknown-config -i one
echo 'output-sampling: [topk, 10]' >bad.yml
refuses "bad.yml: marian-decoder's --output-sampling is not supported yet" translate -c bad.yml
echo 'shortlist: [lex.s2t, some]' >bad.yml
refuses "bad.yml: --shortlist: FIRST must be a number from 0 on, not 'some'" translate -c bad.yml
printf 'beam-size: 2\nbeam_size: 3\n' >bad.yml
refuses "bad.yml: --beam-size is given twice" translate -c bad.yml
printf 'beam-size: 2\nbeam-size: 3\n' >bad.yml
refuses "bad.yml: line 2: the key 'beam-size' is given twice" translate -c bad.yml
echo 'beam-size: [2, 3]' >bad.yml
refuses "bad.yml: --beam-size takes 1 value, not 2" translate -c bad.yml
echo 'beam-size: yes' >bad.yml
refuses "bad.yml: --beam-size: a whole number from 1 to 1024 is needed, not 'yes'" translate -c bad.yml
echo 'n-best: maybe' >bad.yml
refuses "bad.yml: --n-best is true or false, not 'maybe'" translate -c bad.yml
{ # 4 + 16 + … 4^9 values by aliases.
  echo 'a0: &a0 [x, x, x, x]'
  for i in 1 2 3 4 5 6 7 8; do echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1)), *a$((i - 1)), *a$((i - 1))]"; done
} >bad.yml
refuses "the text holds more than 100000 values" translate -c bad.yml
printf 'a: [b\n' >bad.yml
refuses "bad.yml: line" translate -c bad.yml
refuses "cannot open nope.yml" translate -c nope.yml

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
refuses "cannot open nope.s2t" translate "${usual[@]}" --shortlist nope.s2t
printf 'a b\n' >lists/bad.s2t
refuses "lists/bad.s2t:1: 2 fields" translate "${usual[@]}" --shortlist lists/bad.s2t
printf 'a b 1\n' >lists/lex.bin
refuses "lists/lex.bin: the file is truncated" translate "${usual[@]}" --shortlist lists/lex.bin false
refuses "--shortlist: PRUNE must be a number from 0 on, not 'x'" \
  translate "${usual[@]}" --shortlist lists/lex.s2t 1 2 x
refuses "lists/lex.s2t is input and output at once" \
  translate "${usual[@]}" --shortlist lists/lex.s2t -o lists/lex.s2t

# Matrices in integers.
works quantize "$model" -v "$vocabulary" "$vocabulary" -o integers/
grep -q 'note: .* matrices are stored for int8: .* MB of weights became' err ||
  fail "no report on quantization: $(cat err)"
grep -q '"precision": "int8"' integers/config.json || fail "int8 is not the model's default"
[[ $(wc -c <integers/weights.safetensors) -lt $(($(wc -c <"$model") / 3)) ]] ||
  fail "the matrices did not shrink"
grep -q '^Wemb  *\[.*\]  *int8  *[0-9.e-]*  *[0-9]*$' out || fail "no line on a matrix: $(head -3 out)"
grep -q 'times smaller$' out || fail "no ratio of sizes"
works translate -m integers -b 2 -i "$input" -o int8
works translate -m integers -b 2 -i "$input" --precision int8 --mini-batch 7 --cpu-threads 2
same out int8 "the default precision in batches"
works translate "${usual[@]}" -b 2 -i "$input" --precision int16
works translate "${usual[@]}" -b 2 -i "$input" --precision float32 -o plain
works dump integers --precision int8 --program step
grep -q 'qint8' out || fail "the dump shows no integers"
refuses "--precision" translate "${usual[@]}" --precision int7

# Activations at less than full accuracy.
works translate "${usual[@]}" -b 2 -i "$input" --activations fast -o plain
works dump "$model" -v "$vocabulary" "$vocabulary" --activations table --program step
grep -q 'sigmoid_table' out || fail "the dump shows no table"
echo 'activations: table' >table.yml
works translate "${usual[@]}" -b 2 -i "$input" --activations table -o plain
works translate "${usual[@]}" -b 2 -i "$input" -c table.yml
same out plain "activations in a configuration"
refuses "--activations" translate "${usual[@]}" --activations none
refuses "--output is required" quantize "$model"

# Logarithmic numbers of 4 bits and fewer, and bf16.
works quantize "$model" -v "$vocabulary" "$vocabulary" -o four/ --precision int4
grep -q 'outside \[0, 10\]' out && fail "ranges of products that nobody asked for"
grep -q ' largest  *fixed  *fitted ' out || fail "no errors of other scales: $(head -1 out)"
grep -q '"precision": "int4"' four/config.json || fail "int4 is not the model's default"
head -3 "$input" >three.txt
works quantize "$model" -v "$vocabulary" "$vocabulary" -o four/ --precision int4 --report three.txt
grep -q '^product  *of rows  *least  *most  *outside \[0, 10\]$' out || fail "no ranges of products"
refuses "nope.txt" quantize "$model" -v "$vocabulary" "$vocabulary" -o four/ --report nope.txt
works translate -m four -b 2 -i "$input" --precision fp32
works quantize "$model" -v "$vocabulary" "$vocabulary" -o coarse/ --precision int4 --bits 2 \
  --scales tensor --quiet
[[ ! -s out && ! -s err ]] || fail "a report in spite of --quiet"
works quantize "$model" -v "$vocabulary" "$vocabulary" -o fixed/ --precision int4-log --fit fixed \
  --fixed-scale 2
works quantize "$model" -v "$vocabulary" "$vocabulary" -o short/ --precision bf16
works translate -m short -b 2 -i "$input" --precision fp32
works quantize integers -o again.8
grep -q 'note: all [0-9]* matrices are stored for int8 already, and no number changes' err ||
  fail "no note on integers that stay: $(cat err)"
same integers/weights.safetensors again.8/weights.safetensors "integers that stay"
works quantize integers -o again.4 --precision int4
grep -q 'of them were stored as qint8 before: these errors come on top' err ||
  fail "no note on integers that are stored anew: $(cat err)"
[[ $(wc -c <again.4/weights.safetensors) -eq $(wc -c <four/weights.safetensors) ]] ||
  fail "integers that are stored anew take $(wc -c <again.4/weights.safetensors) bytes"
works translate -m again.4 -b 2 -i "$input"
refuses "--bits is about 4-bit numbers, not int8" quantize "$model" -o x --bits 3
refuses "--bits" quantize "$model" -o x --precision int4 --bits 5
refuses "--fixed-scale is for --fit fixed, not fitted" \
  quantize "$model" -o x --precision int4 --fixed-scale 2
refuses "--fit fixed gives them" \
  quantize "$model" -o x --precision int4 --fit fixed --scales tensor

# Ensembles: as options, as a configuration, as one model directory; plain and with stored tables.
members=(-m "$model" "$data/nematus/model.npz" -v "$vocabulary" "$vocabulary")
weighted=("${members[@]}" --weights 0.75 0.5)
works translate "${weighted[@]}" -b 2 --n-best --alignment -i "$input" -o expected.ensemble
works translate "${weighted[@]}" -b 2 --n-best --alignment -i "$input" --cpu-threads 3 --mini-batch 7
same out expected.ensemble "an ensemble in batches"
cp "$data/nematus/model.npz" config/other.npz
cat >config/ensemble.yml <<'YAML'
relative-paths: true
models: [model.npz, other.npz]
weights: [0.75, 0.5]
vocabs: [vocab.yml, vocab.yml]
YAML
works translate -c config/ensemble.yml -b 2 --n-best --alignment -i "$input"
same out expected.ensemble "an ensemble in a configuration"
works convert "${weighted[@]}" -b 2 -o ensemble
works translate -m ensemble --n-best --alignment -i "$input"
same out expected.ensemble "an ensemble as a model directory"
works convert "${weighted[@]}" -b 2 --bake-tables -o baked.ensemble
works translate -m baked.ensemble --n-best --alignment -i "$input"
same out expected.ensemble "an ensemble with stored tables"
works dump ensemble --stage raw --model-only
sed '/^#/d;s/  # [a-z]*$//' out >dumped
same dumped ensemble/graph.ir "dump of an ensemble"
works dump "${weighted[@]}" --program step
grep -q '%1\.' out || fail "the dump lacks the second model"
works translate "${usual[@]}" -b 2 -i "$input" -o alone
works translate -m "$model" "$model" --weights 0.5 0.5 -v "$vocabulary" "$vocabulary" -b 2 -i "$input"
same out alone "a model twice"
works score "${usual[@]}" -t one one -o score.0
works score "${gru[@]}" -t one one -o score.1
works score "${weighted[@]}" -t one one
paste score.0 score.1 out | awk '{ d = 0.75 * $1 + 0.5 * $2 - $3; exit !(d < 1e-4 && d > -1e-4) }' ||
  fail "the score of an ensemble: $(paste score.0 score.1 out)"
works score "${usual[@]}" --weights 2 -t one one
paste score.0 out | awk '{ d = 2 * $1 - $2; exit !(d < 1e-4 && d > -1e-4) }' ||
  fail "the score of a weighted model: $(cat score.0 out)"
refuses "--weights has 1 number, but there are 2 models; give one for each" translate "${members[@]}" --weights 1
refuses "--weights has 2 numbers, but there is 1 model" translate "${usual[@]}" --weights 1 1
refuses "--weights: a number from -1000000 to 1000000 is needed, not 'nan'" translate "${members[@]}" --weights nan 1
refuses "cannot open model nope.npz" translate "${usual[@]}" -m "$model" nope.npz

# changed FILE SED: another model directory, with FILE edited.
changed() {
  rm -rf changed && cp -r directory changed
  sed -i "$2" "changed/$1"
  cmp -s "directory/$1" "changed/$1" && fail "the edit $2 does nothing"
  rm changed/SHA256SUMS
}
changed config.json 's/"right-left": false/"right-left": true/'
refuses "directory works from left to right, but changed from right to left" translate -m directory changed -i one
changed vocab.yml '1i # changed'
refuses "directory/vocab.yml and changed/vocab.yml, vocabularies of directory and changed, differ" \
  translate -m directory changed -i one
works translate -m directory changed -v "$vocabulary" "$vocabulary" -i one
changed config.json 's/"beam-size": 2/"beam-size": 3/'
for command in "translate -i one" "convert -o refused"; do
  # shellcheck disable=SC2086
  refuses "directory has 2 for --beam-size, but changed has 3; give --beam-size" $command -m directory changed
done
works translate -m directory changed -b 3 -i one
works score -m directory changed -t one one
works convert -m directory changed -b 4 -o ensemble.4
grep -q '"beam-size": 4' ensemble.4/config.json || fail "the beam of a converted ensemble"

# Options.
refuses "marian-decoder's --output-sampling is not supported yet" translate --output-sampling x
refuses "marian-decoder's --devices is not supported; name a GPU with --device" translate -d 0
refuses "unknown option --beam-siz; did you mean 'beam-size'?" translate --beam_siz 6
refuses "unknown option --beam; did you mean 'beam-size'?" translate --beam 6
refuses "--beam-size: a whole number from 1 to 1024 is needed, not '0'" translate -b 0
refuses "--beam-size: a whole number from 1 to 1024 is needed, not '1025'" translate -b 1025
refuses "--precompute-memory: a number from 0 to" translate --precompute-memory nan
refuses "activations are 'fast', which changes results" translate "${usual[@]}" --exact --activations fast
refuses "--beam-size" translate -b x
refuses "--normalize: a number from -10 to 10 is needed, not '0.6x'" translate "${usual[@]}" -n 0.6x
refuses "--normalize" translate "${usual[@]}" -n nan
refuses "--normalize" translate "${usual[@]}" -n 11
refuses "--max-length-factor: a number above 0 and up to 1000" translate --max-length-factor 0
refuses "--max-length-factor" translate --max-length-factor nan
refuses "--max-length-factor" translate --max-length-factor 1e30
refuses "--word-penalty" translate --word-penalty=-inf
refuses "--mini-batch-words" translate --mini-batch-words=-1
works translate "${usual[@]}" -n -i one
refuses "marian-decoder's --n-best-feature is not supported yet" score --n-best-feature F
refuses "marian-decoder's --n-best is not supported yet" score --n-best
works translate --version
refuses "alignment can be soft, hard" translate "${usual[@]}" --alignment loud
refuses "there is no command 'translat'; did you mean 'translate'" translat
refuses "no command is given"
refuses "cannot open model a: No such file" translate -m a b
refuses "one stands behind -m but is no model; give a text before the options" translate -m directory one
works translate -m "$model" -v "$vocabulary" "$vocabulary" one
[[ $(wc -l <out) -eq 1 ]] || fail "a text behind two vocabularies"
refuses "--backend: cpu, cuda, reference is needed, not 'gpu'" translate "${usual[@]}" --backend gpu
works --help
works translate --help
grep -q -- '--beam-size' out || fail "help lacks options"

# Bad files.
head -c 100000 "$model" >truncated.npz
refuses "truncated.npz" translate -m truncated.npz -v "$vocabulary" "$vocabulary"
{ printf 'XX' && tail -c +3 "$model"; } >magic.npz
head -c 1000 /dev/zero >zeros.npz
refuses "zeros.npz" translate -m zeros.npz -v "$vocabulary" "$vocabulary"
refuses "cannot open model nope.npz: No such file" translate -m nope.npz
cp "$model" model.bin
refuses "not a Marian .bin file" translate -m model.bin
refuses "cannot open nope.yml" translate -m "$model" -v nope.yml nope.yml
refuses "$model brings no vocabularies; give them with -v SOURCE TARGET" translate -m "$model"
grep -v '</s>' "$vocabulary" | sed 's/: 1$/: 0/;s/<unk>/x/' >no-end.yml
refuses "no-end.yml" translate -m "$model" -v no-end.yml no-end.yml
refuses "cannot open nope.txt: No such file" translate "${usual[@]}" -i nope.txt
refuses "it is a directory" translate "${usual[@]}" -i config

# damaged FILE SED MESSAGE: a model directory with FILE edited is refused.
damaged() {
  rm -rf damaged && cp -r directory damaged
  sed -i "$2" "damaged/$1"
  cmp -s "directory/$1" "damaged/$1" && fail "the edit $2 does nothing"
  rm damaged/SHA256SUMS
  refuses "$3" translate -m damaged -i one
}
damaged graph.ir 's/{name = "Wemb"/{name = "Wemc"/' "weight 'Wemc', a parameter of damaged/graph.ir, is missing; did you mean 'Wemb'"
damaged graph.ir '0,/: f32\[32\]/s//: f32[33]/' "graph.ir"
damaged config.json 's/right-left/rigth-left/' "unknown key 'rigth-left'; did you mean 'right-left'?"
damaged config.json 's/"fuselage-model": 1/"fuselage-model": 9/' "version '9'"
rm -rf damaged && cp -r directory damaged && rm damaged/weights.safetensors
refuses "cannot open damaged/weights.safetensors" translate -m damaged -i one
cp directory/weights.safetensors damaged/ && truncate -s -100 damaged/weights.safetensors
refuses "damaged/weights.safetensors: its SHA-256 is" translate -m damaged -i one
refuses "damaged/weights.safetensors" translate -m damaged -i one --no-verify

# edit_npz PYTHON: a model with its members, a dictionary d of bytes by name, changed.
edit_npz() {
  python3 - "$model" edited.npz "$1" <<'PYTHON'
import struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    d = {n: z.read(n) for n in z.namelist()}
def yaml(old, new):
    member = d["special:model.yml.npy"]
    size = 10 + struct.unpack("<H", member[8:10])[0]
    text = member[size:].split(b"\0")[0]
    assert old in text or not old
    text = text.replace(old, new) if old else text + new
    text += b"\0"
    header = "{'descr': '|i1', 'fortran_order': False, 'shape': (%d,), }" % len(text)
    header = header.ljust(117) + "\n"
    d["special:model.yml.npy"] = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + text
exec(sys.argv[3])
with zipfile.ZipFile(sys.argv[2], "w") as z:
    for n, b in d.items():
        z.writestr(n, b)
PYTHON
}
if command -v python3 >/dev/null; then
  edited=(translate -m edited.npz -v "$vocabulary" "$vocabulary" -i one)
  edit_npz 'yaml(b"", b"\ntransformer-hedas: 4\n")'
  refuses "transformer-hedas" "${edited[@]}"
  works "${edited[@]}" --ignore-unknown-config
  edit_npz 'd["extra.npy"] = d["Wemb.npy"]'
  refuses "extra" "${edited[@]}"
  edit_npz 'del d["Wemb.npy"]'
  refuses "'Wemb' is missing" "${edited[@]}"
  edit_npz 'yaml(b"type: transformer", b"type: lm-transformer")'
  refuses "lm-transformer" "${edited[@]}"
  edit_npz 'b = d["Wemb.npy"]; d["Wemb.npy"] = b"XXXXXX" + b[6:]'
  refuses "Wemb" "${edited[@]}"
else
  echo "SKIPPED: edited .npz files, which need python3" >&2
fi

# Outputs that cannot be written.
refuses "cannot write /nonexistent/out: No such file" translate "${usual[@]}" -i one -o /nonexistent/out
refuses "cannot make the directory" convert "${usual[@]}" -o /dev/null/x
refuses "is input and output at once" translate "${usual[@]}" -i two -o two
cp "$model" kept.npz
cp "$vocabulary" kept.yml
keeps=(translate -m kept.npz -v kept.yml kept.yml -i one)
for file in kept.npz kept.yml; do
  refuses "is input and output at once" "${keeps[@]}" -o $file
done
refuses "is input and output at once" dump kept.npz -o kept.npz
refuses "is input and output at once" translate "${usual[@]}" -m "$model" kept.npz -i one -o kept.npz
refuses "is input and output at once" translate -m directory -i one -o directory/weights.safetensors
refuses "is input and output at once" translate -c config/decoder.yml -i one -o config/decoder.yml
same kept.npz "$model" "output over the model"
same kept.yml "$vocabulary" "output over the vocabulary"
cp two kept.txt
timeout 60 "$fuselage" translate "${usual[@]}" -o kept.txt <kept.txt 2>err
[[ $? -eq 1 ]] || fail "output over standard input"
grep -qF 'is input and output at once' err || fail "output over standard input: $(cat err)"
same kept.txt two "output over standard input"
(ulimit -f 0 && "$fuselage" translate "${usual[@]}" -i two -o limited 2>&1) | cat >err
grep -q '^fuselage: cannot write limited: ' err || fail "a limit on the size of files: $(cat err)"

# Messages that cannot be written do not matter.
timeout 60 "$fuselage" translate -i nofile 2>&-
[[ $? -eq 1 ]] || fail "an error with standard error closed: exit status $?"
printf '\n' | timeout 60 "$fuselage" translate "${usual[@]}" >out 2>&- ||
  fail "a note with standard error closed: exit status $?"
[[ $(wc -l <out) -eq 1 ]] || fail "a note with standard error closed: $(cat out)"
if [[ -e /dev/full ]]; then
  timeout 60 "$fuselage" translate -i nofile 2>/dev/full
  [[ $? -eq 1 ]] || fail "an error with standard error full"
  printf '\n' | timeout 60 "$fuselage" translate "${usual[@]}" >out 2>/dev/full ||
    fail "a note with standard error full: exit status $?"
  refuses "cannot write /dev/full: No space left" translate "${usual[@]}" -i two -o /dev/full
  timeout 60 "$fuselage" translate "${usual[@]}" -i two >/dev/full 2>err
  [[ $? -eq 1 ]] || fail "a full disk goes unnoticed"
  timeout 60 "$fuselage" dump "$model" >/dev/full 2>err
  [[ $? -eq 1 ]] || fail "a full disk goes unnoticed by dump"
fi
timeout 60 "$fuselage" translate "${usual[@]}" -i two >&- 2>err
[[ $? -eq 1 ]] || fail "a closed output goes unnoticed"

# A reader that goes away ends the command in silence, as SIGPIPE does, also while more input may
# come, and whatever the command.
(yes '▁Tom' | timeout 60 "$fuselage" translate "${usual[@]}" --cpu-threads 2 2>err
  echo "${PIPESTATUS[1]}" >status) | head -n 1 >/dev/null
[[ $(cat status) -eq 141 ]] || fail "closed pipe: exit status $(cat status)"
[[ ! -s err ]] || fail "closed pipe: $(cat err)"
rm status
({
  echo '▁Tom'
  sleep 1
  echo '▁Tom'
  sleep 20
} | timeout 10 "$fuselage" translate "${usual[@]}" 2>err
  echo "${PIPESTATUS[1]}" >status) | true
[[ $(cat status) -eq 141 ]] || fail "closed pipe while the input waits: exit status $(cat status)"
[[ ! -s err ]] || fail "closed pipe while the input waits: $(cat err)"
for command in "dump $model" "--help" "translate --help" "run raw.ir"; do
  # shellcheck disable=SC2086
  (until [[ -e gone ]]; do sleep 0.1; done
    timeout 60 "$fuselage" $command 2>err
    echo $? >status) | touch gone
  for _ in $(seq 600); do [[ -s status ]] && break || sleep 0.1; done
  [[ $(cat status) -eq 141 ]] || fail "closed pipe of $command: exit status $(cat status)"
  [[ ! -s err ]] || fail "closed pipe of $command: $(cat err)"
  rm -f gone status
done

# Input and output: several texts, pipes, compressed texts, and outputs that are inputs.

works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores -o expected.1
lines=$(wc -l <"$input")
head -n 15 "$input" >first
tail -n +16 "$input" | head -c -1 >second # its last line has no end
: >empty
works translate first "${usual[@]}" -b 2 --n-best --word-scores
head -n "$(grep -c '^\([0-9]\|1[0-4]\) ' expected.1)" expected.1 >expected.first
same out expected.first "a text without -i"
works translate first empty second "${usual[@]}" -b 2 --n-best --word-scores
same out expected.1 "three texts"
works translate -i first second "${usual[@]}" -b 2 --n-best --word-scores
same out expected.1 "two texts with -i"
works translate first - "${usual[@]}" -b 2 --n-best --word-scores <second
same out expected.1 "a text and standard input"
works translate second first "${usual[@]}"
[[ $(wc -l <out) -eq $lines ]] || fail "a text whose last line has no end, and another"
printf '▁Tom\n\n' >notes.1
printf '\n' >notes.2
works translate notes.1 notes.2 "${usual[@]}"
grep -qF '2 lines were empty (lines 2, 3)' err || fail "lines of two texts: $(cat err)"
refuses "cannot open nope.txt: No such file" translate first nope.txt "${usual[@]}" -o untouched
refuses "cannot read config: it is a directory" translate first config "${usual[@]}" -o untouched
[[ ! -e untouched ]] || fail "an output though an input is missing"
refuses "standard input cannot be both texts" score "${usual[@]}" -t - stdin

# No line waits for others: each comes out before the next is written, and before the file ends.
mkfifo pipe.to pipe.from
for ways in "" "--cpu-threads 3" "--mini-batch 64 --maxi-batch 100" "--mini-batch-words 1000"; do
  # shellcheck disable=SC2086
  "$fuselage" translate pipe.to "${usual[@]}" $ways >pipe.from &
  exec 4<pipe.from 3>pipe.to
  for _ in 1 2 3; do
    echo '▁Tom' >&3
    read -r -t 30 answer <&4 || fail "no answer while the input is open: $ways"
  done
  # A line and the beginning of another.
  printf '▁Tom\n▁T' >&3
  read -r -t 30 answer <&4 || fail "a line waits for the end of the next: $ways"
  exec 3>&-
  read -r -t 30 answer <&4 || fail "no answer to a line without an end: $ways"
  wait $! || fail "translating line by line: $ways"
  exec 4<&-
done

# compressed_with SUFFIX: texts in and out by name, whole, of several parts, cut off and damaged.
compressed_with() {
  local suffix=$1
  works translate "${usual[@]}" -i "$input" -b 2 --n-best --word-scores -o "out.$suffix"
  works translate "${usual[@]}" -i first -o "first.$suffix"
  [[ ! -s out ]] || fail "a compressed output: $(cat out)"
  # What is compressed is a text to translate as well, which shows that it can be expanded.
  works translate expected.1 "${usual[@]}" --max-length 5 -o of.text
  works translate "out.$suffix" "${usual[@]}" --max-length 5 -o of.compressed
  same of.compressed of.text "expanding $suffix"
  cat "first.$suffix" "first.$suffix" >"twice.$suffix"
  works translate "${usual[@]}" -i "twice.$suffix"
  [[ $(wc -l <out) -eq 30 ]] || fail "two parts of $suffix gave $(wc -l <out) lines"
  size=$(wc -c <"twice.$suffix")
  head -c $((size - 3)) "twice.$suffix" >"cut.$suffix"
  refuses "cut.$suffix is cut off" translate -i "cut.$suffix" "${usual[@]}" -o cut.out
  [[ $(wc -l <cut.out) -ge 15 ]] || fail "lines before the cut are lost: $(wc -l <cut.out)"
  refuses "cut.$suffix is cut off" translate -i "cut.$suffix" "${usual[@]}" -o "cut.out.$suffix"
  refuses "cut.out.$suffix is cut off" translate -i "cut.out.$suffix" "${usual[@]}" -o again.out
  [[ $(wc -l <again.out) -eq $(wc -l <cut.out) ]] || fail "a compressed output after an error"
  : >"cut.$suffix"
  refuses "cut.$suffix is cut off" translate -i "cut.$suffix" "${usual[@]}"
  { cat "first.$suffix" && echo 'no more of it'; } >"damaged.$suffix"
  refuses "damaged.$suffix is damaged: its" translate -i "damaged.$suffix" "${usual[@]}" -o cut.out
  [[ $(wc -l <cut.out) -eq 15 ]] || fail "lines before the damage are lost: $(wc -l <cut.out)"
  refuses "is damaged" translate -i "damaged.$suffix" "${usual[@]}"
  { head -c $((size / 4)) "twice.$suffix" && echo 'something else' &&
    tail -c $((size / 4)) "twice.$suffix"; } >"damaged.$suffix"
  refuses "damaged.$suffix is damaged: its" translate -i "damaged.$suffix" "${usual[@]}"
  cp first "text.$suffix"
  refuses "at byte" translate -i "text.$suffix" "${usual[@]}"
  refuses "is input and output at once" translate -i "first.$suffix" "${usual[@]}" -o "first.$suffix"
}
compressed_with gz
compressed_with zst
gzip -dc out.gz >out.expanded || fail "gzip cannot expand what was compressed"
same out.expanded expected.1 "compressed with gzip"
gzip -c <"$input" >input.gz
works translate input.gz "${usual[@]}" -b 2 --n-best --word-scores
same out expected.1 "expanded from gzip"
if [[ -e /dev/full ]]; then
  ln -s /dev/full full.gz
  refuses "cannot write full.gz: No space left" translate "${usual[@]}" -i two -o full.gz
fi

# An output that is an input, by whatever name, is refused and left as it is.
cp two kept.txt
ln kept.txt link.txt
for command in "translate -i kept.txt" "translate two kept.txt" "translate" "translate two -" \
  "score -t two kept.txt" "score -t kept.txt two"; do
  # shellcheck disable=SC2086
  timeout 60 "$fuselage" $command "${usual[@]}" <kept.txt >>link.txt 2>err
  [[ $? -eq 1 ]] || fail "$command >> its input"
  grep -qF 'standard output is input and output at once' err || fail "$command >> its input: $(cat err)"
  # shellcheck disable=SC2086
  timeout 60 "$fuselage" $command "${usual[@]}" -o link.txt <kept.txt >out 2>&1
  grep -qF 'link.txt is input and output at once' out || fail "$command -o its input: $(cat out)"
  same kept.txt two "$command"
done
timeout 60 "$fuselage" run raw.ir >>raw.ir 2>err && fail "run >> its input"
timeout 60 "$fuselage" dump kept.npz >>kept.npz 2>err && fail "dump >> its input"
same kept.npz "$model" "dump >> its input"
works translate -i two "${usual[@]}" -o kept.out
cp kept.out kept.once
works translate -i two "${usual[@]}" -o kept.out
same kept.out kept.once "an output that was there"

if [[ $failures -gt 0 ]]; then
  echo "$failures failures" >&2
  exit 1
fi
echo "all passed"
