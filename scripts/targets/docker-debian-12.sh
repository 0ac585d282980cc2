# Runs the steps of packaging/docker/debian-12.Dockerfile one after the other, in a folder instead of an image:
# packages, build, start. Workers in Rust are not built unless --adapters names one. Sourced by scripts/check-in.
# shellcheck shell=bash disable=SC2154

readonly home=$root/build-check-in/$target
source scripts/systems.sh

check_in() {
  can_make_systems
  make_system bookworm
  say "copying the checkout to build-check-in/$target"
  checkout_into "$checkout"
  step packages.sh
  if [[ -n $adapters ]]; then step build.sh; else step build.sh at-once; fi
  step start.sh list adapters
  step start.sh run --adapter tcp,cyclonedds,zeromq --transport all --size 1k --samples 200 --trials 1 --quiet
}

# step SCRIPT ARGUMENT…: runs a RUN or ENTRYPOINT step of the Dockerfile.
step() {
  say "packaging/docker/$*"
  scripts/inside --show /etc/pip.conf --show /etc/ssl/certs/ca-certificates.crt "$system" \
    "/middlemark/packaging/docker/$1" "${@:2}" >"$home/${1%.sh}.log" 2>&1 ||
    { tail -n 30 "$home/${1%.sh}.log"; fail "that step failed; the whole log is $home/${1%.sh}.log"; }
  if [[ $1 == start.sh ]]; then cat "$home/start.log"; fi
}
