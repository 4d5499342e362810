#!/usr/bin/env bash
# test_wasm.sh: builds the module for WebAssembly (scripts/build_wasm.sh) and compares it, in Node and in headless
# Chromium, with the program for this machine: n-best lists of the bundled model with all scores, bit by bit, in
# products of integers. Then the page translates a paragraph that is typed into it, and asks for nothing but its own
# files, once. Tells sizes, times and memory.
#
# FUSELAGE_PROGRAM names a program for this machine; without it, one is built in build. FUSELAGE_PRECISIONS is a list
# of precisions, FUSELAGE_LINES the number of lines (300).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

module=build-wasm/module
model=models/en-de
work=$(mktemp -d)
server=
failures=0
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT

fail() {
  say "FAILED: $*"
  failures=$((failures + 1))
}

tell_sizes() {
  local bytes
  bytes=$(stat -c %s "$module/fuselage-module.wasm")
  say "The module has $bytes bytes, $(gzip -9 <"$module/fuselage-module.wasm" | wc -c) by gzip and" \
    "$(brotli -q 11 -c "$module/fuselage-module.wasm" | wc -c) by brotli; its scripts" \
    "$(cat "$module"/*.js | gzip -9 | wc -c) by gzip"
}

# Prose of the documentation.
make_input() {
  { grep -hE '^[A-Z].{20,140}[.!?]$' docs/*.md || true; } | head -n "${FUSELAGE_LINES:-300}" >"$work/input.txt"
}

# native PRECISION: the program's n-best lists. As the module does, it translates with the model's own settings.
native() {
  "$program" translate -m "$model" --precision "$1" --n-best --word-scores --json --quiet --cpu-threads 1 \
    -i "$work/input.txt" -o "$work/native.$1.json"
}

compare_in_node() {
  local precision
  for precision in ${FUSELAGE_PRECISIONS:-int8 int16 int4 int4-log}; do
    native "$precision"
    node tests/wasm/n_best.mjs "$module" "$model" "$work/input.txt" "$precision" "$work/native.$precision.json" ||
      fail "n-best lists in Node, $precision"
  done
}

# serve FOLDER: sets `address`; requests are listed in $work/requests.
serve() {
  python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$1" >"$work/address" 2>>"$work/requests" &
  server=$!
  local i
  for ((i = 0; i < 100; ++i)); do
    [[ ! -s $work/address ]] || break
    sleep 0.1
  done
  address=$(grep -o 'http://[^/ ]*' "$work/address")
}

# browse URL ELEMENT: opens the page and waits for the text of this element, which it prints.
browse() { node tests/wasm/browse.mjs "$chromium" "$1" "$2" 300; }

compare_in_browser() {
  local site=$work/site found
  cp -rL "$module" "$site"
  cp tests/wasm/{check.html,compare.js} "$work/input.txt" "$site"
  [[ -e $work/native.int8.json ]] || native int8
  cp "$work/native.int8.json" "$site/native.json"
  serve "$site"
  found=$(browse "$address/check.html" result)
  say "n-best lists in Chromium: $found"
  [[ $found == passed* ]] || fail "n-best lists in Chromium"
  : >"$work/requests"
  compare_page
}

# The page's translation is the command's, and it fetched each of its files once.
compare_page() {
  local found expected
  found=$(browse "$address/index.html#selftest" selftest)
  say "The page: $found"
  expected=$(printf '%s\n' 'Tom is my friend.' 'Where is the station?' '' 'I am tired.' |
    "$program" translate -m "$model" --quiet | python3 -c '
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
tell_sizes
make_input
compare_in_node
compare_in_browser
[[ $failures -eq 0 ]] || exit 1
say "all passed"
