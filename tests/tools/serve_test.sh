#!/usr/bin/env bash
# The server as a process: its options, the models that it finds, and signals. Usage: serve_test.sh
# FUSELAGE DATA MODULE SOURCE

# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
models=$4/models
export FUSELAGE_MODELS=$models

# start ARGUMENTS…: a server on a free port; sets `server` and `port`.
start() {
  rm -f address
  "$fuselage" serve --port 0 "$@" >address 2>log &
  server=$!
  local i
  for ((i = 0; i < 300; ++i)); do
    [[ ! -s address ]] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  port=$(sed -nE 's|^http://127.0.0.1:([0-9]+)$|\1|p' address)
  [[ -n $port ]] || fail "no address of: $* ($(cat log))"
}

# stop [SIGNAL]: exit status 0 soon after the signal.
stop() {
  kill -s "${1:-TERM}" "$server"
  wait "$server"
  local status=$?
  [[ $status -eq 0 ]] || fail "exit status $status after ${1:-TERM}: $(cat log)"
}

# ask METHOD PATH [BODY]: the reply, by nothing but bash.
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf '%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s' \
    "$1" "$2" "$(printf %s "${3-}" | wc -c)" "${3-}" >&3
  cat <&3
  exec 3>&-
}

# answers TEXT METHOD PATH [BODY]
answers() {
  local text=$1 reply
  shift
  reply=$(ask "$@")
  grep -qF -- "$text" <<<"$reply" || fail "the reply to '$*' lacks '$text': $reply"
}

# unnamed_copy FOLDER: the bundled model without a statement of its languages.
unnamed_copy() {
  cp -r "$models/en-de" "$1"
  rm "$1/SHA256SUMS"
  sed '/"text": {/,/}/d' "$models/en-de/config.json" >"$1/config.json"
}

# unaligned_copy FOLDER: the bundled model without alignments.
unaligned_copy() {
  cp -r "$models/en-de" "$1"
  rm "$1/SHA256SUMS"
  sed 's/^return alignment = %alignment, /return /' "$models/en-de/graph.ir" >"$1/graph.ir"
}

# The bundled model, and the end by both signals.
start
answers '"translatedText":"Tom ist mein Freund."' POST /translate '{"q":"Tom is my friend.","source":"en","target":"de"}'
answers '<title>' GET /
graph=$(ask GET /graph)
grep -qF '(graph.ir:' <<<"$graph" || fail "the graph has no places: $(head -c 500 <<<"$graph")"
! grep -qF -e "$models" -e "$work" <<<"$graph" || fail "the graph shows a path of the machine"
answers '"n_best":6,"alignment":true,"prefix":true,"graph":true' GET /v1/models
# Tags follow their words, as those of translate do.
page='<p>Hello <b>Tom</b>, my friend.</p>'
tagged=$(printf %s "$page" | "$fuselage" translate --quiet --html)
grep -qF 'Tom</b>' <<<"$tagged" || fail "translate --html leaves the tag behind: $tagged"
answers "\"translatedText\":\"$tagged\"" POST /translate "{\"q\":\"$page\",\"source\":\"en\",\"target\":\"de\",\"format\":\"html\"}"
answers '{"text":"Tom war' POST /v1/translate '{"text":"Tom is my friend.","target":"de","prefix":"Tom war"}'
grep -qF 'en-de is served' log || fail "the models are not told"
stop TERM
start --quiet --access-log - -m "$models/en-de"
answers '"code":"en"' GET /languages
stop INT
grep -qE "127.0.0.1 GET '/languages' 200 " log || fail "no access log: $(cat log)"

# A model without alignments.
unaligned_copy unaligned
start -m unaligned
answers '"alignment":false' GET /v1/models
answers 'Tom' POST /translate "{\"q\":\"$page\",\"source\":\"en\",\"target\":\"de\",\"format\":\"html\"}"
answers 'there are no alignments of en-de' POST /v1/translate '{"text":"a","target":"de","alignment":true}'
stop

# Samples of each line, as many as are stated.
start -m "$models/en-de" --n-best 3 --translate --output-sampling
answers '"n_best":3,"alignment":true,"prefix":false' GET /v1/models
reply=$(ask POST /v1/translate '{"text":"Tom is here.","target":"de","n_best":3}')
[[ $(grep -o '"text":' <<<"$reply" | wc -l) -eq 3 ]] || fail "not three samples: $reply"
stop

# A folder of models, and options of translate. A model is replaced while the server runs.
mkdir folder
cp -r "$models/en-de" folder/en-de
unnamed_copy folder/opus-mt-fr-de
start --models folder --translate --cpu-threads 1 -b 2
answers '"targets":["de"]' GET /languages
answers '"code":"fr"' GET /languages
answers '"translatedText":"Tom ' POST /translate '{"q":"Tom is here.","source":"fr","target":"de"}'
unnamed_copy folder/sv-de
kill -HUP "$server"
for ((i = 0; i < 100; ++i)); do
  ! grep -qF 'loaded again' log || break
  sleep 0.1
done
answers '"code":"sv"' GET /languages
echo damaged >folder/en-de/config.json
kill -HUP "$server"
for ((i = 0; i < 100; ++i)); do
  ! grep -qF 'not loaded again' log || break
  sleep 0.1
done
grep -qF 'the models were not loaded again: ' log || fail "a damaged model is not told: $(cat log)"
reply=$(ask POST /translate '{"q":"Tom is here.","source":"en","target":"de"}')
grep -qF '200 OK' <<<"$reply" || fail "no translation with the models before: $reply"
# The graph of the model that runs, with the times of its nodes.
ask POST /translate '{"q":"Tom is here.","source":"fr","target":"de"}' >/dev/null
graph=$(ask GET '/graph?source=fr&target=de')
grep -qF '"profile":{"seconds":' <<<"$graph" || fail "the graph has no times: $(head -c 500 <<<"$graph")"
grep -qF '"model":"fr-de"' <<<"$graph" || fail "the graph does not name its model"
for shown in "$reply" "$(ask GET /metrics)" "$graph"; do
  ! grep -qF -e "$work" -e "$models" <<<"$shown" || fail "a path of the machine is shown"
done
stop

start
refuses "cannot listen at 127.0.0.1, port $port: " serve --port "$port"
stop
refuses "cannot listen at 192.0.2.1" serve --host 192.0.2.1 -p 0
cp -r "$models/en-de/." folder/en-de
ln -s "$models/en-de" folder/another-en-de
refuses "two models translate en-de: folder/another-en-de and folder/en-de; serve one of them" \
  serve --quiet --port 0 --models folder
mkdir empty
refuses "there is no folder of a model in it" serve --port 0 --models empty
unnamed_copy model
refuses "neither the model nor the name of its folder tells its languages" serve --port 0 -m model
refuses "the languages 'en' are not a source and a target" serve --port 0 -m model --languages en
refuses "the languages 'english-german': 'english' is no code" serve --port 0 -m model --languages english-german
refuses "name it with -m PATH" serve --port 0 --languages en-de
for option in --model -m --port --max_characters=9; do
  refuses "belongs before --translate" serve --port 0 --translate $option model
done
refuses "--port belongs before --translate" serve --translate -b 1 --port=5058
for option in --beam-size --beam_size -b --cpu-threads --precision; do
  refuses "give it behind --translate, as the last option: --translate ${option//_/-} " serve $option 4
done
refuses "unknown option '--jsonl'" serve --jsonl text
refuses "unknown option '--hosts'; did you mean '--host'?" serve --hosts a
refuses "its counterpart here is --max-characters N" serve --char-limit 5
refuses "its counterpart here is --requests-per-minute N" serve --req-limit 5
refuses "its counterpart here is --models FOLDER" serve --load-only en,de
refuses "a proxy before the server" serve --ssl
refuses "excludes" serve --port 0 -m model --models empty
refuses "cannot write the access log" serve --port 0 --access-log empty
refuses "missing" serve --port 0 --api-keys missing
start -m model --languages en-de
stop

end
