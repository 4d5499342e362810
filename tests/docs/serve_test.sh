#!/usr/bin/env bash
# Runs the commands of docs/serve.md against a server on a free port. Each line shown as output must
# stand in a line of it; "…" leaves something out. Usage: serve_test.sh FUSELAGE SOURCE. Exit status
# 77: there is no curl.

set -u
fuselage=$1
page=$2/docs/serve.md
command -v curl >/dev/null || {
  echo "SKIPPED: there is no curl" >&2
  exit 77
}
export FUSELAGE_MODELS=$2/models
work=$(mktemp -d)
cd "$work" || exit 1
"$fuselage" serve --port 0 >address 2>log &
server=$!
trap 'kill "$server"; wait "$server"; rm -rf "$work"' EXIT
for ((i = 0; i < 300; ++i)); do
  [[ ! -s address ]] || break
  sleep 0.1
done
address=$(cat address)
failures=0
commands=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

inside=false
while IFS= read -r line; do
  case $line in
    '```console') inside=true ;;
    '```'*) inside=false ;;
    '$ fuselage serve'*) : >out ;; # the server that runs
    '$ '*)
      $inside || continue
      commands=$((commands + 1))
      command=${line#\$ }
      bash -c "${command//http:\/\/127.0.0.1:5000/$address}" >out 2>err || fail "exit status $?: $line ($(cat err))"
      ;;
    '…' | '' | 'http://127.0.0.1:5000') ;;
    *)
      $inside || continue
      grep -qF -- "$line" out || fail "no output has '$line': $(cat out)"
      ;;
  esac
done <"$page"
[[ $commands -ge 5 ]] || fail "the page has $commands commands"
[[ $failures -eq 0 ]] || exit 1
echo "all $commands commands work"
