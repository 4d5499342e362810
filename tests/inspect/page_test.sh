#!/usr/bin/env bash
# Opens pages that the command makes in headless Chromium, where they use themselves and tell what
# came of it. Usage: page_test.sh FUSELAGE SOURCE. Exit status 77: there is no Chromium.

set -u
fuselage=$1
source=$2
chromium=$(command -v chromium || command -v chromium-browser) || {
  echo "SKIPPED: there is no chromium" >&2
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# browse SIZE ARGUMENTS… URL
browse() {
  local size=$1
  shift
  HOME=$work timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu --no-first-run \
    --disable-dev-shm-usage --host-resolver-rules="MAP * ~NOTFOUND" --user-data-dir="$work/profile" \
    --window-size="$size" --virtual-time-budget=60000 "$@" 2>"$work/browser.err"
}

# passes NAME SIZE: the page passes its test in a window of that size. The page itself knows what
# overlaps and what is cut off.
passes() {
  browse "$2" --dump-dom "file://$work/$1.html#selftest" >"$work/$1.dom"
  grep -q '<pre id="selftest"[^>]*>selftest passed: [0-9]* checks</pre>' "$work/$1.dom" ||
    fail "$1 at $2: $(grep -o '<pre id="selftest".*' "$work/$1.dom" | head -c 2000) $(tail -n 3 "$work/browser.err")"
}

# shows NAME ARGUMENTS…: the page of such a dump passes its test and can be seen.
shows() {
  local name=$1
  shift
  "$fuselage" dump "$@" --format html -o "$work/$name.html" || fail "$name: no page"
  passes "$name" 1280,800
  browse 1280,800 --screenshot="$work/$name.png" "file://$work/$name.html" >/dev/null
  # A page without anything in it is a few kB.
  [[ $(stat -c %s "$work/$name.png" 2>/dev/null || echo 0) -gt 40000 ]] ||
    fail "$name: the screenshot is empty"
}

# says NAME FRAGMENT TEXT: the page at that address shows a text.
says() {
  browse 1280,800 --dump-dom "file://$work/$1.html#$2" >"$work/$1.dom"
  sed -e 's/<script.*//' "$work/$1.dom" | grep -qF -- "$3" || fail "$1#$2 does not say: $3"
}

head -n 3 "$source/tests/data/transformer-ssru/input.sp.en" >"$work/text"
vocabulary=$source/tests/data/vocab.yml
shows bundled "$source/models/en-de"
passes bundled 400,800
passes bundled 2560,1400
says bundled stage=commute-rows 'data-stage="commute_rows.2"'
says bundled 'stage=fuse_pointwise&node=decoder_l1_ffn.relu' '<h2>decoder_l1_ffn.relu</h2>'
says bundled stage=none 'There is no stage “none”'
says bundled node=none 'No stage has a node “none”'
says bundled size=3 'The address has “size”'
shows transformer "$source/tests/data/transformer-ssru/model.npz" -b 2 \
  --profile "$work/text" -v "$vocabulary" "$vocabulary"
passes transformer 400,800
shows nothing "$source/models/en-de" --passes none --model-only

[[ $failures -eq 0 ]] || exit 1
echo "all passed"
