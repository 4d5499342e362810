#!/usr/bin/env bash
# gpu_check.sh [BUILD]: checks the CUDA back-end on this machine's GPU with the programs of a build
# (build): the tests, translations against the CPU's (gpu_agreement.sh), the tests again under each
# tool of compute-sanitizer, then the benchmarks. All output is also written to BUILD/gpu_check.log.
# Without a GPU it exits with 77.
# gpu_check.sh --bundle FILE.tar.gz [BUILD]: packs all files for this check, with cuDNN's libraries
# if installed but without CUDA's, for a machine without the sources: unpack it there and run
# gpu_check/scripts/gpu_check.sh.
# Environment: FILTER is a googletest filter of the tests for compute-sanitizer; SECONDS_EACH limits
# a step; TEXT is a file of English sentences that the bundled model translates, and that a bundle
# contains.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# These tests provoke errors of CUDA, which compute-sanitizer reports.
refusals=LaunchTest.ReportsWhatCannotBeLaunched:GraphCacheTest.AStreamSurvivesWhatFailsInACapture
filter=${FILTER:-*-$refusals}
seconds_each=${SECONDS_EACH:-1800}

# programs BUILD: lists the tests and the benchmarks.
programs() {
  find "$1" -path '*/CMakeFiles' -prune -o -type f -perm -u+x \
    \( -name test_cuda -o -path '*/bench/cuda/*_bench' \) -print | sort -r
}

# libraries PROGRAM...: lists their libraries, except CUDA, the system's runtime and Fuselage itself,
# which lies beside the program.
libraries() {
  local own='linux-vdso|ld-linux|libc\.|libm\.|libdl|librt|libpthread|libcu|libnv|libfuselage'
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | grep -vE "/($own)[^/]*$"
}

# cudnn_libraries: lists the installed libraries of cuDNN for recurrent layers and softmax. Programs
# load them at run time, so they are not among the linked libraries.
cudnn_libraries() {
  /sbin/ldconfig -p | awk '$1 ~ /^libcudnn(_graph|_ops|_adv)?\.so\.9$/ && !seen[$1]++ {print $NF}'
}

bundle() {
  local file=$1 build=$2 files
  mapfile -t files < <(programs "$build")
  if [[ ${#files[@]} -eq 0 ]]; then
    echo "$build has no test_cuda: build everything, and the target benchmarks, where there is a CUDA toolkit"
    exit 1
  fi
  files+=("$build/libfuselage_cuda.so" "$build/fuselage")
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/gpu_check/lib"
  cp -L --parents "${files[@]}" "$work/gpu_check/"
  cp -P --parents "$build"/libfuselage.so.* "$work/gpu_check/"
  cp -r --parents scripts/gpu_*.sh scripts/help.sh tests/data models "$work/gpu_check/"
  [[ -z ${TEXT-} ]] || cp "$TEXT" "$work/gpu_check/text"
  { libraries "${files[@]}" && cudnn_libraries; } | xargs -I{} cp -L {} "$work/gpu_check/lib/"
  tar -czf "$file" -C "$work" gpu_check
  echo "$file: unpack it on a machine with a GPU and run gpu_check/scripts/gpu_check.sh $build"
}

passed=0 failed=0

# step COMMAND...: runs the command and counts its result.
step() {
  local status=0
  printf '\n== %s\n' "$*"
  timeout "$seconds_each" "$@" </dev/null 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '== FAILED with %d%s\n' "$status" "$([[ $status -eq 124 ]] && echo ': out of time')"
  fi
}

check_gpu() {
  local build=$1 program tool
  date --iso-8601=seconds
  uname -a
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv
  nvcc --version 2>/dev/null | tail -n 2 || true
  while IFS= read -r program; do
    step "$program"
    [[ $program == */test_cuda ]] || continue
    step scripts/gpu_agreement.sh "$build"
    if ! command -v compute-sanitizer >/dev/null; then
      printf '\n== compute-sanitizer is not in PATH: left out\n'
      continue
    fi
    for tool in memcheck racecheck initcheck synccheck; do
      step compute-sanitizer --tool "$tool" --error-exitcode 9 "$program" --gtest_brief=1 \
        "--gtest_filter=$filter"
    done
  done < <(programs "$build")
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}

if [[ ${1-} == --bundle ]]; then
  bundle "${2:?"usage: $0 --bundle FILE.tar.gz [BUILD]"}" "${3:-build}"
  exit
fi

build=${1:-build}
if ! nvidia-smi --list-gpus 2>/dev/null | grep -q .; then
  echo "There is no NVIDIA GPU here, or no driver for it: nothing was checked."
  exit 77
fi
export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[[ -n ${TEXT-} || ! -e text ]] || export TEXT=text
export FUSELAGE_CUDA_MODULE=$PWD/$build/libfuselage_cuda.so
check_gpu "$build" | tee "$build/gpu_check.log"
