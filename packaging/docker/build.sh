#!/usr/bin/env bash
# build.sh [at-once]: the Python environment and the workers, those in Rust too unless `at-once` leaves them out. A step of the Dockerfiles.
set -euo pipefail
root=$(readlink -f -- "${BASH_SOURCE[0]%/*}/../..")
# shellcheck source=packaging/docker/ros.sh
source "$root/packaging/docker/ros.sh"

stages=(python pypi workers web)
if [[ ${1:-} != at-once ]]; then
  for crate in "$root"/adapters/*/Cargo.toml; do
    crate=${crate%/Cargo.toml}
    stages+=("worker-${crate##*/}")
  done
fi
"$root/packaging/setup/setup.sh" "${stages[@]}"
# What only building takes.
rm -rf "$root"/build/{cargo,npm,node} "$root/build/adapters" "$root/build/core"
