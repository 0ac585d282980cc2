# The stages of the set-up, the inputs of each, and whether its stamp is still valid.
# Sourced by middlemark, which must start fast (one `find` a stage), by setup.sh and by check. Needs $root.

readonly setup_state=$root/build/setup

# Sets `later`: the adapters whose compilation takes long, those in Rust and those that say so (cmake/MiddlemarkAdapter.cmake).
later_adapters() {
  local file
  later=()
  while read -r file; do
    file=${file%/CMakeLists.txt}
    later+=("${file##*/}")
  done < <(grep -lsE '^middlemark_(rust_adapter\(|adapter\([^ ]+ LATER\b)' "$root"/adapters/*/CMakeLists.txt)
}

# Sets `stages`, what a start needs. An adapter that is left for later has a stage of its own, worker-NAME: it runs when `./middlemark build`
# or a run asks for that adapter, and from then on keeps it fresh.
all_stages() {
  local name later
  stages=(packages python pypi workers web)
  later_adapters
  for name in "${later[@]}"; do
    if [[ -x $root/build/workers/middlemark-worker-$name ]]; then stages+=("worker-$name"); fi
  done
}

# Sets `inputs`: the files and folders that make a stage stale when they change.
inputs_of() {
  local file
  case $1 in
    packages | check-packages)
      inputs=("$root/packaging/distributions" /etc/os-release /var/lib/dpkg/status)
      for file in "$root"/adapters/*/packages.txt; do
        if [[ -f $file ]]; then inputs+=("$file"); fi
      done
      ;;
    python) inputs=("$root/packaging/requirements.lock") ;;
    check-python) inputs=("$root/packaging/requirements-dev.lock" "$setup_state/python") ;;
    web) inputs=("$root/web" "$root/src/middlemark/show/html/scripts" "$root/packaging/requirements-node.lock") ;;
    check-web) inputs=("$root/web" "$setup_state/web") ;;
    pypi) inputs=("$root/adapters") ;;
    # The state of dpkg: installing or removing a middleware adds or removes an adapter.
    workers | worker-*) inputs=("$root/"{core,probe,adapters,cmake,CMakeLists.txt} "$setup_state/pypi" /var/lib/dpkg/status) ;;
  esac
}

# Sets `identity`, the content of a stamp. A checkout that was moved or copied, other flags, or another ROS 2 that was sourced, make the
# stage stale.
identity_of() {
  identity=$root
  if [[ $1 == worker* ]]; then identity+="|${CXX:-}|${CXXFLAGS:-}|${LDFLAGS:-}|${CMAKE_PREFIX_PATH:-}|${AMENT_PREFIX_PATH:-}"; fi
}

# Whether a stage is fresh. Compares the change time of inodes (-cnewer), which no checkout, copy or touch can set back.
is_fresh() {
  local stamp=$setup_state/$1 inputs identity vouched=
  inputs_of "$1"
  identity_of "$1"
  { read -r vouched <"$stamp"; } 2>/dev/null || true
  [[ $vouched == "$identity" ]] || return 1
  case $1 in
    python | check-python) [[ -x $root/.venv/bin/python ]] || return 1 ;;
    workers | worker-*) [[ -d $root/build/workers ]] || return 1 ;;
    web) [[ -f $root/build/web/report.js || -f $root/build/web/absent ]] || return 1 ;;
    check-web) [[ -f $root/build/web/report.js && -d $root/build/npm/node_modules ]] || return 1 ;;
  esac
  [[ -z $(find "${inputs[@]}" -cnewer "$stamp" -print -quit 2>/dev/null) ]]
}
