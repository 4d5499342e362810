#!/usr/bin/env bash
# test_python.sh [EXTRAS [TESTS]]: installs the Python package with pip in a virtual environment of
# its own, with these extras (test), and runs these tests (all but python/tests/distributed). Uses the
# objects of the release build. The last line is "N passed, N failed, N skipped".
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
  --config-settings=cmake.args=-GNinja ".[${1:-test}]"
# A published model, for its weights alone: not its dependencies.
[[ $# -ge 2 ]] || step "Fetching a model" "$environment/bin/pip" install --no-deps g2p-en==2.1.0
step "Configuring (release)" cmake --preset release

results=$environment/results.xml
status=0
"$environment/bin/python" -m pytest --junit-xml="$results" ${2+"$2"} </dev/null || status=$?
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
