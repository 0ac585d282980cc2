#!/usr/bin/env bash
# build.sh [at-once]: makes the Python environment and builds the workers. With `at-once`, workers that take long to compile
# are left out. A step of the Dockerfiles.
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
# Removes files that only the build needs.
rm -rf "$root"/build/{cargo,npm,node} "$root/build/adapters" "$root/build/core" "${XDG_CACHE_HOME:-$HOME/.cache}/middlemark"
