#!/usr/bin/env bash
# Fails when a tracked C++ or CUDA file is not as clang-format would write it. To mend:
# git ls-files -z '*.h' '*.cpp' '*.cu' | xargs -0 clang-format -i
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files -z '*.h' '*.cpp' '*.cu' | xargs -0 clang-format --dry-run -Werror
