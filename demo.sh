#!/usr/bin/env bash
# Sets up what is missing, builds build/fuselage (with an NVIDIA driver and a CUDA toolkit also its back-end for GPUs), and
# translates from English to German: standard input, or a few sentences when that is a terminal.
# Standard output has the translations only.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/setup.sh

install_packages build
build_preset release fuselage_program

if [[ ! -t 0 ]]; then
  exec build/fuselage translate
fi

english=(
  "Tom is my friend."
  "Where is the station?"
  "I would like a cup of coffee, please."
  "She has lived in this house for ten years."
  "If it rains tomorrow, we will stay at home."
)
german=$(printf '%s\n' "${english[@]}" | build/fuselage translate --quiet)
mapfile -t german <<<"$german"
for i in "${!english[@]}"; do printf '%s\n  %s\n' "${english[i]}" "${german[i]}"; done
say "Your own sentences: build/fuselage translate, or from German: build/fuselage translate --from de"
