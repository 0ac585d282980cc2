# How the set-up speaks: one line a step; a step that fails shows the end of its log and where the whole of it is.

say() { printf 'middlemark: %s\n' "$*"; }

# fail WHAT NEXT…: the thing that failed, the end of its log where it has one, and the next steps, one a line.
fail() {
  local next
  if [[ -s ${log:-} ]]; then
    say "the end of $log:"
    tail -n 20 "$log" | sed 's/^/  | /'
  fi
  say "$1"
  shift
  for next in "$@"; do printf '  %s\n' "$next"; done
  exit 1
}

# logged COMMAND…: runs it with all that it prints in the stage's log.
logged() {
  printf '$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1
}
