# shellcheck shell=bash
# Common functions of the scripts that build the minimal part of Fuselage for other systems, with libraries compiled
# from Debian's source packages; sourced after setup.sh. $sources is the folder that the packages are unpacked in.

# unpack_sources NAME...: source packages in folders of their names. Of LLVM, which is large and to whose standard
# library Debian adds nothing, that library alone.
unpack_sources() {
  local fresh=$sources.new standard name
  standard=$(packages_of standard packages-wasm.txt)
  rm -rf "$fresh"
  mkdir -p "$fresh/apt/files" "$fresh/headers"
  (
    private_apt "$fresh/apt" deb-src
    cd "$fresh/apt/files"
    apt-get source --download-only "$@"
  )
  for name in "$@"; do
    if [[ $name == "$standard" ]]; then
      mkdir "$fresh/$name"
      tar --extract --file "$fresh/apt/files/$name"_*.orig.tar.xz --directory "$fresh/$name" --strip-components 1 \
        --wildcards '*/libcxx/include/*' '*/libcxx/src/*'
    else
      dpkg-source --no-check --extract "$fresh/apt/files/$name"_*.dsc "$fresh/$name"
    fi
  done
  for name in eigen3 boost nlohmann; do ln -s "/usr/include/$name" "$fresh/headers/$name"; done
  rm -rf "$fresh/apt"
  printf '%s\n' "$@" >"$fresh/packages"
  rm -rf "$sources"
  mv "$fresh" "$sources"
}

# make_sources SECTION...: the source packages in these sections of packages-wasm.txt.
make_sources() {
  local section names=()
  for section in "$@"; do mapfile -t -O "${#names[@]}" names < <(packages_of "$section" packages-wasm.txt); done
  cmp -s "$sources/packages" <(printf '%s\n' "${names[@]}") && return
  mkdir -p "$(dirname "$sources")"
  step "Unpacking source packages into $sources" unpack_sources "${names[@]}"
}
