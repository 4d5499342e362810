# shellcheck shell=bash
# Common functions of the scripts, for Debian packages and builds; sourced from the repository root.
# They print a line per step to standard error. Output of commands goes to $log, whose end is shown
# when a step fails.

log=build/setup.log
mkdir -p build
: >"$log"

: "${CMAKE_BUILD_PARALLEL_LEVEL:=$(nproc)}" "${CTEST_PARALLEL_LEVEL:=$(nproc)}"
export CMAKE_BUILD_PARALLEL_LEVEL CTEST_PARALLEL_LEVEL

say() { printf '%s\n' "$*" >&2; }

# Reads the output of Ninja or CTest. On a terminal shows the share that is done and the newest line, in
# place of the line before; elsewhere prints a line for each tenth.
show_progress() {
  local line share='' tenths=0
  local step='^(\[| *)([0-9]+)/([0-9]+)(\]| Test +#[0-9]+:)(.*)'
  while IFS= read -r line; do
    line=${line//$'\r'/}
    if [[ $line =~ $step ]]; then
      line=${BASH_REMATCH[5]}
      share=$(printf '%3d %%' $((100 * BASH_REMATCH[2] / BASH_REMATCH[3])))
      if [[ ! -t 2 ]] && ((10 * BASH_REMATCH[2] / BASH_REMATCH[3] > tenths)); then
        tenths=$((10 * BASH_REMATCH[2] / BASH_REMATCH[3]))
        say "  $share"
      fi
    fi
    [[ ! -t 2 ]] || printf '\r\033[K  %s %.70s' "$share" "$line" >&2
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# step TITLE COMMAND...: runs the command; if it fails, prints the log's end and exits.
step() {
  local what=$1
  shift
  say "$what"
  printf '== %s: %s\n' "$what" "$*" >>"$log"
  "$@" </dev/null 2>&1 | tee -a "$log" | show_progress && return
  say "FAILED: $what. The end of $log:"
  tail -n 40 "$log" >&2
  exit 1
}

# packages_of SECTION [FILE]: prints the names in this section of packages.txt, or of another list.
packages_of() {
  awk -v header="[$1]" '$1 == "#" && $2 ~ /^\[/ {here = $2 == header} here && /^[^#]/ {print $1}' \
    "${2:-packages.txt}"
}

# Prints the arguments that are not installed packages.
missing_packages() {
  printf '%s\n' "$@" | grep -vxF -f <(
    dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
      sed -n 's/^installed //p'
  ) || true
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# Updates the package lists only if the installation fails with the present ones.
apt_install() {
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300
    install --yes --no-install-recommends "$@")
  as_root "${install[@]}" || { as_root apt-get update && as_root "${install[@]}"; }
}

# install_packages SECTION...: installs the missing packages of these sections.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian: install the counterparts of packages.txt yourself."
    return
  fi
  local section names=() missing
  for section in "$@"; do mapfile -t -O "${#names[@]}" names < <(packages_of "$section"); done
  mapfile -t missing < <(missing_packages "${names[@]}")
  [[ ${#missing[@]} -eq 0 ]] || step "Installing ${missing[*]}" apt_install "${missing[@]}"
}

# build_preset PRESET [TARGET...]
build_preset() {
  local preset=$1
  shift
  step "Configuring ($preset)" cmake --preset "$preset"
  step "Building ($preset)" cmake --build --preset "$preset" ${1+--target "$@"}
}

# build_directory PRESET
build_directory() {
  if [[ $1 == release ]]; then echo build; else echo "build-$1"; fi
}

# private_apt FOLDER KIND [ARCHITECTURE]: makes apt-get read the packages (KIND is deb) or sources (deb-src) of Debian 12
# from FUSELAGE_MIRROR (deb.debian.org) by a configuration of its own in this folder, with an empty list of installed
# packages, which leaves this machine's alone.
private_apt() {
  local apt=$1 kind=$2 architecture=${3:-$(dpkg --print-architecture)}
  local mirror=${FUSELAGE_MIRROR:-http://deb.debian.org/debian}
  mkdir -p "$apt"/{lists,archives}/partial
  : >"$apt/status"
  echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONFIGURATION
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Log "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
CONFIGURATION
  export APT_CONFIG=$apt/apt.conf
  apt-get update
}
