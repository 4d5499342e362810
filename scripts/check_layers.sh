#!/usr/bin/env bash
# Fails when a file includes a layer that is not before its own, a room includes a room that is not
# before it, a public header includes a private one or a library, a header includes a library for .cpp
# files only, or a message of a library names an option of the command.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The layers that each layer may include besides itself.
declare -A before=(
  [base]=""
  [graph]="base"
  [ops]="base graph"
  [passes]="base graph ops"
  [backends]="base graph ops passes"
  [inspect]="base graph ops passes backends"
  [models]="base graph ops"
  [text]="base"
  [decoding]="base graph ops passes backends models text"
  [corpus]="base graph ops passes backends models text decoding"
  [capi]="base graph ops passes backends models text decoding"
  [server]="base graph ops passes backends models text decoding"
  [tools]="base graph ops passes backends inspect models text decoding corpus server"
)
# Rooms of a layer; a room includes only rooms before it. Files outside the rooms are not checked.
declare -A rooms=(
  [base]="files|numbers machine"
  [ops]="precision structure arithmetic search fused"
  [passes]="rewrite cleanup|motion|fusion|precision|lowering"
  [backends/cpu]="simd weights runtime kernels"
  [backends/cpu/simd]="elementwise gemm rows output arm"
  [backends/cuda/device]="runtime rows kernel normalization attention gather elementwise gemm output recurrent search executor"
  [decoding]="search lines pages"
  [models]="formats architectures quantized directory marian|huggingface|ctranslate2"
  [text]="words|sentencepiece|bpe|shortlist|terms|pages tokenizers placeholders"
  [corpus]="input|records|output job"
  [server]="http limits|requests|models text operation routes"
  [tools]="options commands"
  [tools/commands]="graphs|models|help translation"
)
# Headers and libraries for .cpp and .cu files only: no other header includes them.
internal='(base/files/yaml\.h|ops/eigen_view\.h|graph/boost_view\.h|[^"]*-inl\.h|backends/cuda/device/[^"]*\.h)'
libraries='(Eigen|unsupported/Eigen|boost|hwy|yaml-cpp|cuda|cublas|cudnn|nvrtc|cld2)'

# folders PATH: where the files of this layer or room are.
folders() {
  echo "$1"
  [[ ! -d include/fuselage/$1 ]] || echo "include/fuselage/$1"
}

status=0
# complain REASON: reads "FILE:LINE:TEXT" lines and prints them with the reason.
complain() {
  local hit
  while IFS= read -r hit; do
    printf '%s (%s)\n' "$hit" "$1"
    status=1
  done
}

# Users of the library have neither the private headers nor the libraries that it is built with.
complain "a public header includes public headers and the standard library only" < <(
  grep -rnE '^ *# *include +("|<[^>]*[/.])' include | grep -vE 'include +("fuselage/|<std(def|int)\.h>)'
)
complain "a public header opens its namespace with FUSELAGE_API" < <(
  grep -rnE "^namespace fuselage" include
)

# In "a|b" the rooms a and b do not include each other.
for layer in "${!rooms[@]}"; do
  earlier=""
  for group in ${rooms[$layer]}; do
    for room in ${group//|/ }; do
      [[ -d $layer/$room ]] || { echo "there is no room $layer/$room" && status=1; }
      complain "$layer/$room may include only rooms before it" < <(
        grep -rnE "include \"(fuselage/)?$layer/[^\"/]+/" --include='*.h' --include='*.cpp' \
          --include='*.cu' $(folders "$layer/$room") |
          grep -vE "include \"(fuselage/)?$layer/($room$earlier)/"
      )
    done
    earlier+="|$group"
  done
done

for layer in "${!before[@]}"; do
  [[ -d $layer ]] || continue
  allowed=${before[$layer]// /|}
  complain "$layer may include only itself${before[$layer]:+, ${before[$layer]// /, }}" < <(
    grep -rnE '^ *# *include +"' --include='*.h' --include='*.cpp' --include='*.cu' \
      $(folders "$layer") | grep -vE "include +\"((fuselage/)?($layer${allowed:+|$allowed})|hwy)/|fuselage/fuselage\.h"
  )
  complain "no header includes Eigen, Boost, Highway, yaml-cpp or CUDA, nor the headers that show them" < <(
    grep -rnE "^ *# *include +[<\"]($libraries|$internal)" --include='*.h' "$layer" |
      grep -vE "^$internal:"
  )
  # Options belong to the command; callers of a library set members.
  [[ $layer == tools ]] || complain "no message of a library names an option of the command" < <(
    grep -rnP '^(?:[^"]*"[^"]*")*[^"]*"[^"]*--[a-z]' --include='*.h' --include='*.cpp' \
      --include='*.cu' "$layer" | grep -v 'runtime_compiler\.cpp:'
  )
done
exit "$status"
