#!/usr/bin/env bash
# build_wasm.sh [TARGET...]: builds Fuselage as a module of WebAssembly on Debian 12, in build-wasm: the module and
# fuselage.js in build-wasm/module, and a page beside them that translates while one types. In build-wasm/threads all is
# built again for the module with threads, which goes to build-wasm/module/threads. The libraries that it needs are
# compiled from Debian's source packages, which are unpacked in build-wasm/sources once, from the archive
# FUSELAGE_MIRROR (deb.debian.org).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
source scripts/library_sources.sh

build=build-wasm
sources=$PWD/$build/sources

# Emscripten's scripts need Debian's packages for Node, also of a Node that is not Debian's.
export NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}

# build_module FOLDER TITLE ARGUMENT...: the arguments are those of cmake.
build_module() {
  local folder=$1 title=$2
  shift 2
  step "Configuring ($title)" cmake -S . -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/wasm.cmake" \
    -DFUSELAGE_SOURCES="$sources" -DCMAKE_BUILD_TYPE=Release -DFUSELAGE_MINIMAL=ON "$@"
  step "Building ($title)" cmake --build "$folder" "${targets[@]}"
}

mapfile -t names < <(packages_of build packages-wasm.txt)
mapfile -t missing < <(missing_packages "${names[@]}")
[[ ${#missing[@]} -eq 0 ]] || step "Installing ${missing[*]}" apt_install "${missing[@]}"
make_sources sources standard
targets=()
[[ $# -eq 0 ]] || targets=(--target "$@")
build_module "$build" WebAssembly
build_module "$build/threads" "WebAssembly with threads" -DFUSELAGE_WASM_THREADS=ON \
  -DFUSELAGE_WASM_MODULE="$PWD/$build/module"
