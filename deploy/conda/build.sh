#!/usr/bin/env bash
# build.sh [python]: what recipe.yaml runs, in the folder of the sources: installs the program and the library, or the
# Python package, into $PREFIX.
set -euo pipefail

# CLD2 as a static library, of the files that its own script compiles for libcld2.so.
mkdir -p cld2-library
mapfile -t files < <(awk '/-o libcld2\.so/ {exit} {for (i = 1; i <= NF; i++) if ($i ~ /\.cc$/) print $i}' \
  cld2/internal/compile_libs.sh)
for file in "${files[@]}"; do
  "$CXX" ${CXXFLAGS:-} -std=c++98 -w -fPIC -c "cld2/internal/$file" -o "cld2-library/${file%.cc}.o"
done
"$AR" rcs cld2-library/libcld2.a cld2-library/*.o

# Its headers are included as cld2/….
options=(-G Ninja -DFUSELAGE_CUDA=OFF -DFUSELAGE_WERROR=OFF -DFUSELAGE_BUILD_TESTS=OFF -DFUSELAGE_BUILD_BENCHMARKS=OFF
  -DFUSELAGE_CLD2="$PWD/cld2-library/libcld2.a" -DCMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES="$PWD")
if [[ ${1:-} == python ]]; then
  export CMAKE_ARGS="${CMAKE_ARGS:-} ${options[*]:2}" CMAKE_GENERATOR=Ninja
  "$PYTHON" -m pip install . --no-deps --no-build-isolation --verbose
else
  cmake -S . -B build-conda ${CMAKE_ARGS:-} "${options[@]}" -DCMAKE_BUILD_TYPE=Release
  cmake --build build-conda
  cmake --install build-conda
fi
