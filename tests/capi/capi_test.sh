#!/usr/bin/env bash
# The C interface, beside the command.
# Usage: capi_test.sh TEST FUSELAGE MODEL
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

printf '%s\n' "Tom is my friend." "Where is the station?" |
  "$2" translate -m "$3" --quiet >"$directory/expected"
"$1" "$3" "$directory/expected"
