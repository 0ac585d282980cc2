#!/usr/bin/env bash
# setup.sh [again] STAGE… runs the stages that are not fresh. All messages go to stderr: stdout belongs to the command.
# A stage that fails or is interrupted leaves no stamp and runs again the next time; the stages before it do not.
set -euo pipefail
here=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${here%/packaging/setup/setup.sh}
cd "$root"
exec 1>&2 </dev/null
for part in stages say lists packages python pypi workers web; do source "$root/packaging/setup/$part.sh"; done

main() {
  local stage again=
  if [[ $1 == again ]]; then again=yes; shift; fi
  { mkdir -p "$setup_state" && : >>"$setup_state/lock"; } 2>/dev/null ||
    fail "cannot write in $setup_state" "make the checkout yours, or clone it anew where you may write" \
      "MIDDLEMARK_SETUP=off takes it as whoever set it up left it"
  trap 'say "interrupted; the next start goes on from here"; exit 130' INT
  trap 'say "stopped; the next start goes on from here"; exit 143' TERM HUP

  exec 9>>"$setup_state/lock"
  if ! flock --nonblock 9; then
    say "another start is setting up this checkout; waiting for it"
    flock 9
  fi
  for stage in "$@"; do
    if [[ -z $again ]] && is_fresh "$stage"; then continue; fi
    do_stage "$stage"
  done
}

# The stamp has the time when the stage began, so an input that changes meanwhile makes the stage stale.
do_stage() {
  local identity
  log=$setup_state/$1.log
  rm -f "$setup_state/$1"
  identity_of "$1"
  printf '%s\n' "$identity" >"$setup_state/$1.begun"
  : >"$log"
  case $1 in
    packages) set_up_packages base ;;
    check-packages) set_up_packages check ;;
    python) set_up_python ;;
    check-python) set_up_check_python ;;
    pypi) set_up_pypi ;;
    workers) set_up_workers ;;
    worker-*) set_up_worker "${1#worker-}" ;;
    web) set_up_web ;;
    check-web) set_up_check_web ;;
  esac
  mv "$setup_state/$1.begun" "$setup_state/$1"
}

main "$@"
