#!/usr/bin/env bash
# setup.sh [again] STAGE…: runs the stages that are stale; with `again` also those that are fresh. `all` means every stage of
# workers. All messages go to stderr, since stdout belongs to the command. A stage that fails or is interrupted leaves no
# stamp, so it runs again the next time; the stages before it do not.
set -euo pipefail
here=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${here%/packaging/setup/setup.sh}
cd "$root"
exec 1>&2 </dev/null
for part in stages say lists packages python pypi ros2 changes progress workers web; do
  source "$root/packaging/setup/$part.sh"
done

main() {
  local stage later again='' workers=()
  if [[ $1 == again ]]; then again=yes; shift; fi
  if [[ $1 == all ]]; then
    later_adapters
    set -- workers "${later[@]/#/worker-}"
  fi
  { mkdir -p "$setup_state" && : >>"$setup_state/lock"; } 2>/dev/null ||
    fail "cannot write in $setup_state" "change the owner of the checkout, or clone it to a folder where you may write" \
      "MIDDLEMARK_SETUP=off uses the checkout as it is, without any set-up"
  trap 'say "interrupted; the next start continues from here"; exit 130' INT
  trap 'say "stopped; the next start continues from here"; exit 143' TERM HUP

  exec 9>>"$setup_state/lock"
  if ! flock --nonblock 9; then
    say "another start is setting up this checkout; waiting for it"
    flock 9
  fi
  for stage in "$@"; do
    if [[ -z $again ]] && is_fresh "$stage"; then continue; fi
    case $stage in
      workers | worker-*) workers+=("$stage") ;;  # one configure and one ninja call for all of them
      *) do_stages "$stage" ;;
    esac
  done
  if (( ${#workers[@]} )); then do_stages "${workers[@]}"; fi
}

# do_stages STAGE…: runs one stage, or several stages of workers. A stamp has the time at which its stage began, so an input
# that changes while the stage runs makes it stale.
do_stages() {
  local stage identity changed=() later first
  log=$setup_state/${1/#worker-*/workers}.log
  : >"$log"
  later_adapters
  if [[ $1 == worker* ]]; then
    set_up_packages "${@#worker-}"
    note_installed
    what_changed "$@"
  fi
  source_names=''  # list again: sources may have changed while another start held the lock
  for stage in "$@"; do
    rm -f "$setup_state/$stage"
    identity_of "$stage"
    printf '%s\n' "$identity" >"$setup_state/$stage.begun"
  done
  case $1 in
    packages)
      first_adapters
      set_up_packages base "${first[@]}"
      note_installed
      ;;
    later-packages)
      set_up_packages "${later[@]}"
      note_installed
      ;;
    check-packages) set_up_packages check ;;
    check-rest-packages) set_up_packages check-rest ;;
    python) set_up_python ;;
    check-python) set_up_check_python ;;
    pypi) set_up_pypi ;;
    workers | worker-*) set_up_workers "$@" ;;
    web) set_up_web ;;
    check-web) set_up_check_web ;;
  esac
  for stage in "$@"; do mv "$setup_state/$stage.begun" "$setup_state/$stage"; done
}

main "$@"
