#!/usr/bin/env bash
# test.sh [release|debug|asan|tsan]: sets up what is missing, builds that preset (release) and runs
# every test of the C++ code. test.sh python: installs the Python package in an environment of its
# own and runs its tests; test.sh distributed: the same for Ray and Spark, which needs Java; test.sh
# train: the same for training, which needs PyTorch. The last line is "N passed, N failed, N skipped".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/setup.sh

preset=${1:-release}
case $preset in
  release | debug | asan | tsan) ;;
  python) exec scripts/test_python.sh ;;
  distributed) exec scripts/test_python.sh test,ray,spark python/tests/distributed ;;
  train) exec scripts/test_python.sh test,train python/tests/train ;;
  *)
    say "usage: $0 [release|debug|asan|tsan|python|distributed|train]"
    exit 2
    ;;
esac

install_packages build test
build_preset "$preset"

# Two runs at a time must not share temporary files.
TMPDIR=$(mktemp -d)/
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

results=$(build_directory "$preset")/ctest.log
status=0
say "Testing ($preset)"
ctest --preset "$preset" --no-tests=error </dev/null 2>&1 | tee "$results" | show_progress || status=$?
[[ $status -eq 0 ]] || sed -n '/\*\*\*Failed\|\*\*\*Timeout\|\*\*\*Exception/,/^ *Start /p' "$results"
awk -f scripts/test_results.awk "$results" "$(build_directory "$preset")/Testing/Temporary/LastTest.log"
exit "$status"
