# Makes a Debian system in a folder with debootstrap. The mirror and the settings of apt and pip are taken from the host
# at run time; none are written here. Sourced by the targets of scripts/check-in that are such systems; needs $home.
# shellcheck shell=bash disable=SC2154,SC2034

readonly system=$home/root
readonly checkout=$system/middlemark  # /middlemark in the new system

can_make_systems() {
  local tool
  if (( EUID != 0 )); then
    fail "$target is a system in a folder, which only root can make and enter" "sudo scripts/check-in $target"
  fi
  for tool in debootstrap unshare setpriv ip git; do
    command -v "$tool" >/dev/null || fail "there is no $tool here" "apt install debootstrap util-linux iproute2 git"
  done
  log=$home/check-in.log
  : >"$log"
}

# make_system SUITE: makes a minimal Debian of that name in $system, unless it exists.
make_system() {
  local mirror
  if [[ -d $system ]]; then return; fi
  # shellcheck disable=SC2016
  mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | sed -n 1p)}
  if [[ -z $mirror ]]; then
    fail "this host's apt has no mirror of Debian" "set one: MIRROR=<address> scripts/check-in $target"
  fi
  say "making Debian ($1) in build-check-in/$target (debootstrap; some minutes)"
  rm -rf --one-file-system "$system.part"
  logged nice debootstrap --variant=minbase --include=ca-certificates "$1" "$system.part" "$mirror" ||
    fail "debootstrap failed; the whole log is $log" "cat build-check-in/$target/root.part/debootstrap/debootstrap.log"
  mv "$system.part" "$system"
}
