# shellcheck shell=bash
# Common functions of the scripts that build for ARM64 on a Debian 12 of x86-64, in build-arm; sourced after setup.sh.
# Libraries for ARM64 are unpacked into the folder FUSELAGE_SYSROOT (~/.cache/fuselage/aarch64), from the archive
# FUSELAGE_MIRROR (deb.debian.org); of this machine's own packages the cross compiler and the emulator are installed.

arm_build=build-arm
sysroot=${FUSELAGE_SYSROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/fuselage/aarch64}
export FUSELAGE_SYSROOT=$sysroot

# Options of CMake.
arm_options=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DCMAKE_SYSROOT="$sysroot" -DFUSELAGE_CUDA=OFF)

# unpack_sysroot PACKAGE...: these packages for ARM64 and what they depend on, in a fresh folder, whose "lists" has
# the files of each.
unpack_sysroot() {
  local apt=$sysroot.new/apt package name
  rm -rf "$sysroot.new"
  private_apt "$apt" deb arm64
  apt-get install --download-only --yes "$@"
  mkdir "$sysroot.new/lists"
  for package in "$apt"/archives/*.deb; do
    name=${package##*/}
    dpkg-deb --vextract "$package" "$sysroot.new" >"$sysroot.new/lists/${name%%_*}"
  done
  rm -rf "$apt"
  printf '%s\n' "$@" >"$sysroot.new/packages"
  rm -rf "$sysroot"
  mv "$sysroot.new" "$sysroot"
}

make_sysroot() {
  local names
  mapfile -t names < <(packages_of sysroot packages-arm64.txt && packages_of build | grep -- '-dev$')
  [[ -d $sysroot/lists ]] && cmp -s "$sysroot/packages" <(printf '%s\n' "${names[@]}") && return
  mkdir -p "$(dirname "$sysroot")"
  step "Unpacking libraries for ARM64 into $sysroot" unpack_sysroot "${names[@]}"
}

# Installs the cross compiler and the emulator, and makes the folder of libraries.
prepare_arm() {
  local cross missing
  mapfile -t cross < <(packages_of cross packages-arm64.txt)
  mapfile -t missing < <(missing_packages "${cross[@]}")
  [[ ${#missing[@]} -eq 0 ]] || step "Installing ${missing[*]}" apt_install "${missing[@]}"
  make_sysroot
}

# build_arm TARGET...
build_arm() {
  step "Configuring (ARM64)" cmake -S . -B "$arm_build" -G Ninja "${arm_options[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DFUSELAGE_BUILD_BENCHMARKS=OFF -DFUSELAGE_BUILD_TESTS=ON -DFUSELAGE_BUILD_PYTHON=OFF
  step "Building (ARM64)" cmake --build "$arm_build" --target "$@"
}

# arm_python FILE: writes a program that runs Python for ARM64 in the emulator.
arm_python() {
  printf '#!/bin/sh\nexec qemu-aarch64-static -L %q %q "$@"\n' "$sysroot" "$sysroot/usr/bin/python3" >"$1"
  chmod +x "$1"
}

# arm_licence LIBRARY: prints the path of the licence of the package with this library.
arm_licence() {
  local list
  list=$(grep --recursive --line-regexp --fixed-strings --files-with-matches -e ".${1#"$sysroot"}" "$sysroot/lists")
  echo "$sysroot/usr/share/doc/${list##*/}/copyright"
}
