#!/usr/bin/env bash
# gpu_check.sh [BUILD [STEP...]]: checks the CUDA back-end on this machine's GPU with the programs of
# a build (build). The steps, all of them by default: tests; agreement, of translations with the
# CPU's (gpu_agreement.sh); memcheck, racecheck, initcheck and synccheck, the tests again under each
# tool of compute-sanitizer; benchmarks; peers, of bench/peers/compare.py with those of CTranslate2
# and transformers that python3 has. All output is also written to BUILD/gpu_check.log. Without a GPU
# it exits with 77.
# gpu_check.sh --bundle FILE.tar.gz [BUILD]: packs all files for this check, with cuDNN's libraries
# if installed but without CUDA's, for a machine without the sources: unpack it there and run
# gpu_check/scripts/gpu_check.sh.
# Environment: FILTER is a googletest filter of the tests for compute-sanitizer, by default all for
# memcheck, and for its other tools, which are slower, all but those of whole models; SHARDS is the
# number of parts in which they run, each with its own time, so that one that takes too long costs no
# other (8); SHARD runs part number SHARD, from 0, alone; SECONDS_EACH limits each program's time
# (1800, of a part 600); TEXT is a file of English sentences that the bundled model translates, and
# that a bundle contains; CUDNN=no leaves cuDNN, which is large, out of a bundle: the check then uses
# that of the other machine, also that of python3's torch.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all_steps=(tests agreement memcheck racecheck initcheck synccheck benchmarks peers)

# These tests provoke errors of CUDA, which compute-sanitizer reports.
refusals=LaunchTest.ReportsWhatCannotBeLaunched:GraphCacheTest.AStreamSurvivesWhatFailsInACapture
# These translate with whole models: minutes under tools that watch each access. memcheck runs them.
models='*CudaModels.*:Cuda*.*:*SearchPlaces*:SearchTest.*'
shards=${SHARDS:-8}

# programs BUILD NAME...: lists the programs whose paths in the build match one of the patterns.
programs() {
  local pattern
  for pattern in "${@:2}"; do
    find "$1" -path '*/CMakeFiles' -prune -o -type f -perm -u+x -path "$1/$pattern" -print | sort
  done
}
tests=tests/cuda/test_cuda
benchmarks='bench/cuda/*_bench'

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
  mapfile -t files < <(programs "$build" "$tests" "$benchmarks")
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
  cp -r --parents scripts/gpu_*.sh scripts/help.sh tests/data models/en-de bench/peers \
    "$work/gpu_check/"
  [[ -z ${TEXT-} ]] || cp "$TEXT" "$work/gpu_check/text"
  { libraries "${files[@]}" && { [[ ${CUDNN-} == no ]] || cudnn_libraries; }; } |
    xargs -I{} cp -L {} "$work/gpu_check/lib/"
  tar -czf "$file" -C "$work" gpu_check
  echo "$file: unpack it on a machine with a GPU and run gpu_check/scripts/gpu_check.sh $build"
}

passed=0 failed=0

# check COMMAND...: runs the command within SECONDS_EACH or 1800 seconds, and counts its result.
check() {
  check_within "${SECONDS_EACH:-1800}" "$@"
}

# check_within SECONDS COMMAND...
check_within() {
  local status=0 seconds=$1
  shift
  printf '\n== %s\n' "$*"
  timeout "$seconds" "$@" </dev/null 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '== FAILED with %d%s\n' "$status" "$([[ $status -eq 124 ]] && echo ': out of time')"
  fi
}

# sanitize TOOL PROGRAM: runs the tests under a tool of compute-sanitizer, in parts.
sanitize() {
  local tool=$1 program=$2 filter first=0 last=$((shards - 1)) shard
  if ! command -v compute-sanitizer >/dev/null; then
    printf '\n== compute-sanitizer is not in PATH: %s is left out\n' "$tool"
    return
  fi
  filter=${FILTER:-*-$refusals}
  [[ -n ${FILTER-} || $tool == memcheck ]] || filter+=:$models
  [[ -z ${SHARD-} ]] || first=$SHARD last=$SHARD
  for ((shard = first; shard <= last; ++shard)); do
    check_within "${SECONDS_EACH:-600}" env GTEST_TOTAL_SHARDS="$shards" GTEST_SHARD_INDEX="$shard" \
      compute-sanitizer --tool "$tool" --error-exitcode 9 "$program" --gtest_brief=1 \
      "--gtest_filter=$filter"
  done
}

# compare_with_peers BUILD: a transformer with random weights by both, alone, in batches of 64, and
# in large ones.
compare_with_peers() {
  local peer size batch beam sentences model=$1/peers
  for peer in ctranslate2 transformers; do
    if ! python3 -c "import $peer" 2>/dev/null; then
      printf '\n== python3 has no %s: left out\n' "$peer"
      continue
    fi
    [[ -e $model/model.npz ]] || check python3 bench/peers/make_transformer.py "$model"
    for size in "1 1 16" "64 1 256" "64 4 256" "512 1 2048"; do
      read -r batch beam sentences <<<"$size"
      check python3 bench/peers/compare.py "$1/fuselage" "$peer" "$model/model.npz" \
        "$model/vocab.yml" --device cuda --precision bf16 --peer-precision fp16 \
        --mini-batch "$batch" --beam-size "$beam" --sentences "$sentences"
    done
  done
}

# run_step BUILD STEP
run_step() {
  local program
  case $2 in
    # Tests skip where CUDA finds no GPU, which passes elsewhere.
    tests)
      # shellcheck disable=SC2016 # for the inner shell
      check bash -o pipefail -c '"$0" --gtest_brief=1 |
        awk "{print} /there is no GPU/ {none = 1} END {exit none}"' "$1/$tests"
      ;;
    agreement) check scripts/gpu_agreement.sh "$1" ;;
    benchmarks)
      while IFS= read -r program; do check "$program"; done < <(programs "$1" "$benchmarks")
      ;;
    peers) compare_with_peers "$1" ;;
    *) sanitize "$2" "$1/$tests" ;;
  esac
}

check_gpu() {
  local build=$1 step
  shift
  date --iso-8601=seconds
  uname -a
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv
  nvcc --version 2>/dev/null | tail -n 2 || true
  for step in "$@"; do run_step "$build" "$step"; done
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}

number='^(0|[1-9][0-9]*)$'
if [[ ! $shards =~ $number || ! ${SHARD:-0} =~ $number ]] || ((${SHARD:-0} >= shards)); then
  echo "SHARDS=$shards SHARD=${SHARD-}: SHARDS must be a number from 1, and SHARD one below it"
  exit 2
fi
if [[ ${1-} == --bundle ]]; then
  bundle "${2:?"usage: $0 --bundle FILE.tar.gz [BUILD]"}" "${3:-build}"
  exit
fi

build=${1:-build}
steps=("${@:2}")
[[ ${#steps[@]} -gt 0 ]] || steps=("${all_steps[@]}")
for step in "${steps[@]}"; do
  if [[ " ${all_steps[*]} " != *" $step "* ]]; then
    echo "$step is no step; the steps are: ${all_steps[*]}"
    exit 2
  fi
done
if ! nvidia-smi --list-gpus 2>/dev/null | grep -q .; then
  echo "There is no NVIDIA GPU here, or no driver for it: nothing was checked."
  exit 77
fi
export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if cudnn=$(python3 -c 'import nvidia.cudnn; print(nvidia.cudnn.__path__[0])' 2>/dev/null); then
  LD_LIBRARY_PATH+=:$cudnn/lib
fi
[[ -n ${TEXT-} || ! -e text ]] || export TEXT=text
export FUSELAGE_CUDA_MODULE=$PWD/$build/libfuselage_cuda.so
check_gpu "$build" "${steps[@]}" | tee "$build/gpu_check.log"
