#!/usr/bin/env bash
# Regenerates the pictures of README.md and docs/inspect-a-graph.md. Needs the packages of section [test] and the
# build of the preset release.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuselage=$(realpath "${FUSELAGE:-build/fuselage}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# screenshot NAME [FRAGMENT]
screenshot() {
  HOME=$work chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/profile" --window-size=1400,875 --virtual-time-budget=10000 \
    --screenshot="$PWD/docs/images/$1.png" "file://$work/page.html${2-}" 2>/dev/null
}

# The key of a node of the bundled model, by its name.
key_of() {
  "$fuselage" dump models/en-de --format json |
    python3 -c 'import json, sys
for node in json.load(sys.stdin)["stages"][-1]["nodes"]:
    if node["name"] == sys.argv[1]: print(node["key"]); break' "$1"
}

mkdir -p docs/images
(cd models && "$fuselage" dump en-de --format html -o "$work/page.html")
screenshot page
screenshot pass '#stage=commute_rows.1'
screenshot fused '#open=step+decoder_l1_context|fused+'"$(key_of decoder_l1_context.segment_softmax)"'&node=decoder_l1_context.segment_softmax'
"$fuselage" dump models/en-de --program step --format svg -o docs/images/step.svg
