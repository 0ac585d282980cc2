# Debian 13 in a folder: a root made by debootstrap, with the packages of packaging/distributions/debian-13.txt and of
# the adapters. Needs root. The mirror and the settings of apt and pip are taken from the host at run time. Sourced by
# scripts/check-in.
# shellcheck shell=bash disable=SC2154

readonly home=$root/build-check-in/$target
source scripts/systems.sh

check_in() {
  local what='the work tree' status=0
  can_make_systems
  make_system trixie
  if [[ -z $dirty ]]; then what=$(git log -1 --format='the commit %h (%s)'); fi
  say "copying $what to build-check-in/$target"
  checkout_into "$checkout"
  say "setting up packages and Python as ./middlemark and ./check do"
  logged scripts/inside --show /etc/pip.conf --show /etc/ssl/certs/ca-certificates.crt "$system" \
    /middlemark/packaging/setup/setup.sh packages later-packages check-packages check-rest-packages python check-python pypi ||
    fail "packages and Python were not set up; the whole log is $log"
  choose_adapters
  build_workers
  run_conformance || status=1
  sum_up || status=1
  return "$status"
}

# Sets `chosen`: the requested adapters, or every adapter whose packages the distribution has. Adds null, which the conformance
# suite needs.
choose_adapters() {
  local adapter wanted
  wanted=${adapters//,/ }
  # shellcheck disable=SC2016
  if [[ -z $wanted ]]; then
    wanted=$(bash -c 'root=$1; source "$1/packaging/setup/lists.sh"; adapters_of debian-13' - "$checkout")
  fi
  chosen=(null)
  for adapter in $wanted; do
    if [[ -f $checkout/adapters/$adapter/CMakeLists.txt ]]; then
      if [[ $adapter != null ]]; then chosen+=("$adapter"); fi
    else
      fail "there is no adapter $adapter in the checkout"
    fi
  done
}

build_workers() {
  local joined
  joined=$(IFS=';'; echo "${chosen[*]}")
  say "building ${chosen[*]}"
  logged inside_alone nice cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "-DMIDDLEMARK_ADAPTERS=$joined" ||
    fail "cmake did not configure the workers; the whole log is $log"
  sed -n 's/^-- \(adapter .*: not built, .*\)$/middlemark: \1/p' "$log"
  rm -f "$checkout"/build/workers/middlemark-worker-*
  logged inside_alone nice cmake --build build --target middlemark-workers --parallel "$(jobs_here)" -- -k 0 ||
    say "not all workers compile; see build-check-in/$target/check-in.log"
}

run_conformance() {
  local options=(-q -rfE -p no:cacheprovider --junitxml=build/conformance.xml --dist loadscope)
  options+=(--tx "$((4 * $(jobs_here)))*popen//python=/middlemark/scripts/alone /middlemark/.venv/bin/python")  # as in ./check
  if [[ -n $expression ]]; then options+=(-k "$expression"); fi
  rm -f "$checkout/build/conformance.xml"
  say "the conformance suite in that system (build-check-in/$target/conformance.log)"
  if with_workers -m pytest conformance "${options[@]}" >"$home/conformance.log" 2>&1; then
    tail -n 1 "$home/conformance.log"
  else
    tail -n 60 "$home/conformance.log"
    return 1
  fi
}

# Prints name, version and passed, failed and skipped tests of every adapter. Returns 1 if a chosen adapter was not
# built.
sum_up() {
  with_workers -m middlemark list adapters >"$home/adapters.txt"
  python3 - "$home/adapters.txt" "$checkout/build/conformance.xml" "${chosen[@]}" <<'PYTHON'
import re
import sys
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path

listed, results, *chosen = sys.argv[1:]
rows = (line.split(maxsplit=2) for line in Path(listed).read_text().splitlines() if line and not line[0].isspace())
versions = {row[0]: row[1] for row in rows if len(row) > 1}
counts: dict[str, Counter[str]] = {name: Counter() for name in [*chosen, ""]}
for case in tree.parse(results).iter("testcase"):
    # A test's name ends in [… adapter-transport …]. If the names of two adapters match, take the longer one, because
    # one adapter's name may begin with another's.
    parameters = (re.search(r"\[(.*)\]", case.get("name", "")) or ["", ""])[1]
    fits = {name: re.search(rf"(?:^|-){re.escape(name)}(?=-|$)", parameters) for name in chosen}
    owner = min((name for name, fit in fits.items() if fit), key=lambda name: (fits[name].start(), -len(name)), default="")
    outcome = next((tag for tag in ("failure", "error", "skipped") if case.find(tag) is not None), "passed")
    counts[owner]["failed" if outcome in ("failure", "error") else outcome] += 1
print(f"{'adapter':<16} {'version':<22} {'passed':>7} {'failed':>7} {'skipped':>7}")
for name, count in counts.items():
    version = versions.get(name, "not built") if name else ""
    print(f"{name or '(of all)':<16} {version:<22} {count['passed']:>7} {count['failed']:>7} {count['skipped']:>7}")
sys.exit(any(name and name not in versions for name in counts))
PYTHON
}

with_workers() { inside_alone env PYTHONPATH=src MIDDLEMARK_WORKERS=/middlemark/build/workers .venv/bin/python "$@"; }

inside_alone() { scripts/inside --alone "$system" sh -c 'cd /middlemark && exec "$@"' - "$@"; }
