#!/usr/bin/env bash
# Installs the build into a prefix, moves the prefix, and builds the project of docs/install.md with what
# is there: by find_package, by pkg-config, and with the library as a subproject.
# Usage: install_test.sh BUILD SOURCES
# With a toolchain in CMAKE_TOOLCHAIN_FILE, for another machine: CC and CXX are its compilers, FUSELAGE_SYSROOT has its
# libraries, and Linux has to know an emulator for its programs.
set -euo pipefail
cc=("${CC:-gcc}") cxx=("${CXX:-c++}")
if [[ -n ${CMAKE_TOOLCHAIN_FILE:-} ]]; then
  cc+=(--sysroot="$FUSELAGE_SYSROOT")
  cxx+=(--sysroot="$FUSELAGE_SYSROOT")
fi
build=$1
sources=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  status=1
}
# run COMMAND...: shows the output of a command that fails.
run() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && fail "$*" && exit 1; }
}

run cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
library=$(find "$prefix" -name 'libfuselage.so')
[[ -e $library ]] || fail "there is no libfuselage.so"

# --- The installed files name neither the build nor the prefix.
for path in "$build" "$sources" "$work"; do
  files=$(grep -rlF -- "$path" "$prefix" || true)
  [[ -z $files ]] || fail "$path is named in $files"
done

# --- The program, from anywhere, with its model, manual pages and completion.
text=$'Tom is my friend.\nWhere is the station?'
expected=$'Tom ist mein Freund.\nWo ist der Bahnhof?'
cd "$work"
[[ $("$prefix/bin/fuselage" translate --quiet <<<"$text") == "$expected" ]] || fail "fuselage translate"
# A loader may find the library by a link, as /lib leads to /usr/lib on Debian.
ln -s "$prefix/lib" "$work/lib"
linked=$work/lib${library#"$prefix/lib"}
[[ $(LD_LIBRARY_PATH=$(dirname "$linked") "$prefix/bin/fuselage" translate --quiet <<<"$text") == "$expected" ]] ||
  fail "fuselage translate with the library by a link"
[[ -s $prefix/share/man/man1/fuselage.1 && -s $prefix/share/man/man1/fuselage-translate.1 ]] ||
  fail "manual pages"
for file in README.md CHANGELOG.md LICENSE docs/install.md docs/images/step.svg; do
  cmp -s "$sources/$file" "$prefix/share/doc/fuselage/$file" || fail "documentation: $file"
done
bash -n "$prefix/share/bash-completion/completions/fuselage" || fail "completion of bash"
[[ -s $prefix/share/zsh/site-functions/_fuselage ]] || fail "completion of zsh"

# --- Exported symbols: those of namespace fuselage and of the C interface.
others=$(nm -DC --defined-only "$library" | cut -d' ' -f3- |
  grep -vE '^(fuselage::|fuselage_|(typeinfo|typeinfo name|vtable) for fuselage::)' || true)
[[ -z $others ]] || fail "exported symbols: $others"
readelf -d "$library" | grep -qE 'SONAME.*libfuselage\.so\.[0-9]+\.[0-9]+\]' || fail "the SONAME"
# The CUDA module finds all of its symbols in the library.
module=$(find "$prefix" -name 'libfuselage_cuda.so')
if [[ -n $module ]]; then
  missing=$(comm -23 \
    <(nm -D --undefined-only "$module" | awk '$1 == "U" && /fuselage/ {print $2}' | sort -u) \
    <(nm -D --defined-only "$library" | awk '{print $3}' | sort -u) | c++filt)
  [[ -z $missing ]] || fail "symbols of the CUDA module: $missing"
  [[ $(dirname "$module") == "$(dirname "$library")" ]] || fail "the CUDA module is not beside the library"
fi

# --- Loaded by Python, whose symbols are its own: the library lies in a local scope, and the CUDA module
# still binds to it. Without a GPU a later step fails.
if [[ -n $module ]] && command -v python3 >/dev/null; then
  python3 - "$library" >log 2>&1 <<'PYTHON' || fail "Python: $(<log)"
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("beam_size", ctypes.c_int32), ("normalize", ctypes.c_float),
                ("max_length_factor", ctypes.c_float), ("max_length", ctypes.c_int32),
                ("alignment", ctypes.c_int32), ("strict", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("device", ctypes.c_char_p), ("precision", ctypes.c_char_p), ("log", ctypes.c_void_p),
                ("log_data", ctypes.c_void_p)]
options = Options(ctypes.sizeof(Options), -1, -1, -1, -1, 0, 0, 1, b"cuda", None, None, None)
library.fuselage_bundled_model.restype = ctypes.c_char_p
library.fuselage_last_error.restype = ctypes.c_char_p
library.fuselage_translator_open.restype = ctypes.c_void_p
model = library.fuselage_bundled_model()
assert model is not None, library.fuselage_last_error()
if library.fuselage_translator_open(model, ctypes.byref(options)) is None:
    message = library.fuselage_last_error().decode()
    print(message)
    assert "undefined symbol" not in message and "there is no CUDA back-end" not in message
PYTHON
fi

# --- A project that only uses find_package.
examples=$prefix/share/doc/fuselage/docs/examples
cp -r "$examples/project" "$examples/tiny_translator.cpp" .
# Toolchains look for packages in their own folders alone.
[[ -z ${CMAKE_TOOLCHAIN_FILE:-} ]] || place=(-DFuselage_DIR="$(dirname "$(find "$prefix" -name FuselageConfig.cmake)")")
run cmake -S project -B found "${place[@]:--DCMAKE_PREFIX_PATH=$prefix}" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" -DCMAKE_CXX_EXTENSIONS=OFF
run cmake --build found
[[ $(found/translate <<<"$text") == "$expected" ]] || fail "the C program"
run found/my_model project/vocab.yml
# The page shows the output.
[[ $(<"$sources/docs/install.md") == *"$(<log)"* ]] ||
  fail "the output of the project: $(<log)"
# The model of docs/define-a-model.md, with weights from Python.
for file in tiny.cpp tiny_weights.py; do
  [[ $(<"$sources/docs/define-a-model.md") == *"$(<project/$file)"* ]] || fail "the page does not show $file"
done
words=$(grep -c : project/vocab.yml)
if python3 -c 'import safetensors.numpy' 2>/dev/null; then
  python3 project/tiny_weights.py "$words" 8 weights.safetensors
  [[ $(found/tiny project/vocab.yml weights.safetensors <<<"a" | wc -l) == 1 ]] || fail "the tiny translator"
else
  echo "no package safetensors: the tiny translator is built, but not run"
fi
if found/tiny 2>log || ! grep -q "usage: tiny" log; then fail "usage of tiny"; fi
cat >squash.ir <<'IR'
fuselage.graph 1
graph "squash"
%x = param() {name = "x", dims = [4]}
%y = my_squash(%x) {scale = 2}
return y = %y
IR
run "$prefix/bin/fuselage" dump squash.ir --extension found/libmy_op.so
grep -q 'my_squash(.*) {scale = 2' log || fail "the extension: $(<log)"
# An extension whose kernel uses the vector functions of rows.
cat >my_kernel.cpp <<'CPP'
#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"

using namespace fuselage;

static void run_tanh(const PlannedInstruction& in, const cpu::Run& run) {
  cpu::simd_functions(run).unary(cpu::Unary::tanh, cpu::rows_in(in, run, 0), cpu::rows_of(in, run),
                                 cpu::cols_of(in), cpu::rows_out(in, run));
}

extern "C" FUSELAGE_API void fuselage_extension() {
  cpu::register_kernels({{{.op = "tanh", .name = "my_tanh", .reads = {Reads::view}},
                          cpu::make_kernel<cpu::PlainKernel<run_tanh>>}});
}
CPP
run "${cxx[@]}" -std=c++20 -shared -fPIC -I"$prefix/include" my_kernel.cpp -o libmy_kernel.so
run "$prefix/bin/fuselage" ops tanh --extension ./libmy_kernel.so
grep -q my_tanh log || fail "a kernel of an extension: $(<log)"

# --- pkg-config.
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=${library%/*}/pkgconfig
  read -ra flags < <(pkg-config --cflags --libs fuselage)
  run "${cc[@]}" project/translate.c "${flags[@]}" -Wl,-rpath,"${library%/*}" -o by_pkg_config
  [[ $(./by_pkg_config <<<"$text") == "$expected" ]] || fail "the C program by pkg-config"
  run "${cxx[@]}" -std=c++20 project/tiny.cpp tiny_translator.cpp "${flags[@]}" -Wl,-rpath,"${library%/*}" -o tiny
fi

# --- As a subproject: warnings are no errors, and tests, benchmarks and installation are off. (Building it
# takes as long as the library itself.)
cat >project/CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(outer LANGUAGES C CXX)
add_subdirectory($sources fuselage EXCLUDE_FROM_ALL)
add_executable(translate translate.c)
target_link_libraries(translate PRIVATE Fuselage::fuselage)
CMAKE
run cmake -S project -B sub -DFUSELAGE_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug
run cmake --build sub --target fuselage_base
if grep -rq --include=flags.make --include=build.ninja -e -Werror sub; then fail "warnings are errors"; fi
if [[ -e sub/fuselage/tests || -e sub/fuselage/bench ]]; then fail "tests or benchmarks are on"; fi

exit "$status"
