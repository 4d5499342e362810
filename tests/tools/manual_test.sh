#!/usr/bin/env bash
# Manual pages and shell completion, which must have every option that help has.
# Usage: manual_test.sh FUSELAGE DATA MODULE SOURCES MAKE_LANGUAGE_MODEL

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
sources=$4

commands=$("$fuselage" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[[ $(wc -w <<<"$commands") -ge 8 ]] || fail "the commands in help: $commands"

# The options of a command in help: "-b --beam-size …".
options_of() {
  COLUMNS=100 "$fuselage" "$1" --help | sed -nE 's/^  (-.*)/\1/p' | sed -E 's/   .*//' |
    grep -oE -- '(^|[ ,])-{1,2}[a-zA-Z][a-z0-9-]*' | tr -d ' ,'
}

# --- Help fits the terminal.
for width in 40 60 80 100; do
  for command in $commands; do
    # A synopsis of an option may be longer than a line, and examples are one line each.
    long=$(COLUMNS=$width "$fuselage" "$command" --help | sed '/^Examples:/,$d' |
      grep -vE '^  -|^Usage' | awk -v width=$width 'length > width' | head -1)
    [[ -z $long ]] || fail "help of $command at $width columns: $long"
  done
done
[[ $("$fuselage" help score) == "$("$fuselage" score --help)" ]] || fail "help COMMAND"

# --- Manual pages.
"$fuselage" manual >fuselage.1 || fail "the program's manual page"
for command in $commands; do
  grep -q "^\.B $command\$" fuselage.1 || fail "the program's manual page lacks $command"
  "$fuselage" manual "$command" >"$command.1" || fail "the manual page of $command"
  [[ $(options_of "$command" | wc -l) -ge 3 ]] || fail "too few options of $command in help"
  for option in $(options_of "$command"); do
    grep -qE -- "^\.B (.*, )?${option//-/\\\\-}([ ,[]|\$)" "$command.1" ||
      fail "the manual page of $command lacks $option"
  done
done
# What the program reads of its environment.
for variable in $(grep -aoE 'FUSELAGE_[A-Z]+[A-Z_]*' "$fuselage" | sort -u); do
  case $variable in
    FUSELAGE_MODELS | FUSELAGE_ISA | FUSELAGE_CUDA_MODULE)
      grep -q "^\.B $variable\$" fuselage.1 || fail "the manual page lacks $variable"
      ;;
  esac
done
if command -v groff >/dev/null; then
  for page in *.1; do
    groff -man -Tutf8 -ww -z "$page" >warnings 2>&1
    [[ ! -s warnings ]] || fail "$page: $(head -1 warnings)"
  done
else
  echo "SKIPPED: the syntax of manual pages, which needs groff" >&2
fi

# --- bash completion.
"$fuselage" completion bash >bash.sh || fail "bash completion"
# shellcheck disable=SC1091
source ./bash.sh
# complete_bash WORD…: the completions of the last word.
complete_bash() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _fuselage 2>/dev/null # compopt works in an interactive completion only
  printf '%s\n' "${COMPREPLY[@]-}"
}
[[ $(complete_bash fuselage trans) == translate ]] || fail "bash: commands"
[[ $(complete_bash fuselage dump --format h) == html ]] || fail "bash: values"
[[ $(complete_bash fuselage dump --format = h) == html ]] || fail "bash: --option=value"
[[ $(complete_bash fuselage manual sco) == score ]] || fail "bash: arguments"
for words in "translate --output" "translate --beam-size" "translate"; do
  # shellcheck disable=SC2086
  [[ -z $(complete_bash fuselage $words '') ]] || fail "bash: words in the place of paths or numbers"
done
for command in $commands; do
  complete_bash fuselage "$command" - >words
  for option in $(options_of "$command"); do
    grep -qxF -- "$option" words || fail "bash: $command lacks $option"
  done
done

# --- zsh completion.
"$fuselage" completion zsh >_fuselage || fail "zsh completion"
for command in $commands; do
  sed -n "/^    $command) _arguments/,/return ;;/p" _fuselage >specifications
  for option in $(options_of "$command"); do
    grep -qE -- "\)$option([=+]|\[)" specifications || fail "zsh: $command lacks $option"
  done
done
if command -v zsh >/dev/null; then
  zsh -n _fuselage || fail "zsh: syntax"
  [[ $(zsh -fc 'autoload -Uz compinit; compinit -u -D; source ./_fuselage; print $_comps[fuselage]') == _fuselage ]] ||
    fail "zsh: a script that is sourced"
  # What an interactive zsh prints for a tab.
  cat >complete.zsh <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; \
zstyle ':completion:*' list-prompt ''; bindkey '^I' complete-word; stty columns 200; print READY\$((1))"
local out
zpty -r shell out '*READY1*'
zpty -n -w shell "$1"$'\t'
sleep 2
zpty -n -w shell $'\C-a: \C-e\n'
zpty -w shell 'print END$((1))'
zpty -r shell out '*END1*'
print -r -- "$out"
ZSH
  for case in "fuselage trans=translate" "fuselage dump --format htm=html" \
    "fuselage translate --beam-s=--beam-size" "fuselage manual sco=score"; do
    timeout 30 zsh -f complete.zsh "${case%=*}" >completed 2>&1 || fail "zsh: $case ends with status $?"
    grep -qF -- "${case#*=}" completed || fail "zsh: $case: $(tail -3 completed)"
  done
else
  echo "SKIPPED: zsh completion, which needs zsh" >&2
fi

# --- Scripts print the comment at their head and do nothing else.
for script in "$sources"/{demo.sh,test.sh,.ci/run} "$sources"/scripts/*.sh; do
  [[ $(head -c 2 "$script") == '#!' ]] || continue # sourced by the others
  timeout 10 bash "$script" --help >out 2>err </dev/null || fail "$script --help"
  head -1 out | grep -qF -- "$(sed -n '2s/^# //p' "$script")" || fail "$script --help prints $(head -1 out)"
  [[ ! -s err ]] || fail "$script --help: $(head -1 err)"
done

# --- The examples of help work as they are.
export FUSELAGE_MODELS=$sources/models HOME=$work
mkdir .zfunc bin
ln -s "$fuselage" bin/fuselage
PATH=$work/bin:$PATH
cp "$model" model.npz
cp "$data/vocab.spm" vocab.spm
printf 'models: [model.npz]\nvocabs: [vocab.spm, vocab.spm]\n' >model.npz.decoder.yml
printf 'Tom is my friend.\n' | tee in.txt source.txt >target.txt
printf '<p>Tom is <b>my</b> friend.</p>\n' >page.html
printf '0 ||| Tom ist mein Freund. ||| F0= -1 ||| -1\n' >n-best.txt
printf 'Tom ist mein Freund.\n' | tee train.de | gzip >train.de.gz
tee train.en <in.txt | gzip >train.en.gz
fuselage dump --stage raw -o graph.ir
echo 3 0 >source.ids
echo -1 3 >last.ids
"$5" words.txt language-model || fail "no language model"
fuselage convert -m model.npz -v vocab.spm vocab.spm -o my-model
mkdir models
ln -s "$sources/models/en-de" models/en-de
echo key >keys.txt
mkdir crawl
printf '{"text": "Tom is my friend."}\n' | gzip >crawl/1.jsonl.gz
count=0
for command in $commands; do
  while IFS= read -r example; do
    if [[ $command == serve ]]; then # until a signal
      : >out # the address of the server before is not this one's
      bash -c "exec ${example/serve/serve --port 0}" >out 2>err </dev/null &
      for ((i = 0; i < 300; ++i)); do
        ! grep -q '^http' out && kill -0 $! 2>kill.err || break
        sleep 0.1
      done
      kill -TERM $! && wait $! && grep -q '^http' out || fail "the example '$example': $(tail -1 err)"
      continue
    fi
    [[ $example != *'| man '* ]] || command -v man >/dev/null || continue
    timeout 60 bash -c "$example" >out 2>err </dev/null || fail "the example '$example': $(tail -1 err)"
    count=$((count + 1))
  done < <(COLUMNS=100 "$fuselage" "$command" --help | sed '1,/^Examples:/d' | sed -n 's/^  \([^ ]\)/\1/p')
done
[[ $count -ge 10 ]] || fail "$count examples"

end
