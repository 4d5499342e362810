#!/usr/bin/env bash
# Installs the Python package with pip in a virtual environment of its own, and runs its tests. Uses
# the objects of the release build. The last line is "N passed, N failed, N skipped".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

install_packages build python
build_preset release fuselage_program

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
step "Making a virtual environment" python3 -m venv "$environment"
# In the release build's directory, whose objects are up to date.
step "Installing the package" "$environment/bin/pip" install --config-settings=build-dir=build \
  --config-settings=cmake.args=-GNinja '.[test]'
step "Configuring (release)" cmake --preset release

results=$environment/results.xml
status=0
"$environment/bin/python" -m pytest --junit-xml="$results" "$@" </dev/null || status=$?
"$environment/bin/python" - "$results" <<'END'
import sys
from xml.etree import ElementTree

suite = ElementTree.parse(sys.argv[1]).getroot()[0]
failed = int(suite.get("failures")) + int(suite.get("errors"))
skipped = int(suite.get("skipped"))
passed = int(suite.get("tests")) - failed - skipped
print(f"{passed} passed, {failed} failed, {skipped} skipped")
END
exit "$status"
