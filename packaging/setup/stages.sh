# The stages of the set-up, what each is made from, and whether its stamp still vouches for it.
# Sourced by middlemark, which must start fast (one `find` a stage), by setup.sh and by check. Wants $root.

readonly setup_state=$root/build/setup

# Sets `inputs`: the files and folders whose change makes a stage stale.
inputs_of() {
  case $1 in
    packages | check-packages) inputs=("$root/packaging/distributions" /etc/os-release /var/lib/dpkg/status) ;;
    python) inputs=("$root/packaging/requirements.lock") ;;
    check-python) inputs=("$root/packaging/requirements-dev.lock" "$setup_state/python") ;;
    web) inputs=("$root/web" "$root/packaging/requirements-node.lock") ;;
    check-web) inputs=("$root/web" "$setup_state/web") ;;
    # The state of dpkg: a middleware installed or removed since then is an adapter more or less.
    workers) inputs=("$root/"{core,adapters,cmake,CMakeLists.txt} /var/lib/dpkg/status) ;;
  esac
}

# Sets `identity`: what a stamp holds. A checkout that was moved or copied, or other flags, need the stage anew.
identity_of() {
  identity=$root
  if [[ $1 == workers ]]; then identity+="|${CXX:-}|${CXXFLAGS:-}|${LDFLAGS:-}|${CMAKE_PREFIX_PATH:-}"; fi
}

# Whether a stage needs nothing done. By the time of change of the inodes (-cnewer), which no checkout, copy or touch sets back.
is_fresh() {
  local stamp=$setup_state/$1 inputs identity vouched=
  inputs_of "$1"
  identity_of "$1"
  { read -r vouched <"$stamp"; } 2>/dev/null || true
  [[ $vouched == "$identity" ]] || return 1
  case $1 in
    python | check-python) [[ -x $root/.venv/bin/python ]] || return 1 ;;
    workers) [[ -d $root/build/workers ]] || return 1 ;;
    web) [[ -f $root/build/web/libraries.js || -f $root/build/web/absent ]] || return 1 ;;
    check-web) [[ -f $root/build/web/libraries.js && -d $root/build/npm/node_modules ]] || return 1 ;;
  esac
  [[ -z $(find "${inputs[@]}" -cnewer "$stamp" -print -quit 2>/dev/null) ]]
}
