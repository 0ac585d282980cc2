#!/usr/bin/env bash
# start.sh ARGUMENT…: runs `middlemark ARGUMENT…` in the container, with the ROS 2 of its image. Runs are stored in the
# current folder.
set -euo pipefail
root=$(readlink -f -- "${BASH_SOURCE[0]%/*}/../..")
# shellcheck source=packaging/docker/ros.sh
source "$root/packaging/docker/ros.sh"
MIDDLEMARK_NAME=middlemark MIDDLEMARK_SETUP=off exec "$root/middlemark" "$@"
