# Builds the workers: one executable per adapter whose middleware is found. Adapters that take long to compile are built
# on request.

# set_up_workers STAGE…: builds the workers of these stages. `workers` means all workers that the first start builds, worker-NAME
# means one of the others.
set_up_workers() {
  local targets=() known stage
  if [[ " $* " == *" worker-rcl "* || " $* " == *" worker-rclpy "* ]]; then set_up_ros2; fi
  configure_workers
  note_missing_packages "$@"
  known=$(ninja -C build -t targets all | sed 's/:.*//')
  for stage in "$@"; do
    stage=${stage/#worker-/middlemark-worker-}
    stage=${stage/#workers/middlemark-workers-at-once}
    if grep -qxF "$stage" <<<"$known"; then targets+=("$stage"); fi
  done
  if (( ${#targets[@]} )); then build_workers "${targets[@]}"; fi
  remove_left_out
  for stage in "$@"; do
    stage=${stage#worker-}
    if [[ $stage == workers || -x build/workers/middlemark-worker-$stage ]]; then continue; fi
    if grep -q "^-- adapter $stage: not built" "$log"; then continue; fi  # already printed
    say "$stage: not built, $(cat "build/workers/middlemark-left-out-$stage" 2>/dev/null || echo "there is no such adapter")"
  done
}

# Configures all workers if anything changed that the configuration depends on. Deletes CMake's cache first, which would keep
# results of removed packages or of a ROS 2 that is no longer sourced. Adapters whose CMake files fail are not built.
configure_workers() {
  local wanted kept=()
  forget_foreign_build build
  wanted=$(configuration)
  if [[ -z $again && -f build/build.ninja && ! -d $setup_state/refused ]] &&
    [[ $(cat "$setup_state/configured.txt" 2>/dev/null) == "$wanted" ]]; then
    if logged ninja -C build build.ninja; then return; fi
  else
    mapfile -t kept < <(
      sed -nE 's/^(MIDDLEMARK_TESTS|MIDDLEMARK_BENCH|CMAKE_PREFIX_PATH)(:.*)/-D\1\2/p' build/CMakeCache.txt 2>/dev/null)
    forget_other_versions
    rm -f build/CMakeCache.txt "$setup_state/configured.txt"
  fi
  say "configuring the build$(because)"
  changed=()  # already printed
  rm -rf "$setup_state/refused"
  while ! logged_apart "$setup_state/cmake.log" \
    cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DMIDDLEMARK_ADAPTERS=all \
      "-DPython3_EXECUTABLE=$PWD/.venv/bin/python" "${kept[@]}"; do
    leave_out_refused ||
      fail "cmake did not configure the workers; the whole log is $log" "the lines above name what is missing"
  done
  printf '%s\n' "$wanted" >"$setup_state/configured.txt"
  sed -n 's/^-- \(adapter \)\{0,1\}\(.*: not built, .*\)$/middlemark: \2/p' "$setup_state/cmake.log" |
    grep -vE "^middlemark: ($(IFS='|'; echo "${later[*]}")):" || true
}

# Prints what the configuration depends on besides CMake's files and the sources, which ninja checks.
configuration() {
  local identity
  identity_of workers
  grep -v '^sources=' <<<"$identity"
  cat "$setup_state/installed.txt" build/pypi/*/of build/ros2-*/of build/ros2-*.refused 2>/dev/null || true
}

# note_missing_packages STAGE…: writes a note for each adapter that the first start does not build and whose packages are missing.
# The note contains the command that installs them; CMake's own note only names what CMake did not find.
note_missing_packages() {
  local name note list
  list=$(package_list "$(distribution_id)")
  for name in "${later[@]}"; do
    note=build/workers/middlemark-left-out-$name
    if [[ " $* " == *" worker-$name "* || ! -f $note || -x build/workers/middlemark-worker-$name ]]; then continue; fi
    if grep -q '^it is built on request' "$note" || [[ -z $(missing_of "$name" "$list") ]]; then continue; fi
    printf '%s %s\n' "it is built on request, and its packages are not installed;" \
      "\`./middlemark build $name\`, or a run that names it, does both" >"$note"
  done
}

# missing_of ADAPTER LIST: prints the packages of the adapter that are not installed.
missing_of() {
  awk -v section="[$1]" '/^\[/ { ours = $1 == section; next } ours && NF && !/^#/' <<<"$2" | sort -u |
    comm -23 - <(packages_of <<<"$2" | installed_of | cut -d' ' -f1 | sort -u)
}

because() {
  if (( ${#changed[@]} == 0 )); then return; fi
  printf ' (%s' "${changed[0]}"
  if (( ${#changed[@]} > 1 )); then printf '; %s' "${changed[@]:1}"; fi
  printf ')'
}

# logged_apart FILE COMMAND…: like `logged`, but also writes the command's own output to FILE.
logged_apart() {
  local status=0
  printf '$ %s\n' "${*:2}" >>"$log"
  "${@:2}" >"$1" 2>&1 || status=$?
  cat "$1" >>"$log"
  return "$status"
}

# Writes a note with the error for each adapter that an error of CMake names; adapters/CMakeLists.txt reads these notes. Returns
# 1 if all these adapters already have a note.
leave_out_refused() {
  local adapter reason status=1
  mkdir -p "$setup_state/refused"
  while read -r adapter reason; do
    if [[ -e $setup_state/refused/$adapter ]]; then continue; fi
    echo "its CMake files do not work here: $reason ($log has all of it)" >"$setup_state/refused/$adapter"
    status=0
  done < <(awk '
    /^CMake Error/ { inside = 1; name = text = ""; }
    inside && match($0, /adapters\/[^\/ ]+\/CMakeLists.txt/) && name == "" { name = substr($0, RSTART + 9, RLENGTH - 24) }
    inside && /^  / && !/CMakeLists.txt:|\.cmake:/ { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
    /^(--|CMake|See also)/ && !/^CMake Error/ { inside = 0 }
    inside && name != "" && text != "" { said[name] = text }
    END { for (name in said) print name, said[name] }' "$setup_state/cmake.log")
  return "$status"
}

# Removes workers whose middleware was removed, because they would be found but could not be loaded. Keeps the compiled objects
# in case the middleware is installed again.
remove_left_out() {
  local file name
  for file in build/workers/middlemark-left-out-*; do
    name=${file##*/middlemark-left-out-}
    if [[ -f $file ]] && ! grep -q '^it is built on request' "$file"; then rm -f "build/workers/middlemark-worker-$name"; fi
  done
  for file in build/workers/middlemark-worker-*; do
    name=${file##*/middlemark-worker-}
    if [[ $name != *@* && ! -d adapters/$name ]]; then rm -f "$file"; fi
  done
}

# build_workers TARGET…: prints what changed and how much there is to build, and builds it. Prints nothing if all is built.
build_workers() {
  local steps seconds began=$SECONDS seen time="no earlier times"
  plan_build "$@"
  if (( steps == 0 )); then return; fi
  if [[ -n $seconds ]]; then time="about $(seconds_in_words "$seconds") by what they took before"; fi
  say "compiling the workers$(because): $steps step$(if (( steps > 1 )); then echo s; fi), $time"
  printf '$ ninja -C build %s\n' "$*" >>"$log"
  ninja -C build -j "$(jobs_here)" "$@" 2>&1 | show_progress ||
    fail "the workers were not built; the whole log is $log" \
      "the compiler's messages are above; after a fix the build continues from there"
  seen=$(cd build/workers && echo middlemark-worker-*)
  say "built: ${seen//middlemark-worker-/} (in $(seconds_in_words $((SECONDS - began))))"
}

# Deletes the configuration of another checkout or another generator, which cannot be used.
forget_foreign_build() {
  local cache=$1/CMakeCache.txt
  if [[ ! -f $cache ]]; then return; fi
  if grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" && grep -qxF "CMAKE_GENERATOR:INTERNAL=Ninja" "$cache"; then
    return
  fi
  rm -rf "$cache" "$1/CMakeFiles"
}

# Prints the number of parallel jobs: one per processor, but at most one per gigabyte of memory, because adapters are large
# templates.
jobs_here() {
  local processors gigabytes
  processors=$(nproc)
  gigabytes=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  echo $(( gigabytes < 1 ? 1 : gigabytes < processors ? gigabytes : processors ))
}
