#!/usr/bin/env bash
# make_help.sh DIRECTORY COMMAND...: writes the manual pages and the completion of bash and zsh of this program
# (a command: an emulator may be before it) into the directory, with the layout of /usr/share.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
directory=$1
fuselage=("${@:2}")

mkdir -p "$directory"/{man1,bash-completion/completions,zsh/site-functions}
"${fuselage[@]}" completion bash >"$directory/bash-completion/completions/fuselage"
"${fuselage[@]}" completion zsh >"$directory/zsh/site-functions/_fuselage"
for command in $("${fuselage[@]}" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
  "${fuselage[@]}" manual "$command" >"$directory/man1/fuselage-$command.1"
done
"${fuselage[@]}" manual >"$directory/man1/fuselage.1"
