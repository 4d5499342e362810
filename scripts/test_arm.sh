#!/usr/bin/env bash
# test_arm.sh [translate | wheel | tests [OPTION OF CTEST...]]: builds Fuselage for ARM64 on a Debian 12 of x86-64, in
# build-arm, and runs it in an emulator. "translate": n-best lists with all scores in products of integers, whose
# bytes must be what the program for this machine writes, on ARM64 processors with several instruction sets.
# "wheel": a wheel by make_wheel.sh, installed with numpy for ARM64's Python of Debian 12: the text of its translations
# must be what the program for this machine writes. "tests": the test programs, on the strongest of these processors or on FUSELAGE_PROCESSOR, such as cortex-a72;
# hours for all of them, so take some: test_arm.sh tests -R Gemm. Without an argument: all three.
#
# Libraries for ARM64 are unpacked into the folder FUSELAGE_SYSROOT (~/.cache/fuselage/aarch64), from the archive
# FUSELAGE_MIRROR (deb.debian.org); of this machine's own packages the cross compiler and the emulator are
# installed. FUSELAGE_PROGRAM names a program for this machine; without it, one is built in build. FUSELAGE_WHEEL names
# a wheel for ARM64; without it, one is made.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
source scripts/arm.sh

# Instruction sets by processors of the emulator: NEON alone; dot products of bytes; products of matrices of bytes,
# with SVE at three widths, which must not matter.
processors=(cortex-a72 neoverse-n1 max,sve128=on,sve256=off,sve512=off,sve-max-vq=1
  max,sve-max-vq=2 max,sve-max-vq=4)

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

# The program for this machine.
make_program() {
  program=${FUSELAGE_PROGRAM:-build/fuselage}
  [[ -z ${FUSELAGE_PROGRAM:-} ]] || return 0
  install_packages build
  build_preset release fuselage_program
}

compare_translations() {
  local processor outputs=$work/translations
  mkdir "$outputs"
  export folder=$outputs/native
  mkdir "$folder"
  say "Translating on this machine"
  translations "$program"
  for processor in "${processors[@]}"; do
    folder=$outputs/$processor
    mkdir "$folder"
    say "Translating on $processor"
    translations qemu-aarch64-static -L "$sysroot" -cpu "$processor" "$arm_build/fuselage"
    diff -rq "$outputs/native" "$folder" >&2 || failures=$((failures + 1))
  done
  say "$((${#processors[@]} - failures)) of ${#processors[@]} processors gave the bytes of this machine, in" \
    "$(find "$outputs/native" -type f | wc -l) n-best lists"
}

# register_emulator: makes Linux start programs for ARM64 in the emulator, for tests that start programs by themselves;
# fails without the right to do so. Bytes of the header of an ELF file tell them (elf(5)); the flag F opens the
# emulator now, so that programs in another root find it too.
register_emulator() {
  local folder=/proc/sys/fs/binfmt_misc emulator ff='\xff' zeros='\x00\x00\x00\x00\x00\x00\x00\x00' header mask
  emulator=$(command -v qemu-aarch64-static)
  header="\x7fELF\x02\x01\x01\x00$zeros\x02\x00\xb7\x00"
  mask="$ff$ff$ff$ff$ff$ff$ff\x00$ff$ff$ff$ff$ff$ff$ff$ff\xfe$ff$ff$ff"
  [[ -e $folder/qemu-aarch64 ]] && return
  [[ -e $folder/register ]] || mount -t binfmt_misc none "$folder" 2>/dev/null || return
  echo ":qemu-aarch64:M::$header:$mask:$emulator:F" 2>/dev/null >"$folder/register"
}

run_tests() {
  build_arm all
  register_emulator || {
    say "Linux starts no programs for ARM64 (binfmt_misc): tests that start programs by themselves are left out"
    set -- -E 'DeathTest|^install$' "$@"
  }
  export FUSELAGE_TEST_SLOWNESS=20
  export QEMU_LD_PREFIX=$sysroot QEMU_CPU=${FUSELAGE_PROCESSOR:-${processors[-1]}}
  ctest --test-dir "$arm_build" --output-on-failure "$@" || failures=$((failures + 1))
}

# The wheel in Python for ARM64 of Debian 12.
test_wheel() {
  local wheel=${FUSELAGE_WHEEL:-} lines=tests/data/directory-2026-11/input.en
  if [[ -z $wheel ]]; then
    step "Making the wheel" scripts/make_wheel.sh "$work/wheel" aarch64
    wheel=$(echo "$work"/wheel/*.whl)
  fi
  step "Making a virtual environment" /usr/bin/python3 -m venv "$work/environment"
  step "Installing the wheel with numpy" "$work/environment/bin/pip" install --target "$work/site" \
    --only-binary=:all: --implementation cp --python-version "$(/usr/bin/python3 -c \
      'import sys; print("%d.%d" % sys.version_info[:2])')" \
    --platform manylinux_2_36_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 "$wheel"
  arm_python "$work/python3"
  say "Translating on this machine, then with the wheel"
  "$program" translate --quiet -m models/en-de -i "$lines" >"$work/native.de"
  PYTHONPATH=$work/site "$work/python3" - "$lines" >"$work/wheel.de" <<'END' || failures=$((failures + 1))
import sys

import fuselage

with open(sys.argv[1], encoding="utf-8") as lines:
    for text in fuselage.Translator().translate([line.rstrip("\n") for line in lines]):
        print(text)
END
  if cmp "$work/native.de" "$work/wheel.de" >&2; then
    say "the wheel gave the bytes of this machine, in $(wc -l <"$work/native.de") lines"
  else
    failures=$((failures + 1))
  fi
}

what=${1:-all}
if [[ $what != translate && $what != wheel && $what != tests && $what != all ]]; then
  say "usage: $0 [translate | wheel | tests [OPTION OF CTEST...]]"
  exit 2
fi
shift $(($# > 0 ? 1 : 0))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prepare_arm
failures=0
[[ $what == tests ]] || make_program
if [[ $what == translate || $what == all ]]; then
  build_arm fuselage_program
  compare_translations
fi
[[ $what != wheel && $what != all ]] || test_wheel
[[ $what != tests && $what != all ]] || run_tests "$@"
exit "$((failures > 0))"
