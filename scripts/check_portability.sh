#!/usr/bin/env bash
# check_portability.sh [build | translate]: compiles the minimal part of Fuselage, the layers from base/ to decoding/
# with the C interface, for Windows on x86-64 by clang and MinGW-w64, in build-windows, on a Debian 12 of x86-64.
# "translate" (without an argument too) then translates some lines in Wine by a program on the C interface, whose n-best
# lists with all scores must have the bytes of the same program for this machine.
#
# The libraries are compiled from Debian's source packages, which are unpacked in build-windows/sources once, from the
# archive FUSELAGE_MIRROR (deb.debian.org). FUSELAGE_LIBRARY names a folder with libfuselage.so for this machine; without
# it, the library is built in build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
source scripts/library_sources.sh

what=${1:-translate}
if [[ $what != build && $what != translate ]]; then
  say "usage: $0 [build | translate]"
  exit 2
fi
build=build-windows
sources=$PWD/$build/sources

mapfile -t names < <(packages_of build packages-windows.txt)
mapfile -t missing < <(missing_packages "${names[@]}")
[[ ${#missing[@]} -eq 0 ]] || step "Installing ${missing[*]}" apt_install "${missing[@]}"
make_sources sources
# This proves that the code works, not how fast it is: less optimization saves two thirds of the time.
step "Configuring (Windows)" cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/windows.cmake" \
  -DFUSELAGE_SOURCES="$sources" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DFUSELAGE_MINIMAL=ON
step "Building (Windows)" cmake --build "$build"
[[ $what == translate ]] || exit 0

library=${FUSELAGE_LIBRARY:-build}
if [[ -z ${FUSELAGE_LIBRARY:-} ]]; then
  install_packages build
  build_preset release fuselage
fi
work=$(mktemp -d)
export WINEPREFIX=$work/wine WINEDEBUG=-all
# Wine's server, which starts at the first program, writes files until it ends.
trap '/usr/lib/wine/wineserver64 --wait || true; rm -rf "$work"' EXIT
step "Building the program for this machine" cc -O1 -Iinclude windows/program/translate.c -o "$work/translate" \
  "$library/libfuselage.so" -Wl,-rpath,"$(realpath "$library")"
failures=0
for precision in int8 int16 int4 int4-log; do
  head -n 5 tests/data/directory-2026-11/input.en >"$work/input"
  "$work/translate" models/en-de "$precision" <"$work/input" >"$work/native"
  {
    /usr/lib/wine/wine64 "$build/translate.exe" models/en-de "$precision" <"$work/input" >"$work/windows" &&
      cmp "$work/native" "$work/windows" >&2
  } || failures=$((failures + 1))
done
say "$failures of 4 precisions differ on Windows, in n-best lists of $(wc -l <"$work/native") hypotheses"
exit "$((failures > 0))"
