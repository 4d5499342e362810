#!/usr/bin/env bash
# The conda recipe has the version of the project, and names each package of packages.txt that a build needs, and no
# other, in a comment behind its own.
# Usage: conda_recipe_test.sh SOURCES
set -euo pipefail

sources=$1
recipe=$sources/deploy/conda/recipe.yaml

version=$(sed -n 's/^project(fuselage VERSION \([0-9.]*\).*/\1/p' "$sources/CMakeLists.txt")
if [[ -z $version ]] || ! grep -qx "  version: \"$version\"" "$recipe"; then
  echo "deploy/conda/recipe.yaml does not have the version $version"
  exit 1
fi

# A recipe builds no tests.
needed=$(awk '$1 == "#" && $2 ~ /^\[/ {here = $2 == "[build]" || $2 == "[python]"} here && /^[^#]/ {print $1}' \
  "$sources/packages.txt" | grep -vE '^lib(gtest|gmock)-dev$' | sort)
[[ -n $needed ]]
named=$(sed -n 's/^ *- .*[^ ]  *# \([^ ]*\)$/\1/p' "$recipe" | sort)
diff <(echo "$needed") <(echo "$named") ||
  { echo "packages.txt (<) and the comments of deploy/conda/recipe.yaml (>) differ" && exit 1; }
