# Cyclone DDS 11 with its iceoryx plug-in, on this system: builds the adapters that use Cyclone DDS with it instead of
# the distribution's version. The source tree is the unmodified one contained in a crate, so that cargo fetches it with
# the host's settings for crates. Needs iceoryx's headers and RouDi (libiceoryx-posh-dev, libiceoryx-binding-c-dev,
# iceoryx) and the set-up of ./check. Sourced by scripts/check-in.

# shellcheck shell=bash disable=SC2154,SC1091
readonly home=$root/build-check-in/$target
readonly checkout=$home/checkout
readonly prefix=$home/prefix
readonly crate=cyclors crate_version=0.4.0 expected=11.0.1

check_in() {
  local tool
  for tool in cargo cmake ninja unshare ip; do
    command -v "$tool" >/dev/null ||
      fail "there is no $tool here" "apt install cmake ninja-build util-linux iproute2; cargo: rustup.rs"
  done
  if [[ ! -x $root/.venv/bin/pytest ]]; then fail "the tests are not set up here" "./check lint sets them up"; fi
  log=$home/check-in.log
  : >"$log"

  if [[ ! -f $prefix/lib/libpsmx_iox.so ]]; then make_cyclonedds; fi
  say "copying the checkout to build-check-in/$target"
  checkout_into "$checkout"
  build_workers
  run_conformance
}

make_cyclonedds() {
  local source=$home/crate/vendor/$crate/cyclonedds
  say "fetching Cyclone DDS $expected (crate $crate $crate_version)"
  mkdir -p "$home/crate/src"
  : >"$home/crate/src/lib.rs"
  printf '%s\n' '[package]' 'name = "fetch"' 'version = "0.0.0"' 'edition = "2021"' '[workspace]' \
    '[dependencies]' "$crate = \"=$crate_version\"" >"$home/crate/Cargo.toml"
  (cd "$home/crate" && logged cargo vendor vendor) || fail "cargo did not fetch the crate; the whole log is $log"
  grep -q "project(CycloneDDS VERSION $expected " "$source/CMakeLists.txt" ||
    fail "the crate does not contain Cyclone DDS $expected"
  say "building Cyclone DDS $expected (a minute or two)"
  logged nice cmake -S "$source" -B "$home/cyclonedds" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DENABLE_ICEORYX=ON -DENABLE_TCP=ON -DENABLE_LTO=OFF -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF ||
    fail "cmake did not configure Cyclone DDS; the whole log is $log" "apt install libiceoryx-posh-dev libiceoryx-binding-c-dev"
  logged nice cmake --build "$home/cyclonedds" --target install --parallel "$(jobs_here)" ||
    fail "Cyclone DDS does not compile; the whole log is $log"
}

build_workers() {
  local chosen=${adapters:-cyclonedds,ros2-wire}
  say "building $chosen with Cyclone DDS $expected"
  logged nice cmake -S "$checkout" -B "$checkout/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
    "-DMIDDLEMARK_ADAPTERS=null;${chosen//,/;}" || fail "cmake did not configure the workers; the whole log is $log"
  rm -f "$checkout"/build/workers/middlemark-worker-*
  logged nice cmake --build "$checkout/build" --target middlemark-workers --parallel "$(jobs_here)" ||
    fail "the workers do not compile; the whole log is $log"
  alone .venv/bin/python -m middlemark list adapters >"$home/adapters.txt"
  grep -E "^(${chosen//,/|}) " "$home/adapters.txt"
  if grep -E "^(${chosen//,/|}) " "$home/adapters.txt" | grep -qv " $expected "; then
    fail "the workers were not built with Cyclone DDS $expected"
  fi
}

run_conformance() {
  local options=(-q -p no:cacheprovider --basetemp="$home/pytest")
  if [[ -n $expression ]]; then options+=(-k "$expression"); fi
  say "the conformance suite (also in build-check-in/$target/conformance.log)"
  alone .venv/bin/python -m pytest conformance "${options[@]}" 2>&1 | tee "$home/conformance.log" | tail -n 40
}

# Runs a command in the checkout with its own network, /dev/shm and /tmp: a machine can run only one RouDi, whose lock
# is in /tmp.
alone() {
  local namespaces=(--mount --net)
  if (( EUID != 0 )); then namespaces+=(--map-root-user); fi
  # shellcheck disable=SC2016
  unshare "${namespaces[@]}" sh -ec '
    ip link set lo up
    ip route add 224.0.0.0/4 dev lo
    mount -t tmpfs -o mode=1777 tmpfs /dev/shm
    case $1 in /tmp/*) ;; *) mount -t tmpfs -o mode=1777 tmpfs /tmp ;; esac
    cd "$1"
    shift
    exec "$@"' - "$checkout" env PYTHONPATH="$checkout/src" PYTHONDONTWRITEBYTECODE=1 \
    MIDDLEMARK_WORKERS="$checkout/build/workers" "$root/$1" "${@:2}"
}
