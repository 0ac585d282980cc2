#!/usr/bin/env bash
# packages.sh: installs the packages of the set-up as root, and a sufficiently new Rust if the distribution has one. A step of
# the Dockerfiles.
set -euo pipefail
root=$(readlink -f -- "${BASH_SOURCE[0]%/*}/../..")
export DEBIAN_FRONTEND=noninteractive

apt-get update
apt-get install --yes --no-install-recommends ca-certificates git
"$root/packaging/setup/setup.sh" packages later-packages
if apt-cache show cargo-web >/dev/null 2>&1; then  # Debian 12 and 13, whose package cargo is too old for zenoh or iceoryx2
  apt-get install --yes --no-install-recommends cargo-web rustc-web
fi
apt-get clean
rm -rf /var/lib/apt/lists/*
