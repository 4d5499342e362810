#!/usr/bin/env bash
# docs/cpp-api.md: the example program gives the same bytes as the command, without options.
# Usage: translate_test.sh EXAMPLE FUSELAGE SOURCE_DIR
set -euo pipefail
example=$1 fuselage=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/in" <<'TEXT'
Tom is my friend.
Where is the station?

If it rains tomorrow, we will stay at home.
I would like a cup of coffee, please.
She has been living in a small house by the sea for more than twenty years.
TEXT
export FUSELAGE_MODELS=$source/models
"$example" <"$work/in" >"$work/got"
"$fuselage" translate --quiet <"$work/in" >"$work/want"
diff "$work/want" "$work/got"
[[ $(head -1 "$work/got") == "Tom ist mein Freund." ]]
