#!/usr/bin/env bash
# Fails when a tracked C++ or CUDA file differs from clang-format's output. To fix:
# git ls-files -z '*.h' '*.cpp' '*.cu' | xargs -0 clang-format -i
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files -z '*.h' '*.cpp' '*.cu' | xargs -0 clang-format --dry-run -Werror
