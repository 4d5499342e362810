#!/usr/bin/env bash
# The parts in which gpu_check.sh runs tests under compute-sanitizer, with programs that stand in
# for NVIDIA's and for test_cuda. Usage: gpu_check_test.sh SOURCES
set -euo pipefail
script=$1/scripts/gpu_check.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/build/tests/cuda"
printf '#!/bin/sh\necho "GPU 0: stand-in"\n' >"$work/bin/nvidia-smi"
printf '#!/bin/sh\necho "part $GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS: $*"\n' >"$work/bin/compute-sanitizer"
printf '#!/bin/sh\n' >"$work/build/tests/cuda/test_cuda"
chmod +x "$work"/bin/* "$work/build/tests/cuda/test_cuda"

fail() {
  echo "$1"
  cat "$work/out"
  exit 1
}
# run VARIABLE... -- STEP...: all output is in out.
run() {
  local settings=()
  while [[ $1 != -- ]]; do settings+=("$1") && shift; done
  shift
  env -u SHARD -u SHARDS -u FILTER "${settings[@]}" PATH="$work/bin:$PATH" \
    "$script" "$work/build" "$@" >"$work/out" 2>&1
}

run -- racecheck || fail "racecheck in 8 parts"
[[ $(grep -c '^part [0-7] of 8: --tool racecheck' "$work/out") -eq 8 ]] || fail "8 parts"
grep -q '^8 passed, 0 failed' "$work/out" || fail "each part counts"
grep -q '^part .*gtest_filter=.*CudaModels' "$work/out" || fail "models are left out"
run -- memcheck || fail "memcheck"
! grep -q '^part .*CudaModels' "$work/out" || fail "memcheck leaves no models out"
run SHARDS=3 SHARD=2 FILTER='BlasTest.*' -- synccheck || fail "one part"
[[ $(grep '^part' "$work/out") == 'part 2 of 3: --tool synccheck '*'=BlasTest.*' ]] || fail "part 2 alone"
run SHARDS=2 SHARD=2 -- memcheck && fail "a part that is not there"
grep -q 'SHARDS=2 SHARD=2: ' "$work/out" || fail "says why"

printf '#!/bin/sh\n[ "$GTEST_SHARD_INDEX" != 1 ] || sleep 60\n' >"$work/bin/compute-sanitizer"
run SHARDS=2 SECONDS_EACH=1 -- initcheck && fail "a part that takes too long"
grep -q '^1 passed, 1 failed' "$work/out" || fail "a part that takes too long costs no other"
