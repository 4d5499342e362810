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

# browse ARGUMENTS… URL
browse() {
  HOME=$work timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu --no-first-run \
    --disable-dev-shm-usage --host-resolver-rules="MAP * ~NOTFOUND" --user-data-dir="$work/profile" \
    --window-size=1600,1000 --virtual-time-budget=30000 "$@" 2>"$work/browser.err"
}

# shows NAME ARGUMENTS…: the page of such a dump passes its test and can be seen.
shows() {
  local name=$1
  shift
  "$fuselage" dump "$@" --format html -o "$work/$name.html" || fail "$name: no page"
  browse --dump-dom "file://$work/$name.html#selftest" >"$work/$name.dom"
  grep -q '<pre id="selftest"[^>]*>selftest passed: [0-9]* checks</pre>' "$work/$name.dom" ||
    fail "$name: $(grep -o '<pre id="selftest".*' "$work/$name.dom" | head -c 2000) $(tail -n 3 "$work/browser.err")"
  browse --screenshot="$work/$name.png" "file://$work/$name.html" >/dev/null
  # A page without anything in it is a few kB.
  [[ $(stat -c %s "$work/$name.png" 2>/dev/null || echo 0) -gt 40000 ]] ||
    fail "$name: the screenshot is empty"
}

head -n 3 "$source/tests/data/transformer-ssru/input.sp.en" >"$work/text"
vocabulary=$source/tests/data/vocab.yml
shows bundled "$source/models/en-de"
shows transformer "$source/tests/data/transformer-ssru/model.npz" -b 2 \
  --profile "$work/text" -v "$vocabulary" "$vocabulary"
shows nothing "$source/models/en-de" --passes none --model-only

[[ $failures -eq 0 ]] || exit 1
echo "all passed"
