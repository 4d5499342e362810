# shellcheck shell=bash
# Sourced first by every script: with -h or --help, the script prints the comment at its head and
# does nothing else.

for argument in "$@"; do
  case $argument in
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
  esac
done
