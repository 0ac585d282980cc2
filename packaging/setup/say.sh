# Messages of the set-up: one line per step. A step that fails shows the end of its log and the log's path.

say() { printf 'middlemark: %s\n' "$*"; }

# fail WHAT NEXT…: prints what failed, the end of its log if there is one, and the next steps, one per line. Exits.
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

# logged COMMAND…: runs the command and writes its output to the stage's log.
logged() {
  printf '$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1
}
