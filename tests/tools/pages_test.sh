#!/usr/bin/env bash
# Texts and documents of HTML, and translation by way of another language, with the bundled model.
# Usage: pages_test.sh FUSELAGE DATA MODULE SOURCE_DIR

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
models=$4/models
export FUSELAGE_MODELS=$models

# expect TEXT: what the command wrote, to the byte.
expect() {
  printf '%s' "$1" >expected
  same out expected "$2"
}

printf 'Tom is my friend.\nWhere is the station?\n' >lines
works translate -i lines
tom=$(sed -n 1p out)
where=$(sed -n 2p out)

# Sentences of a text; all else stays as it is.
printf '\xef\xbb\xbfTom is my friend.  Where is the sta\xc2\xadtion?\r\n\r\n\t* Tom is my friend.' >text
works translate --text -i text
expect $'\xef\xbb\xbf'"$tom  $where"$'\r\n\r\n\t* '"$tom" "a text"
works translate --text <text
expect $'\xef\xbb\xbf'"$tom  $where"$'\r\n\r\n\t* '"$tom" "a text from standard input"
gzip -k text
works translate --text -i text.gz -o plain
same plain expected "a compressed text"
works translate --text </dev/null
expect "" "no text"
printf 'Mr. Smith is here.' >mister
works translate --quiet <mister
mv out line
works translate --text -i mister
[[ $(cat line) == "$(cat out)" ]] || fail "an abbreviation ends a sentence: $(cat out)"
works translate --text --text-language ja -i mister
[[ $(cat line) != "$(cat out)" ]] || fail "--text-language has no effect"

# What is not valid UTF-8 has the notes of lines, with the lines of the text.
printf 'Tom is my friend. My friend.\n\xff\nTom \xff is here. My \x00 friend.\nTom.' >invalid
works translate --text -i invalid
[[ $(cat err) == 'fuselage: note: 1 line was not valid UTF-8, or had NUL in it; U+FFFD took the place of what was invalid (line 3)' ]] ||
  fail "no note on invalid bytes: $(cat err)"
[[ $(sed -n 2p out) == $'\xff' ]] || fail "what is in no sentence has changed: $(cat out)"
works translate --text --quiet -i invalid
[[ ! -s err ]] || fail "a note with --quiet: $(cat err)"
refuses "line 2 is not valid UTF-8, or has NUL in it" translate --text --strict -i invalid
refuses "line 2 is not valid UTF-8, or has NUL in it" translate --html --strict -i invalid
printf '{"a":"Tom. My \\u0000 friend. A \\u0000 friend."}\n' >invalid.jsonl
works translate --jsonl a --text -i invalid.jsonl
grep -qF '1 line was not valid UTF-8' err || fail "a row counts once: $(cat err)"

# HTML.
printf '<p class=x>My <b>friend</b> is <i>here</i>.<!-- c --></p><p translate=no>Tom is\n<script>a<b</script>' >page.html
works translate --html -i page.html
grep -qF '<b>Freund</b>' out || fail "a tag is not with its word: $(cat out)"
grep -qF '<!-- c --></p><p translate=no>Tom is' out || fail "what is no text has changed: $(cat out)"
[[ $(tail -1 out) == '<script>a<b</script>' ]] || fail "the script has changed: $(cat out)"
works translate --html -m "$model" -v "$vocabulary" "$vocabulary" <<<'<b>▁Tom</b> x'
grep -qF '<b>' out || fail "a model of words: $(cat out)"

# By way of another language.
works translate --through "$models/en-de" -i lines --alignment
[[ $(wc -l <out) -eq 2 ]] || fail "two lines in, two lines out: $(cat out)"
grep -qE '^[^|]+ \|\|\| [0-9]+-[0-9]+' out || fail "no alignment: $(cat out)"
works translate --through "$models/en-de" -i lines
mv out through
works translate -i lines -o between
works translate -i between
same out through "one after the other"
FUSELAGE_MODELS=$models works translate --through en-de -i lines
same out through "the second model by its name"
works translate --through "$models/en-de" --html -i page.html
grep -qF '</b>' out || fail "a document by two models: $(cat out)"
works translate --through "$models/en-de" </dev/null
expect "" "no lines"

# Options that do not fit together.
for option in --n-best --json --word-scores --alignment --force-decode --constraints; do
  refuses "--text gives one document, and $option is for lines" translate --text $option -i text
  refuses "--html gives one document, and $option is for lines" translate --html $option -i text
done
refuses "--text excludes --html" translate --text --html -i text
refuses "--text-language is for documents" translate --text-language de -i text
refuses "--text takes one document, but 2 are given" translate --text -i text text
refuses "--through cannot go with --constraints" translate --through "$models/en-de" --constraints -i lines
refuses "/nonexistent" translate --through /nonexistent -i lines
refuses "is input and output at once" translate --text -i text -o text
refuses "cannot" translate --text -i nofile

# Configurations may be shared.
printf 'text: true\nquiet: true\n' >page.yml
works translate -c page.yml -i text
expect $'\xef\xbb\xbf'"$tom  $where"$'\r\n\r\n\t* '"$tom" "a text by a configuration"
works score -c page.yml -t lines lines
end
