# The workers: one executable for every adapter whose middleware is found, at once or, where that takes long, when it is asked for.

set_up_workers() {
  local seen
  say "building the workers (cmake and ninja; the first time some two minutes)"
  configure_workers
  build_workers middlemark-workers-at-once
  logged ninja -C build -t cleandead || true  # removes a worker whose middleware was removed
  seen=$(cd build/workers && echo middlemark-worker-*)
  say "built: ${seen//middlemark-worker-/}"
  sed -n 's/^-- \(adapter \)\{0,1\}\(.*: not built, .*\)$/middlemark: \2/p' "$log"
}

# set_up_worker NAME: one of those that are built when they are asked for.
set_up_worker() {
  local takes=
  if [[ -f adapters/$1/Cargo.toml ]]; then takes=" (in Rust: some minutes the first time)"; fi
  say "building the worker of $1$takes"
  configure_workers
  if logged ninja -C build -t query "middlemark-worker-$1"; then build_workers "middlemark-worker-$1"; fi
  if [[ ! -x build/workers/middlemark-worker-$1 ]]; then
    say "$1: not built, $(cat "build/workers/middlemark-left-out-$1" 2>/dev/null || echo "there is no such adapter")"
  fi
}

configure_workers() {
  forget_foreign_build build
  logged cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMIDDLEMARK_ADAPTERS=all ||
    fail "cmake did not configure the workers; the whole log is $log" "what it misses is named above"
}

build_workers() {
  logged cmake --build build --target "$1" --parallel "$(jobs_here)" ||
    fail "the workers were not built; the whole log is $log" "what the compiler says is above; after a repair the build goes on from there"
}

# A build folder of another checkout, or of another generator, cannot be used.
forget_foreign_build() {
  local cache=$1/CMakeCache.txt
  if [[ ! -f $cache ]]; then return; fi
  if grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" && grep -qxF "CMAKE_GENERATOR:INTERNAL=Ninja" "$cache"; then return; fi
  rm -rf "$cache" "$1/CMakeFiles"
}

# As many jobs as processors, but at least a gigabyte for each: the adapters are large templates.
jobs_here() {
  local processors gigabytes
  processors=$(nproc)
  gigabytes=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  echo $(( gigabytes < 1 ? 1 : gigabytes < processors ? gigabytes : processors ))
}
