#!/usr/bin/env bash
# Runs the commands of a page of docs/, inspect-a-graph.md if none is named. Each line shown as output must begin a line of it or
# stand in one; "…" leaves something out. Usage:
# inspect_a_graph_test.sh FUSELAGE SOURCE [PAGE].
# Exit status 77: graphviz is missing.

set -u
fuselage=$1
source=$2
page=$source/docs/${3:-inspect-a-graph.md}
command -v dot >/dev/null || {
  echo "SKIPPED: there is no graphviz" >&2
  exit 77
}
export FUSELAGE_MODELS=$source/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin && ln -s "$fuselage" bin/fuselage
PATH=$work/bin:$PATH
failures=0
commands=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# Tables align numbers that change: any blanks are one.
squeeze() { tr -s ' ' <"$1"; }

inside=false
while IFS= read -r line; do
  case $line in
    '```console') inside=true ;;
    '```'*) inside=false ;;
    '$ '*)
      $inside || continue
      commands=$((commands + 1))
      bash -c "${line#\$ }" >out 2>err || fail "exit status $?: $line ($(cat err))"
      ;;
    '…' | '') ;;
    *)
      $inside || continue
      squeeze out | grep -qF -- "$(tr -s ' ' <<<"$line")" || fail "no output has '$line'"
      ;;
  esac
done <"$page"

[[ $commands -ge 5 ]] || fail "the page has $commands commands"
for file in $(sed -nE 's/^\$ .* (-o|--output) ([^ ]*).*/\2/p' "$page"); do
  [[ -s $file || -d $file ]] || fail "$file is empty"
done
for image in $(grep -o '](images/[^)]*)' "$page" | tr -d ']()'); do
  [[ -s $source/docs/$image ]] || fail "docs/$image is missing"
done
[[ $failures -eq 0 ]] || exit 1
echo "all $commands commands work"
