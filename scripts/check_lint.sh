#!/usr/bin/env bash
# check_lint.sh [FILE.cpp...]: clang-tidy with .clang-tidy over these files, or over every tracked
# one that the preset release compiles. Needs build/compile_commands.json: run demo.sh or test.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -eq 0 ]]; then
  mapfile -t sources < <(
    comm -12 <(git ls-files '*.cpp' | sort) \
      <(sed -n "s|^  \"file\": \"$PWD/\(.*\)\".*|\1|p" build/compile_commands.json | sort)
  )
  [[ ${#sources[@]} -gt 0 ]] || { echo "build/compile_commands.json names no tracked file" && exit 1; }
  set -- "${sources[@]}"
fi

# clang cannot read the precompiled headers of g++.
mkdir -p build/lint
sed 's| -Winvalid-pch -include [^ ]*/cmake_pch\.hxx||' build/compile_commands.json \
  >build/lint/compile_commands.json

# What it says about a clean file is how many warnings it hid.
lint() {
  local output
  output=$(clang-tidy -p build/lint --quiet "$1" 2>&1) || { printf '%s\n' "$output" && return 1; }
}
export -f lint
# shellcheck disable=SC2016 # for the inner shell
printf '%s\0' "$@" | xargs -0 -n 1 -P "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" bash -c 'lint "$1"' lint
