#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET...]: runs each fuzzer (or each TARGET, such as npz) for SECONDS, with
# seeds from tests/data and models. A finding is written to build-fuzz/findings and fails the run.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

if [[ ! ${1-} =~ ^[0-9]+$ ]]; then
  say "usage: $0 SECONDS [TARGET...]"
  exit 2
fi
seconds=$1
shift
if [[ $# -eq 0 ]]; then
  for source in fuzz/*_fuzzer.cpp; do set -- "$@" "$(basename "$source" _fuzzer.cpp)"; done
fi

install_packages build fuzz
build_preset fuzz fuzz_seeds "${@/%/_fuzzer}"

corpus=$PWD/build-fuzz/corpus
findings=build-fuzz/findings
mkdir -p "$findings"
for source in fuzz/*_fuzzer.cpp; do mkdir -p "$corpus/$(basename "$source" _fuzzer.cpp)"; done

# The input graphs of the passes' test cases, each with the prelude of its file.
seed_from_passes() {
  awk -v out="$corpus/graph_text/$(basename "$1" .ir)" '
    $1 == "//" {section = $2; cases += section == "before"; file = out "-" cases ".ir"; next}
    section == "prelude" {prelude = prelude $0 "\n"}
    section == "before" {
      if (!(file in begun)) printf "fuselage.graph 1\n%s", prelude >file
      begun[file]
      print >file
    }' "$1"
}

# little_endian BYTES NUMBER...
little_endian() {
  local bytes=$1 number i
  shift
  for number in "$@"; do
    for ((i = 0; i < bytes; ++i)); do
      # shellcheck disable=SC2059  # the format is the byte
      printf "\\x$(printf '%02x' $((number >> 8 * i & 255)))"
    done
  done
}

# Items of each kind: f32, int8 in columns, a table in rows, int16 packed for 128 bits, options.
marian_bin_seed() {
  little_endian 8 1 5
  little_endian 8 2 $((0x404)) 2 8
  little_endian 8 4 $((0x10001)) 2 12
  little_endian 8 5 $((0x4101)) 2 8
  little_endian 8 4 $((0x14002)) 2 132
  little_endian 8 18 $((0x101)) 1 8
  printf 'a\0b_W\0Wemb\0c_W\0special:model.yml\0'
  little_endian 4 1 2 2 3 2 2 8 8 8
  little_endian 8 3
  printf '\0\0\0\1\2\3\4\5\6\7\10'
  printf '\1\2\3\4\5\6\0\0\200\77\0\0'
  printf '\1\2\3\4\0\0\0\100'
  printf '%0128d\0\0\200\104type: a\n' 0
}

# A table for five source words, three of them with translations.
lexical_binary_seed() {
  little_endian 8 $((0xF11A48D5013417F5)) 0 1 2 6 4 0 0 1 3 3 4
  little_endian 4 1 2 4 3
}

make_seeds() {
  local file
  build-fuzz/fuzz/fuzz_seeds "$corpus" tests/data/*/model.npz
  for file in tests/passes/*.ir; do seed_from_passes "$file"; done
  printf '\x40\0\0\0\0\0\0\0%-64s\1\2\3\4\5\6\7\10' \
    '{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}' >"$corpus/safetensors/small"
  printf '\x70\0\0\0\0\0\0\0%-112s\1\2\0\0\200\77' \
    '{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"a.scale":{"dtype":"F32","shape":[],"data_offsets":[2,6]}}' \
    >"$corpus/safetensors/quantized"
  marian_bin_seed >"$corpus/marian_bin/small.bin"
  cp models/en-de/config.json "$corpus/model_config"
  head -5 models/en-de/probes.json | sed '$s/,$/]}/' >"$corpus/probes/small.json"
  cp -r fuzz/inputs/. "$corpus"
  cp models/papers/*.yml "$corpus/model_configuration"
  cp tests/data/vocab.yml "$corpus"/{marian_options,option_file}/*.yml "$corpus/yaml"
  sha256sum tests/data/vocab.* | sed "s: tests/data/: :" >"$corpus/manifest/small"
  cp tests/data/vocab.spm tests/data/hostile/*.spm "$corpus/sentencepiece_vocabulary"
  cp models/en-de/vocab.spm "$corpus/sentencepiece_vocabulary/en-de.spm"
  cp tests/data/tokenizers/*.json "$corpus/tokenizer_vocabulary"
  head -n 100 tests/data/vocab.yml >"$corpus/word_vocabulary/head.yml"
  printf '{"</s>": 0, "<unk>": 1, "\\ud83d\\ude00": 2, "null": 3}' >"$corpus/word_vocabulary/small.json"
  printf '</s>\n<unk>\na\nb\n' >"$corpus/word_vocabulary/small.txt"
  cp tests/data/vocab.yml "$corpus/word_vocabulary"
  lexical_binary_seed >"$corpus/lexical_table/small.bin"
  printf 'a b 0.5\nb\ta 1e-3\nNULL a 1\n' >"$corpus/lexical_table/small.txt"
  printf 'a\tb\n\nc d\te\n' >"$corpus/translation_dictionary/small.txt"
  printf 'The old house\nhouse\tHaus\tGebäude\nold house\tAltbau\n' >"$corpus/terminology/small.txt"
  printf '“Łukasz” has 5€ 😀 https://a.org/b?c\nBBC hat 5 XYZ Tom' >"$corpus/placeholders/small.txt"
  printf 'the 10\nof\t7\na\n' >"$corpus/frequency_list/small.txt"
  printf 'fuselage.graph 1\n%%x = param() {name = "x", dims = [2]}\n%%y = pointwise(%%x) {expression = "t0 = add(x0, -1.5); mul(t0, tanh(t0)); t0"}\nreturn y = %%y\n' \
    >"$corpus/graph_text/expression.ir"
  cp "$corpus"/graph_text/*.ir "$corpus/graph_passes"
}
step "Making seeds" make_seeds

# Fuzzers write inputs to files thousands of times per second.
if [[ -w /dev/shm ]]; then
  TMPDIR=$(mktemp -d -p /dev/shm)
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi

failed=()
for name in "$@"; do
  say "Fuzzing $name for $seconds s, $(find "$corpus/$name" -type f | wc -l) inputs to begin with"
  dictionary=()
  [[ ! -f fuzz/inputs/$name.dict ]] || dictionary=(-dict="fuzz/inputs/$name.dict")
  build-fuzz/fuzz/"${name}_fuzzer" "${dictionary[@]}" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=60 \
    -artifact_prefix="$findings/$name-" "$corpus/$name" \
    >"build-fuzz/$name.log" 2>&1 </dev/null || failed+=("$name")
  grep -aE 'ERROR|SUMMARY|Done |Test unit written' "build-fuzz/$name.log" | sed 's/^/  /' >&2 || true
done
if [[ ${#failed[@]} -gt 0 ]]; then
  say "FINDINGS: ${failed[*]} (build-fuzz/NAME.log, $findings)"
  exit 1
fi
