# The stages of the set-up, their inputs, and whether their stamps are still valid. Sourced by middlemark, which must
# start fast, by setup.sh and by check. Needs $root.

readonly setup_state=$root/build/setup
# Variables of the environment that cmake reads.
readonly environment=(CXX CXXFLAGS LDFLAGS CMAKE_PREFIX_PATH AMENT_PREFIX_PATH MIDDLEMARK_ROS2)
readonly worker_sources=(core probe adapters cmake CMakeLists.txt)  # sources of the workers
# Arguments of find: the files that workers depend on.
readonly compiled=(-type f ! -name '*.md' ! -name conformance.toml ! -name '*.pyc')

# stages_for ARGUMENT…: sets `stages`, the stages that the command needs for these arguments. Verbs that only read or convert
# need Python. Verbs that write HTML also need the drawing scripts. The verb `build` later requests the workers itself.
stages_for() {
  local word tries='' draws=''
  stages=(python)
  if [[ -n ${_MIDDLEMARK_COMPLETE:-} ]]; then return; fi
  for word in "$@"; do
    case $word in
      -h | --help | --version | --dry-run | --list) return ;;
      --try | --try=*) tries=yes ;;
      html | --format=html) draws=yes ;;
    esac
  done
  case ${1:-} in
    report | view) stages=(python web) ;;
    show | import) if [[ -n $draws ]]; then stages=(python web); fi ;;
    build) stages=(packages python pypi) ;;
    diagnose) if [[ -n $tries ]]; then all_stages; fi ;;
    run | which | reproduce | selftest | hosts) all_stages ;;
  esac
}

# Sets `stages` for measuring. An adapter that the first start does not build has its own stage, worker-NAME. The stage runs
# when `./middlemark build` or a run needs the adapter, and from then on with every start.
all_stages() {
  local name later
  stages=(packages python pypi web workers)
  later_adapters
  for name in "${later[@]}"; do
    if [[ -x $root/build/workers/middlemark-worker-$name ]]; then stages+=("worker-$name"); fi
  done
}

# Sets `later`: the adapters that take long to compile, which are those in Rust and Python and those marked LATER
# (cmake/MiddlemarkAdapter.cmake).
later_adapters() {
  local file
  later=()
  while read -r file; do
    file=${file%/CMakeLists.txt}
    later+=("${file##*/}")
  done < <(grep -lsE '^middlemark_((rust|python)_adapter\(|adapter\([^)]*\bLATER\b)' "$root"/adapters/*/CMakeLists.txt)
}

# Sets `first`: the adapters that the first start builds.
first_adapters() {
  local folder later
  later_adapters
  first=()
  for folder in "$root"/adapters/*/; do
    folder=${folder%/}
    if [[ " ${later[*]} " != *" ${folder##*/} "* ]]; then first+=("${folder##*/}"); fi
  done
}

# Sets `inputs`: the files and folders that make a stage stale when they change. The stage `packages` writes installed.txt, the
# versions of the packages that the build depends on, only if a version changed. So other actions of dpkg make no worker stale.
inputs_of() {
  local file compiler
  case $1 in
    *packages)
      inputs=("$root/packaging/distributions" /etc/os-release /var/lib/dpkg/status)
      for file in "$root"/adapters/*/packages.txt; do
        if [[ -f $file ]]; then inputs+=("$file"); fi
      done
      if [[ $1 == packages ]]; then
        find_compiler
        if [[ -f $compiler ]]; then inputs+=("$compiler"); fi
      fi
      ;;
    python) inputs=("$root/packaging/requirements.lock") ;;
    check-python) inputs=("$root/packaging/requirements-dev.lock" "$setup_state/python") ;;
    web) inputs=("$root/web" "$root/src/middlemark/show/html/scripts" "$root/packaging/requirements-node.lock") ;;
    check-web) inputs=("$root/web" "$setup_state/web") ;;
    pypi) inputs=("$root"/adapters/*/packages.txt) ;;
    workers | worker-*) inputs=("${worker_sources[@]/#/$root/}" "$setup_state/pypi" "$setup_state/installed.txt") ;;
  esac
}

# Sets `compiler`: the file behind CXX or c++.
find_compiler() { compiler=$(readlink -f -- "$(type -P "${CXX:-c++}")") || compiler=${CXX:-c++}; }

# Sets `identity`, the content of a stamp, NAME=VALUE per line. A stage becomes stale if the checkout is moved or
# copied, the flags or the sourced ROS 2 change, or a source file is added or removed.
identity_of() {
  local name compiler
  identity=root=$root
  case $1 in
    packages)
      find_compiler
      identity+=$'\n'compiler=$compiler
      ;;
    workers | worker-*)
      for name in "${environment[@]}"; do identity+=$'\n'$name=${!name:-}; done
      source_names=${source_names:-$(cd "$root" && find "${worker_sources[@]}" "${compiled[@]}" | sort | cksum)}
      identity+=$'\n'sources=$source_names
      ;;
  esac
}

all_fresh() {
  local stage
  for stage in "$@"; do is_fresh "$stage" || return 1; done
}

# Returns whether a stage is fresh. Compares inode change times (-cnewer), which no checkout, copy or touch can set back. All
# stages of workers have the same inputs, so a stage is also fresh if its stamp is not older than the stamp of a fresh stage.
is_fresh() {
  local stamp=$setup_state/$1 inputs identity only=() stamped='' note=''
  identity_of "$1"
  { IFS= read -r -d '' stamped <"$stamp"; } 2>/dev/null || true
  [[ $stamped == "$identity"$'\n' ]] || return 1
  case $1 in
    python | check-python) [[ -x $root/.venv/bin/python ]] || return 1 ;;
    workers) [[ -d $root/build/workers ]] || return 1 ;;
    worker-*)
      if [[ ! -x $root/build/workers/middlemark-$1 ]]; then  # fresh only if it cannot be built
        { read -r note <"$root/build/workers/middlemark-left-out-${1#worker-}"; } 2>/dev/null || return 1
        [[ $note != "it is built on request"* ]] || return 1
      fi
      ;;
    web) [[ -f $root/build/web/report.js || -f $root/build/web/absent ]] || return 1 ;;
    check-web) [[ -f $root/build/web/report.js && -d $root/build/npm/node_modules ]] || return 1 ;;
  esac
  if [[ $1 == worker-* && -n ${fresh_workers:-} && ! $stamp -ot $fresh_workers ]]; then return; fi
  inputs_of "$1"
  if [[ $1 == worker* ]]; then only=("${compiled[@]}"); fi
  [[ -z $(find "${inputs[@]}" "${only[@]}" -cnewer "$stamp" -print -quit 2>/dev/null) ]] || return 1
  if [[ $1 == worker* ]]; then fresh_workers=$stamp; fi
}
