# The workers: one executable for every adapter whose middleware is found.

set_up_workers() {
  local seen
  forget_foreign_build build
  say "building the workers (cmake, ninja and cargo; the first time some two minutes, and as many more as a crate takes to compile)"
  logged cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMIDDLEMARK_ADAPTERS=all ||
    fail "cmake did not configure the workers; the whole log is $log" "what it misses is named above"
  logged cmake --build build --target middlemark-workers --parallel "$(jobs_here)" ||
    fail "the workers were not built; the whole log is $log" "what the compiler says is above; after a repair the build goes on from there"
  logged ninja -C build -t cleandead || true  # removes a worker whose middleware was removed
  seen=$(cd build/workers && echo middlemark-worker-*)
  say "built: ${seen//middlemark-worker-/}"
  sed -n 's/^-- \(adapter \)\{0,1\}\(.*: not built, .*\)$/middlemark: \2/p' "$log"
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
