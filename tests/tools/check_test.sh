#!/usr/bin/env bash
# The self-check of models: probe sentences in model directories, and `fuselage check`.
# Usage: check_test.sh FUSELAGE DATA MODULE MAKE_LANGUAGE_MODEL WRONG_KERNEL SOURCES

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
wrong_kernel=$5
sources=$6

# fails MESSAGE ARGUMENTS…: exit status 1, and a report on standard output that holds MESSAGE.
fails() {
  local message=$1
  shift
  timeout 60 "$fuselage" "$@" >out 2>err
  [[ $? -eq 1 ]] || fail "no exit status of 1: $*"
  [[ ! -s err ]] || fail "an error: $* ($(cat err))"
  grep -qF -- "$message" out || fail "the report of '$*' lacks '$message': $(cat out)"
}

# --- Conversion stores probe sentences, which the list of digests has.
make_directory
[[ -s directory/probes.json ]] || fail "no probes are stored"
(cd directory && sha256sum --quiet -c SHA256SUMS) || fail "the digest of the probes"
works convert "${usual[@]}" -o again
same directory/probes.json again/probes.json "probes are not always the same"
works convert "${usual[@]}" --no-probes -o without
[[ ! -e without/probes.json ]] || fail "--no-probes"
works convert -m directory -o copy
same directory/probes.json copy/probes.json "probes are not kept"
works convert -m directory --no-probes -o copy
[[ ! -e copy/probes.json ]] || fail "probes are kept with --no-probes"

# --- The same numbers, in every precision.
works check directory
grep -qE '^fp32 +8 of 8 .* ok$' out || fail "fp32: $(cat out)"
works check directory --precision fp32 bf16 int16 int8 int4 int4-log --bisect
[[ $(grep -c ' ok$' out) -eq 6 ]] || fail "precisions: $(cat out)"
[[ $(grep -c 'nodes are the same' out) -eq 6 ]] || fail "nodes of precisions: $(cat out)"
works check directory --activations table
works check directory --device reference
works check "$sources/models/en-de"
grep -qE '^int8 ' out || fail "the bundled model: $(cat out)"
refuses "fp16" check directory --precision fp16
FUSELAGE_CUDA_MODULE=$PWD/missing.so refuses "there is no CUDA back-end at $PWD/missing.so" \
  check directory --device cuda

# --- As JSON.
# value KEYS…: what stands in the report at the keys, as Python prints it.
value() { python3 -c 'import json, sys; v = json.load(open("out"))
for key in sys.argv[1:]: v = v[int(key) if key.isdigit() else key]
print(v)' "$@"; }
if command -v python3 >/dev/null; then
  works check directory --precision fp32 int8 --bisect --json
  [[ $(value model) == directory && $(value passed) == True ]] || fail "JSON: $(cat out)"
  [[ $(value checks 1 precision) == int8 && $(value checks 0 same_words) == 8 ]] || fail "JSON: $(cat out)"
  [[ $(value checks 0 limits largest_drift) == 0.001 ]] || fail "a limit in JSON: $(cat out)"
  [[ $(value checks 1 limits largest_drift) == None ]] || fail "no limit in JSON: $(cat out)"
  [[ $(value checks 0 bisection difference) == None ]] || fail "nodes in JSON: $(cat out)"
  fails '"passed": false' check directory --extension "$wrong_kernel" --precision fp32 --bisect --json
  [[ $(value checks 0 bisection difference column) == 31 ]] || fail "a node in JSON: $(cat out)"
  [[ $(value checks 0 failures 0) == *drift* ]] || fail "a failure in JSON: $(cat out)"
fi

# --- Fewer bits are compared with the floats.
works quantize directory --quiet -o int8
grep -q '"rounded": true' int8/probes.json || fail "rounded weights are not told"
works check int8 --precision fp32 int8
works convert "${usual[@]}" --half -o half
grep -q '"rounded": true' half/probes.json || fail "half weights are not told"
works check half

# --- A model without probes.
works check without --precision fp32 int8
grep -q 'the model has no probe sentences' err || fail "no note: $(cat err)"
works check "${usual[@]}"

# --- Given lines, and their translations.
head -n 8 "$input" >lines
head -n 8 "$data/transformer-ssru/ref.sp.de" >translations
works convert "${usual[@]}" --probes lines translations -o given
[[ ! -s err ]] || fail "a note on a good model: $(cat err)"
[[ $(grep -c '"line"' given/probes.json) -eq 8 ]] || fail "given lines"
works check given
works check given --probes one
seq 201 >many
: >none
refuses "many has more than 200 lines" convert "${usual[@]}" --probes many -o other
refuses "none has no lines" convert "${usual[@]}" --probes none -o other
refuses "probe sentence 1 has no words" convert "${usual[@]}" --probes <(echo) -o other
refuses "there is one source line" convert "${usual[@]}" --probes one one -o other
refuses "8 source lines and 2 target lines" convert "${usual[@]}" --probes lines two -o other

# --- What does not fit.
awk 'NR <= 10 { print; next } { words[NR] = $1; ids[NR] = $2 }
  END { for (i = 11; i <= NR; ++i) print words[i] " " ids[NR + 11 - i] }' "$vocabulary" >reversed.yml
for pair in "reversed.yml $vocabulary" "$vocabulary reversed.yml"; do
  # shellcheck disable=SC2086
  works convert -m "$model" -v $pair --probes lines translations -o other
  grep -q 'are hardly more likely after their own source lines' err || fail "no warning: $pair"
  # shellcheck disable=SC2086
  timeout 60 "$fuselage" check directory -v $pair >out && fail "another vocabulary passes: $pair"
done
fails "stand for another text" check directory -v "$vocabulary" reversed.yml
fails "drifts by" check directory -v reversed.yml "$vocabulary"
cp -r directory changed
sed -i 's/epsilon = [0-9.e-]*/epsilon = 0.1/' changed/graph.ir
rm changed/SHA256SUMS
timeout 60 "$fuselage" check changed >out 2>err && fail "another epsilon passes"
grep -q 'fp32: the score of a word drifts' out || fail "another epsilon: $(cat out)"

# --- A wrong kernel is found.
works check directory --bisect
fails "FAILS" check directory --extension "$wrong_kernel" --bisect
grep -q "^fp32: add_layer_norm .* differs from the interpreter's" out || fail "the wrong kernel: $(cat out)"
grep -qE 'at column 32 of row .* after 1 word$' out || fail "its place: $(cat out)"
grep -qE 'it comes from .* by residual; before it [1-9]' out || fail "its provenance: $(cat out)"

# --- Damage.
cp -r directory damaged
echo '{"fuselage-probes": 1, "rounded": false, "probes": [{"line": "a", "text": "a", "words": [1000], "scores": [-1]}]}' \
  >damaged/probes.json
refuses "SHA256SUMS" check damaged
rm damaged/SHA256SUMS
timeout 60 "$fuselage" check damaged >out 2>err && fail "a word beyond the vocabulary passes"
grep -q 'has the word 1000, but the model has 1000 words' err || fail "a word beyond the vocabulary: $(cat err)"
echo '{' >damaged/probes.json
timeout 60 "$fuselage" translate -m damaged -i one >out 2>err && fail "damaged probes pass"
grep -q 'damaged/probes.json: invalid JSON' err || fail "damaged probes: $(cat err)"

# --- A language model continues the lines.
"$4" words.txt language-model || fail "no language model"
works convert -m language-model -o language
works check language --precision fp32 int8 --bisect
grep -qE '^fp32 +8 of 8 .* ok$' out || fail "a language model: $(cat out)"

end
