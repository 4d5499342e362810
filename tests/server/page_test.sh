#!/usr/bin/env bash
# Opens the page of `fuselage serve` in headless Chromium, where it uses itself and tells what came of
# it. Usage: page_test.sh FUSELAGE SOURCE. Exit status 77: there is no Chromium.

set -u
fuselage=$1
chromium=$(command -v chromium || command -v chromium-browser) || {
  echo "SKIPPED: there is no chromium" >&2
  exit 77
}
export FUSELAGE_MODELS=$2/models
work=$(mktemp -d)
failures=0

server=
trap 'stop; rm -rf "$work"' EXIT

stop() {
  [[ -z $server ]] || kill "$server"
  wait "$server"
  server=
}

# start ARGUMENTS…: a server on a free port; sets `address`.
start() {
  : >"$work/address"
  "$fuselage" serve --port 0 --max-characters 2000 "$@" >"$work/address" 2>"$work/log" &
  server=$!
  local i
  for ((i = 0; i < 300; ++i)); do
    [[ ! -s $work/address ]] || break
    sleep 0.1
  done
  address=$(cat "$work/address")
}

# browse SIZE ARGUMENTS… URL
browse() {
  local size=$1
  shift
  HOME=$work timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu --no-first-run \
    --disable-dev-shm-usage --user-data-dir="$work/profile" --window-size="$size" \
    --virtual-time-budget=60000 "$@" 2>"$work/browser.err"
}

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# selftest NAME SIZE ARGUMENTS…
selftest() {
  local name=$1 size=$2
  shift 2
  browse "$size" "$@" --dump-dom "$address/#selftest" >"$work/dom"
  grep -q '<pre id="selftest">selftest passed: [0-9]* checks</pre>' "$work/dom" ||
    fail "$name: $(grep -o '<pre id="selftest".*' "$work/dom" | head -c 2000) $(tail -n 3 "$work/browser.err")"
}

cp -r "$2/models/en-de" "$work/unaligned"
rm "$work/unaligned/SHA256SUMS"
sed 's/^return alignment = %alignment, /return /' "$2/models/en-de/graph.ir" >"$work/unaligned/graph.ir"
start -m "$work/unaligned"
selftest "without alignments" 1280,800
stop
start
selftest "in a wide window" 1280,800
selftest "on a phone" 500,800
selftest "in the dark" 500,800 --blink-settings=preferredColorScheme=0
browse 1280,800 --dump-dom "$address/graph#selftest" >"$work/dom"
grep -q '<pre id="selftest"[^>]*>selftest passed: [0-9]* checks</pre>' "$work/dom" ||
  fail "the graph: $(grep -o '<pre id="selftest".*' "$work/dom" | head -c 2000) $(tail -n 3 "$work/browser.err")"
grep -q '"profile":{"seconds":' "$work/dom" || fail "the page of the graph has no times"
browse 1280,800 --screenshot="$work/page.png" "$address/" >/dev/null
[[ $(stat -c %s "$work/page.png" 2>/dev/null || echo 0) -gt 8000 ]] || fail "the screenshot is empty"
[[ $failures -eq 0 ]] || exit 1
echo "all passed"
