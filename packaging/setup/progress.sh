# Estimates how much of a build remains and how long the rest takes, from the times of the same steps in earlier builds.

# plan_build TARGET…: sets `steps`, the number of steps that ninja will run, and `seconds`, the time that these steps took last
# (empty if unknown). The dry run uses another name for build.ninja, because with that name it would stop where CMake looks for
# new files.
plan_build() {
  ln -sf ../build.ninja build/setup/plan.ninja
  read -r steps seconds < <(ninja -C build -f setup/plan.ninja -n "$@" | awk -v jobs="$(jobs_here)" '
    FILENAME != "-" { took[$4] = ($2 - $1) / 1000; next }
    /^\[/ {
      steps++
      if ($NF in took) { sum += took[$NF]; if (took[$NF] > longest) longest = took[$NF]; known++ }
    }
    END {
      if (sum / jobs > longest) longest = sum / jobs
      print steps + 0, (known && known >= 0.9 * steps ? int(longest + 0.5) : "")
    }' "$(log_of_ninja)" -)
}

log_of_ninja() { if [[ -f build/.ninja_log ]]; then echo build/.ninja_log; else echo /dev/null; fi; }

# seconds_in_words N: prints N seconds such as 40 s or 3 min.
seconds_in_words() { if (( $1 < 90 )); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

# Reads ninja's output, writes it to the log and shows the progress: in one line on a terminal, otherwise every 30
# seconds.
show_progress() {
  local line began=$SECONDS reported=$SECONDS ended=0 all=0 text
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line == *"Rust library "* ]]; then  # a single step that takes minutes
      if [[ -t 2 ]]; then printf '\r\033[K'; fi
      say "${line#\[*\] }"
    fi
    if [[ ! $line =~ ^\[([0-9]+)/([0-9]+)\] || $line == *"] Re-"* ]]; then continue; fi  # Re-checking globbed directories
    ended=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    text="$ended of $all steps"
    if (( ended >= 5 && ended < all )); then
      text+=", about $(seconds_in_words $(((SECONDS - began) * (all - ended) / ended))) more at this rate"
    fi
    if [[ -t 2 ]]; then
      printf '\rmiddlemark: %s\033[K' "$text"
    elif (( SECONDS - reported >= 30 )); then
      say "$text"
      reported=$SECONDS
    fi
  done
  if [[ -t 2 ]] && (( all )); then echo; fi
}
