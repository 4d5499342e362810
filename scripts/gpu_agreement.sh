#!/usr/bin/env bash
# gpu_agreement.sh [BUILD]: translates with `fuselage` on the GPU and on the CPU, in float32, and
# fails if fewer than 99.9 % of the lines are the same. The small models of the tests translate
# their own text. The bundled model translates the file of English sentences in the environment
# variable TEXT, if set. For lower precisions it prints the share of lines that are the same as in
# float32. The translations are in BUILD/gpu_agreement/.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build}
results=$build/gpu_agreement
mkdir -p "$results"
status=0

# translate NAME OPTIONS...: translates into the file NAME.
translate() {
  "$build/fuselage" translate --quiet -o "$results/$1" --mini-batch 64 --maxi-batch 100 \
    --maxi-batch-sort src "${@:2}"
}

# same A B: prints the percentage of equal lines of two files, with three decimals.
same() {
  awk 'NR == FNR {line[FNR] = $0; next} line[FNR] == $0 {n++}
       END {printf "%.3f", FNR ? 100 * n / FNR : 0}' "$results/$1" "$results/$2"
}

# expect_same NAME OPTIONS...: compares the lines of the GPU and the CPU.
expect_same() {
  local share
  translate "$1.cpu" --device cpu --precision fp32 "${@:2}"
  translate "$1.cuda" --device cuda --precision fp32 "${@:2}"
  share=$(same "$1.cpu" "$1.cuda")
  printf '%s: %s %% of the lines are the same on cuda and cpu\n' "$1" "$share"
  awk -v share="$share" 'BEGIN {exit !(share >= 99.9)}' || status=1
}

for folder in tests/data/*/; do
  [[ -e $folder/model.npz ]] || continue
  expect_same "$(basename "$folder")" -m "$folder/model.npz" \
    -v tests/data/vocab.yml tests/data/vocab.yml -b 6 -n 0.6 -i "$folder/input.sp.en"
done

if [[ -n ${TEXT-} ]]; then
  for beam in 1 6; do
    expect_same "en-de.beam$beam" -m models/en-de -b "$beam" -i "$TEXT"
    for numbers in "fp32 --tf32" "fp32 --deterministic" bf16 fp16 int8; do
      name=en-de.beam$beam.${numbers// --/-}
      # shellcheck disable=SC2086 # an option may follow the type
      translate "$name" --device cuda --precision $numbers -m models/en-de -b "$beam" -i "$TEXT"
      printf '%s: %s %% of the lines are as in fp32\n' "$name" \
        "$(same "en-de.beam$beam.cuda" "$name")"
    done
  done
fi
exit "$status"
