#!/usr/bin/env bash
# check_lint.sh [FILE.cpp...]: runs clang-tidy on these files, each alone, or on all tracked files that the
# preset release and the Python package compile: by the units that the build compiles, since reading headers
# takes most of the time, and then each file alone, for what is wrong in a file but not in its unit. Needs
# the build of the former: run demo.sh or test.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

environment=build/lint/environment
[[ -x $environment/bin/pip ]] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet 'nanobind>=3.0'

# configure DIRECTORY UNITY: writes the compile commands that clang can read to DIRECTORY.
configure() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFUSELAGE_UNITY_BUILD="$2" \
    -DFUSELAGE_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/$environment/bin/python" >/dev/null
  # clang cannot read the precompiled headers of g++.
  sed -i 's| -Winvalid-pch -include [^ ]*/cmake_pch\.hxx||' "$1/compile_commands.json"
}

# compiled DIRECTORY: prints the source files of its compile commands.
compiled() { sed -n 's|^  "file": "\(.*\)".*|\1|p' "$1/compile_commands.json" | sort -u; }

# For a clean file clang-tidy prints only the number of suppressed warnings.
lint() {
  local output
  output=$(clang-tidy -p "$1" --quiet "${@:2}" 2>&1) || { printf '%s\n' "$output" && return 1; }
}
export -f lint

# lint_all DIRECTORY [OPTION...]: lints the files of standard input.
lint_all() {
  # shellcheck disable=SC2016 # for the inner shell
  xargs -d '\n' -n 1 -P "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" bash -c 'lint "$@"' lint "$@"
}

configure build/lint/alone OFF
if [[ $# -gt 0 ]]; then
  printf '%s\n' "$@" | lint_all build/lint/alone
  exit
fi

configure build/lint/units ON
tracked=$(git ls-files '*.cpp' | sed "s|^|$PWD/|" | sort)
units=$(
  compiled build/lint/units | grep '/Unity/unity_' || true
  comm -12 <(compiled build/lint/units) <(printf '%s\n' "$tracked")
)
files=$(comm -12 <(compiled build/lint/alone) <(printf '%s\n' "$tracked"))
[[ -n $units && -n $files ]] || { echo "the compile commands name no tracked file" && exit 1; }
status=0
lint_all build/lint/units --checks=-bugprone-suspicious-include <<<"$units" || status=1
alone=bugprone-suspicious-include,misc-unused-alias-decls,misc-unused-using-decls
lint_all build/lint/alone --checks="-*,$alone" <<<"$files" || status=1
exit "$status"
