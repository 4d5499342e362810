# shellcheck shell=bash
# Sourced first by every script: with -h or --help, prints the comment at the script's head and
# exits.

for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
  esac
done
