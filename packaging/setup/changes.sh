# Finds out what changed since the workers were built. The set-up prints the changes, and handles those that ninja does not
# notice.

# what_changed STAGE…: sets `changed`, the reasons why these stages of workers are stale.
what_changed() {
  changed=()
  if [[ ! -f build/build.ninja ]]; then return; fi
  changed_environment
  changed_versions
  changed_sources "$@"
}

# Compares the shell's environment with the environment in configured.txt, for which the build folder was configured.
changed_environment() {
  local name was now both
  for name in root "${environment[@]}"; do
    was=$(sed -n "s/^$name=//p" "$setup_state/configured.txt" 2>/dev/null) || return 0
    if [[ $name == root ]]; then now=$root; else now=${!name:-}; fi
    if [[ $was == "$now" ]]; then continue; fi
    case $name in
      root) changed+=("the checkout was moved from $was") ;;
      AMENT_PREFIX_PATH)
        both=$(comm -12 <(tr : '\n' <<<"$was" | sort -u) <(tr : '\n' <<<"$now" | sort -u))
        was=$(tr : '\n' <<<"$was" | grep -vxF "$both" | paste -sd ' ') || true
        now=$(tr : '\n' <<<"$now" | grep -vxF "$both" | paste -sd ' ') || true
        if [[ -n ${now// /} ]]; then changed+=("a ROS 2 was sourced: $now"); fi
        if [[ -n ${was// /} ]]; then changed+=("a ROS 2 is no longer sourced: $was"); fi
        ;;
      *) changed+=("$name was '$was' and is '$now'") ;;
    esac
  done
}

# Compares the installed versions of packages and of the compiler with the versions in built-with.txt.
changed_versions() {
  if [[ ! -f $setup_state/built-with.txt || ! -f $setup_state/installed.txt ]]; then return; fi
  mapfile -t -O "${#changed[@]}" changed < <(awk '
    function named(line) { sub(/^[^ ]* /, "", line); return line }
    FILENAME == ARGV[1] { was[$1] = named($0); next }
    { here[$1] }
    !($1 in was) { print $1 " " named($0) " was installed"; next }
    was[$1] != named($0) { print $1 " " was[$1] " -> " named($0) }
    END { for (name in was) if (!(name in here)) print name " was removed" }
  ' "$setup_state/built-with.txt" "$setup_state/installed.txt")
}

# Finds sources that are newer than the oldest stamp of these stages.
changed_sources() {
  local stage oldest='' folder files=()
  for stage in "$@"; do
    stage=$setup_state/$stage
    if [[ -f $stage && ( -z $oldest || $stage -ot $oldest ) ]]; then oldest=$stage; fi
  done
  if [[ -z $oldest ]]; then return; fi
  mapfile -t files < <(find "${worker_sources[@]}" "${compiled[@]}" -cnewer "$oldest" 2>/dev/null)
  case ${#files[@]} in
    0)
      identity_of workers
      if grep -qxF "sources=$source_names" "$oldest"; then return; fi
      folder=$(find "${worker_sources[@]}" -type d -cnewer "$oldest" -print -quit 2>/dev/null)
      changed+=("a file of ${folder:-${worker_sources[0]}} was removed")
      ;;
    1) changed+=("${files[0]}") ;;
    2) changed+=("${files[0]} and 1 more file") ;;
    *) changed+=("${files[0]} and $((${#files[@]} - 1)) more files") ;;
  esac
}

# Removes files compiled with other versions of packages. Ninja would keep such files, because a new package's headers are
# older than the objects compiled with the previous version.
forget_other_versions() {
  local name file
  if [[ -f $setup_state/built-with.txt ]]; then
    while read -r name; do
      if [[ $name == compiler ]]; then rm -rf build/CMakeFiles; fi
      if ! grep -qsxF "$name" adapters/*/packages.txt; then
        find build/core build/probe build/adapters build/bench \( -name '*.[oa]' -o -name '*.gch' \) -delete 2>/dev/null || true
      fi
      while read -r file; do rm -rf "build/${file%/packages.txt}"; done < <(grep -lsxF "$name" adapters/*/packages.txt)
    done < <(sort "$setup_state/built-with.txt" | comm -3 - <(sort "$setup_state/installed.txt") | awk '{ print $1 }' | sort -u)
  fi
  if [[ -f $setup_state/installed.txt ]]; then cp "$setup_state/installed.txt" "$setup_state/built-with.txt"; fi
}
