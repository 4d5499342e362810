#!/usr/bin/env bash
# test_emulated.sh [PROCESSOR [TEST...]]: runs all test programs (or each TEST, such as
# test_backends) on an emulated processor. The default is qemu64, an x86-64 without SSSE3: code that
# uses an instruction without a check fails there. `qemu-x86_64 -cpu help` lists others. Takes about
# an hour.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

processor=${1-qemu64}
shift $(($# > 0 ? 1 : 0))
install_packages build test emulator
build_preset release

tests=$(build_directory release)/tests
if [[ $# -eq 0 ]]; then
  for test in "$tests"/test_*; do [[ -x $test && -f $test ]] && set -- "$@" "$(basename "$test")"; done
fi

TMPDIR=$(mktemp -d)/
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# Processes that a test starts, itself or Graphviz, do not run in the emulator.
elsewhere='-*DeathTest*:Picture.*'

status=0
for test in "$@"; do
  say "$test on $processor"
  qemu-x86_64 -cpu "$processor" "$tests/$test" --gtest_brief=1 --gtest_filter="$elsewhere" || status=1
done
exit "$status"
