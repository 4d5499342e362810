#!/usr/bin/env bash
# gpu_check.sh [DIRECTORY]: checks the CUDA back-end on this machine's GPU: the tests, again under
# each tool of compute-sanitizer, then the benchmarks. DIRECTORY holds the programs: a build (build)
# or an unpacked bundle. All output goes to gpu_check.log there too. Without a GPU it exits with 77.
# gpu_check.sh --bundle FILE.tar.gz [BUILD]: packs this script, the programs of a build and the
# libraries that they need, CUDA's excepted, for a machine without the sources.
# FILTER, as of googletest, chooses the tests for compute-sanitizer; SECONDS_EACH limits a step.
set -euo pipefail

filter=${FILTER:-*}
seconds_each=${SECONDS_EACH:-1800}

# programs DIRECTORY: the tests and the benchmarks in a build or a bundle.
programs() {
  find "$1" -path '*/CMakeFiles' -prune -o -type f -perm -u+x \
    \( -name test_cuda -o -path '*/bench/cuda/*_bench' \) -print | sort -r
}

# libraries PROGRAM...: what they load beside CUDA and the system's own runtime.
libraries() {
  local own='linux-vdso|ld-linux|libc\.|libm\.|libdl|librt|libpthread|libcu|libnv'
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | grep -vE "/($own)[^/]*$"
}

bundle() {
  local file=$1 build=$2 list
  mapfile -t list < <(programs "$build")
  [[ ${#list[@]} -gt 0 ]] || { echo "$build has no test_cuda: build it where there is a CUDA toolkit" && exit 1; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/gpu_check/bench/cuda" "$work/gpu_check/lib"
  cp "${BASH_SOURCE[0]}" "$work/gpu_check/"
  local program
  for program in "${list[@]}"; do
    case $program in
      */test_cuda) cp "$program" "$work/gpu_check/" ;;
      *) cp "$program" "$work/gpu_check/bench/cuda/" ;;
    esac
  done
  libraries "${list[@]}" | xargs -I{} cp -L {} "$work/gpu_check/lib/"
  tar -czf "$file" -C "$work" gpu_check
  echo "$file: unpack it on a machine with a GPU and run gpu_check/gpu_check.sh gpu_check"
}

passed=0 failed=0

# step COMMAND...: runs it and counts how it ended.
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
  local directory=$1 program tool
  date --iso-8601=seconds
  uname -a
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv
  nvcc --version 2>/dev/null | tail -n 2 || true
  while IFS= read -r program; do
    step "$program"
    [[ $program == */test_cuda ]] || continue
    if ! command -v compute-sanitizer >/dev/null; then
      printf '\n== compute-sanitizer is not in PATH: left out\n'
      continue
    fi
    for tool in memcheck racecheck initcheck synccheck; do
      step compute-sanitizer --tool "$tool" --error-exitcode 9 "$program" --gtest_brief=1 \
        "--gtest_filter=$filter"
    done
  done < <(programs "$directory")
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}

if [[ ${1-} == --bundle ]]; then
  bundle "${2:?"usage: $0 --bundle FILE.tar.gz [BUILD]"}" "${3:-build}"
  exit
fi

directory=${1:-build}
if ! nvidia-smi --list-gpus 2>/dev/null | grep -q .; then
  echo "There is no NVIDIA GPU here, or no driver for it: nothing was checked."
  exit 77
fi
export LD_LIBRARY_PATH=$directory/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
check_gpu "$directory" | tee "$directory/gpu_check.log"
