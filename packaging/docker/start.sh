#!/usr/bin/env bash
# start.sh ARGUMENT…: `middlemark ARGUMENT…` in the container, with the ROS 2 that its image has. Runs are kept in the folder where it starts.
set -euo pipefail
root=$(readlink -f -- "${BASH_SOURCE[0]%/*}/../..")
# shellcheck source=packaging/docker/ros.sh
source "$root/packaging/docker/ros.sh"
MIDDLEMARK_SETUP=off exec "$root/middlemark" "$@"
