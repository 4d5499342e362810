#!/usr/bin/env bash
# check_lint.sh [FILE.cpp...]: runs clang-tidy on these files, or on all tracked files that the
# preset release and the Python package compile. Needs the build of the former: run demo.sh or
# test.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

environment=build/lint/environment
[[ -x $environment/bin/pip ]] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet 'nanobind>=3.0'

# The build compiles several files at a time; clang-tidy reads each on its own.
cmake -S . -B build/lint -G Ninja -DCMAKE_BUILD_TYPE=Release -DFUSELAGE_UNITY_BUILD=OFF \
  -DFUSELAGE_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/$environment/bin/python" >/dev/null
commands=build/lint/compile_commands.json

if [[ $# -eq 0 ]]; then
  mapfile -t sources < <(
    comm -12 <(git ls-files '*.cpp' | sort) \
      <(sed -n "s|^  \"file\": \"$PWD/\(.*\)\".*|\1|p" "$commands" | sort)
  )
  [[ ${#sources[@]} -gt 0 ]] || { echo "$commands names no tracked file" && exit 1; }
  set -- "${sources[@]}"
fi

# clang cannot read the precompiled headers of g++.
sed -i 's| -Winvalid-pch -include [^ ]*/cmake_pch\.hxx||' "$commands"

# For a clean file clang-tidy prints only the number of suppressed warnings.
lint() {
  local output
  output=$(clang-tidy -p build/lint --quiet "$1" 2>&1) || { printf '%s\n' "$output" && return 1; }
}
export -f lint
# shellcheck disable=SC2016 # for the inner shell
printf '%s\0' "$@" | xargs -0 -n 1 -P "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" bash -c 'lint "$1"' lint
