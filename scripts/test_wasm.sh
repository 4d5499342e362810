#!/usr/bin/env bash
# test_wasm.sh: builds the module for WebAssembly (scripts/build_wasm.sh) and compares it, in Node and in headless
# Chromium, with the program for this machine: n-best lists of the bundled model and of the conformance models with all
# scores, bit by bit, in products of integers, with one thread and with three. Then the page translates a paragraph that
# is typed into it, and asks for nothing but its own files, once; and the interface of bergamot-translator is tested.
# Tells sizes, times and memory.
#
# FUSELAGE_PROGRAM names a program for this machine; without it, one is built in build. FUSELAGE_PRECISIONS is a list
# of precisions, FUSELAGE_LINES the number of lines (300). FUSELAGE_CONFORMANCE is a folder of conformance models in
# place of tests/data: of folders with a model.npz and lines in input.sp.en, or with model.intgemm.alphas.bin, lines there
# and references in ref.sp.de; and in huggingface or hf of folders with lines in input.txt.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

module=build-wasm/module
conformance=${FUSELAGE_CONFORMANCE:-tests/data}
work=$(mktemp -d)
servers=()
failures=0
trap '[[ ${#servers[@]} -eq 0 ]] || kill "${servers[@]}"; rm -rf "$work"' EXIT

fail() {
  say "FAILED: $*"
  failures=$((failures + 1))
}

# tell_sizes FOLDER: of the module in a folder, and of the scripts there.
tell_sizes() {
  local file=$1/fuselage-module.wasm
  say "$file has $(stat -c %s "$file") bytes, $(gzip -9 <"$file" | wc -c) by gzip and" \
    "$(brotli -q 11 -c "$file" | wc -c) by brotli; the scripts of its folder $(cat "$1"/*.js | gzip -9 | wc -c) by gzip"
}

# Prose of the documentation.
make_input() {
  { grep -hE '^[A-Z].{20,140}[.!?]$' docs/*.md || true; } | head -n "${FUSELAGE_LINES:-300}" >"$work/input.txt"
}

# make_model NAME INPUT OPTION...: the model directory $work/models/NAME from what the options name, with its lines.
make_model() {
  local name=$1 input=$2
  shift 2
  if "$program" convert "$@" -o "$work/models/$name" 2>"$work/refused"; then
    cp "$input" "$work/models/$name.txt"
  else
    fail "no model of $name: $(head -n 1 "$work/refused")"
  fi
}

make_models() {
  local folder
  mkdir -p "$work/models"
  cp -rL models/en-de "$work/models/en-de"
  cp "$work/input.txt" "$work/models/en-de.txt"
  for folder in "$conformance"/*/; do
    [[ ! -e $folder/model.npz || ! -e $folder/input.sp.en ]] || make_model "$(basename "$folder")" \
      "$folder/input.sp.en" -m "$folder/model.npz" -v "$conformance"/vocab.yml "$conformance"/vocab.yml -b 6
  done
  for folder in "$conformance"/{huggingface,hf}/*/; do
    [[ ! -e $folder/input.txt ]] || make_model "huggingface-$(basename "$folder")" "$folder/input.txt" -m "$folder"
  done
}

# Every model in every precision: the program's lists in $work/models/NAME.PRECISION.json, and the module's in Node. As
# the module does, the program translates with the model's own settings.
compare_in_node() {
  local precision name lists threads
  for name in $(cd "$work/models" && ls ./*.txt | sed 's/^..//; s/\.txt$//'); do
    for precision in ${FUSELAGE_PRECISIONS:-int8 int16 int4 int4-log}; do
      lists=$work/models/$name.$precision.json
      "$program" translate -m "$work/models/$name" --precision "$precision" --n-best --word-scores --json --quiet \
        --cpu-threads 1 -i "$work/models/$name.txt" -o "$lists" || { fail "$name natively, $precision"; continue; }
      for threads in 1 3; do
        node tests/wasm/n_best.mjs "$module" "$work/models/$name" "$work/models/$name.txt" "$precision" "$threads" \
          "$lists" || fail "n-best lists in Node, $name, $precision, threads: $threads"
      done
    done
  done
}

# Models in the form of Firefox's, with a shortlist made of the 40 lines beside them: by the interface of
# bergamot-translator, and by the program with that interface's settings.
compare_firefox() {
  local model folder files=$work/firefox
  for model in "$conformance"/*/model.intgemm.alphas.bin; do
    [[ -e $model ]] || continue
    folder=$(dirname "$model")
    mkdir -p "$files"
    cp "$model" "$files"
    cp "$conformance/vocab.spm" "$files"
    sed 's/ //g; s/▁/ /g; s/^ //' "$folder/input.sp.en" >"$files/input.txt"
    sed 's/ //g; s/▁/ /g; s/^ //' "$folder/ref.sp.de" >"$files/references.txt"
    "$program" lexicon "$files"/{input,references}.txt -m "$files"/*.alphas.bin -v "$files"/vocab.spm{,} \
      --first 50 --best 50 -o "$files/lex.s2t.bin"
    printf '%s\n' 'relative-paths: true' 'models: [model.intgemm.alphas.bin]' 'vocabs: [vocab.spm, vocab.spm]' \
      'shortlist: [lex.s2t.bin]' 'beam-size: 1' 'normalize: 1' 'word-penalty: 0' 'gemm-precision: int8shiftAlphaAll' \
      'skip-cost: true' 'max-length-factor: 2' 'max-length-break: 128' 'mini-batch-words: 1024' >"$files/decoder.yml"
    "$program" translate -c "$files/decoder.yml" --text --quiet -i "$files/input.txt" -o "$files/expected.txt"
    node tests/wasm/firefox.mjs "$module" "$files" "$files"/{input,expected}.txt || fail "files in Firefox's form"
  done
}

# serve FOLDER HEADER...: sets `address`; requests are listed in $work/requests.
serve() {
  : >"$work/address"
  python3 tests/wasm/serve.py "$@" >"$work/address" 2>>"$work/requests" &
  servers+=($!)
  local i
  for ((i = 0; i < 100; ++i)); do
    [[ ! -s $work/address ]] || break
    sleep 0.1
  done
  address=$(<"$work/address")
}

# browse URL ELEMENT: opens the page and waits for the text of this element, which it prints.
browse() { node tests/wasm/browse.mjs "$chromium" "$1" "$2" 900; }

compare_in_browser() {
  local site=$work/site
  cp -rL "$module" "$site"
  cp tests/wasm/{check.html,compare.js} "$site"
  cp -r "$work/models" "$site"
  (cd "$work/models" && printf '%s\n' ./*.json | sed 's/^..//') >"$site/lists.txt"
  serve "$site" Cross-Origin-Opener-Policy=same-origin Cross-Origin-Embedder-Policy=require-corp
  compare_lists 3
  serve "$site"
  compare_lists 1
  : >"$work/requests"
  compare_page
}

# compare_lists THREADS: those that the page at `address` uses.
compare_lists() {
  local found
  found=$(browse "$address/check.html" result)
  say "n-best lists in Chromium: $found"
  [[ $found == "passed: "*", threads: $1" ]] || fail "n-best lists in Chromium, threads: $1"
}

# The page's translation is the command's, and it fetched each of its files once.
compare_page() {
  local found expected
  found=$(browse "$address/index.html#selftest" selftest)
  say "The page: $found"
  expected=$(printf '%s\n' 'Tom is my friend.' 'Where is the station?' '' 'I am tired.' |
    "$program" translate -m models/en-de --quiet | python3 -c '
import json, sys
one, other, _, last = sys.stdin.read().split("\n")[:4]
print(json.dumps(f"{one} {other}\n\n{last}", ensure_ascii=False))')
  [[ $found == *"\"translation\":$expected"* ]] || fail "the page: $expected is expected"
  sed -n 's/.*"GET \([^ ?]*\).*/\1/p' "$work/requests" | sort >"$work/fetched"
  say "The page fetched $(wc -l <"$work/fetched") files"
  [[ -z $(uniq -d "$work/fetched") ]] || fail "fetched more than once: $(uniq -d "$work/fetched" | tr '\n' ' ')"
}

scripts/build_wasm.sh
mapfile -t tools < <(packages_of test packages-wasm.txt)
mapfile -t missing < <(missing_packages "${tools[@]}")
[[ ${#missing[@]} -eq 0 ]] || step "Installing ${missing[*]}" apt_install "${missing[@]}"
chromium=$(command -v chromium)
program=${FUSELAGE_PROGRAM:-}
if [[ -z $program ]]; then
  install_packages build
  build_preset release fuselage_program
  program=build/fuselage
fi
tell_sizes "$module"
tell_sizes "$module/threads"
make_input
make_models
compare_in_node
node tests/wasm/threads.mjs "$module" models/en-de || fail "threads in Node"
node tests/wasm/bergamot.mjs "$module" || fail "the interface of bergamot-translator"
compare_firefox
compare_in_browser
[[ $failures -eq 0 ]] || exit 1
say "all passed"
