#!/usr/bin/env bash
# build.sh [at-once]: the Python environment and the workers, those left for later too unless it is `at-once`. A step of the Dockerfiles.
set -euo pipefail
root=$(readlink -f -- "${BASH_SOURCE[0]%/*}/../..")
# shellcheck source=packaging/docker/ros.sh
source "$root/packaging/docker/ros.sh"
# shellcheck source=packaging/setup/stages.sh
source "$root/packaging/setup/stages.sh"

stages=(python pypi workers web)
if [[ ${1:-} != at-once ]]; then
  later_adapters
  stages+=("${later[@]/#/worker-}")
fi
"$root/packaging/setup/setup.sh" "${stages[@]}"
# What only building takes.
rm -rf "$root"/build/{cargo,npm,node} "$root/build/adapters" "$root/build/core" "${XDG_CACHE_HOME:-$HOME/.cache}/middlemark"
