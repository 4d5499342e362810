#!/usr/bin/env bash
# test_arm.sh [translate | tests [OPTION OF CTEST...]]: builds Fuselage for ARM64 on a Debian 12 of x86-64, in
# build-arm, and runs it in an emulator. "translate": n-best lists with all scores in products of integers, whose
# bytes must be what the program for this machine writes, on ARM64 processors with several instruction sets.
# "tests": the test programs, on the strongest of these processors or on FUSELAGE_PROCESSOR, such as cortex-a72;
# hours for all of them, so take some: test_arm.sh tests -R Gemm. Without an argument: both.
#
# Libraries for ARM64 are unpacked into the folder FUSELAGE_SYSROOT (~/.cache/fuselage/aarch64), from the archive
# FUSELAGE_MIRROR (deb.debian.org); of this machine's own packages the cross compiler and the emulator are
# installed. FUSELAGE_PROGRAM names a program for this machine; without it, one is built in build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

build=build-arm
sysroot=${FUSELAGE_SYSROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/fuselage/aarch64}
export FUSELAGE_SYSROOT=$sysroot

# Instruction sets by processors of the emulator: NEON alone; dot products of bytes; products of matrices of bytes,
# with SVE at three widths, which must not matter.
processors=(cortex-a72 neoverse-n1 max,sve128=on,sve256=off,sve512=off,sve-max-vq=1
  max,sve-max-vq=2 max,sve-max-vq=4)

# unpack_sysroot PACKAGE...: these packages for ARM64 and what they depend on, in a fresh folder.
unpack_sysroot() {
  local apt=$sysroot.new/apt package
  rm -rf "$sysroot.new"
  private_apt "$apt" deb arm64
  apt-get install --download-only --yes "$@"
  for package in "$apt"/archives/*.deb; do dpkg-deb --extract "$package" "$sysroot.new"; done
  rm -rf "$apt"
  printf '%s\n' "$@" >"$sysroot.new/packages"
  rm -rf "$sysroot"
  mv "$sysroot.new" "$sysroot"
}

make_sysroot() {
  local names
  mapfile -t names < <(packages_of sysroot packages-arm64.txt && packages_of build | grep -- '-dev$')
  cmp -s "$sysroot/packages" <(printf '%s\n' "${names[@]}") && return
  mkdir -p "$(dirname "$sysroot")"
  step "Unpacking libraries for ARM64 into $sysroot" unpack_sysroot "${names[@]}"
}

# build_arm TARGET...
build_arm() {
  step "Configuring (ARM64)" cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake \
    -DCMAKE_SYSROOT="$sysroot" -DCMAKE_BUILD_TYPE=Release -DFUSELAGE_CUDA=OFF \
    -DFUSELAGE_BUILD_BENCHMARKS=OFF -DFUSELAGE_BUILD_TESTS=ON
  step "Building (ARM64)" cmake --build "$build" --target "$@"
}

# translations COMMAND...: n-best lists in JSON, which has the digits of every score, of the bundled model and of
# small models of several architectures, in $folder/MODEL.PRECISION.
translations() {
  local data=tests/data model precision options lines output
  for precision in ${FUSELAGE_PRECISIONS:-int8 int16 int4 int4-log}; do
    for model in en-de nematus amun s2s-deep-ln transformer-post transformer-pre transformer-ssru huggingface/marian \
      huggingface/t5; do
      case $model in
        en-de) options=(-m models/en-de) lines=$data/directory-2026-11/input.en ;;
        huggingface/*) options=(-m "$data/$model") lines=$data/$model/input.txt ;;
        *)
          options=(-m "$data/$model/model.npz" -v "$data/vocab.yml" "$data/vocab.yml")
          lines=$data/$model/input.sp.en
          ;;
      esac
      output=$folder/${model/\//-}.$precision
      head -n 5 "$lines" | "$@" translate "${options[@]}" --precision "$precision" --beam-size 4 --n-best \
        --normalize=0.6 --max-length-factor 2 --word-scores --alignment=soft --json --quiet \
        --cpu-threads 1 -o "$output"
      [[ $(grep -c '"score":' "$output") -eq 5 ]] || { say "$model, $precision: not 5 translations" && return 1; }
    done
  done
}

compare_translations() {
  local program=${FUSELAGE_PROGRAM:-} processor
  if [[ -z $program ]]; then
    install_packages build
    build_preset release fuselage_program
    program=build/fuselage
  fi
  local outputs
  outputs=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$outputs'" EXIT
  export folder=$outputs/native
  mkdir "$folder"
  say "Translating on this machine"
  translations "$program"
  for processor in "${processors[@]}"; do
    folder=$outputs/$processor
    mkdir "$folder"
    say "Translating on $processor"
    translations qemu-aarch64-static -L "$sysroot" -cpu "$processor" "$build/fuselage"
    diff -rq "$outputs/native" "$folder" >&2 || failures=$((failures + 1))
  done
  say "$((${#processors[@]} - failures)) of ${#processors[@]} processors gave the bytes of this machine, in" \
    "$(find "$outputs/native" -type f | wc -l) n-best lists"
}

run_tests() {
  build_arm all
  # Tests that start programs by themselves, without an emulator, need one that Linux knows.
  [[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]] || set -- -E DeathTest "$@"
  QEMU_CPU=${FUSELAGE_PROCESSOR:-${processors[-1]}} ctest --test-dir "$build" --output-on-failure "$@" ||
    failures=$((failures + 1))
}

work=${1:-all}
if [[ $work != translate && $work != tests && $work != all ]]; then
  say "usage: $0 [translate | tests [OPTION OF CTEST...]]"
  exit 2
fi
shift $(($# > 0 ? 1 : 0))

mapfile -t cross < <(packages_of cross packages-arm64.txt)
mapfile -t missing < <(missing_packages "${cross[@]}")
[[ ${#missing[@]} -eq 0 ]] || step "Installing ${missing[*]}" apt_install "${missing[@]}"
make_sysroot
failures=0
if [[ $work != tests ]]; then
  build_arm fuselage_program
  compare_translations
fi
[[ $work == translate ]] || run_tests "$@"
exit "$((failures > 0))"
