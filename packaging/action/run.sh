#!/usr/bin/env bash
# run.sh: does the work of action.yml. The inputs are variables INPUT_…, so the script can be run by hand. It measures a suite
# and writes the results to INPUT_OUT. With a base, it also measures another build of each adapter, interleaved, and ends with
# status 4 if that build was faster.
set -euo pipefail
root=$(readlink -f -- "${BASH_SOURCE[0]%/*}/../..")
read -r -a middlemark <<<"${MIDDLEMARK_COMMAND:-$root/middlemark}"
read -r -a options <<<"${INPUT_OPTIONS:-}"
out=${INPUT_OUT:-middlemark-results}
base=${INPUT_BASE:-}

main() {
  local adapter status=0 asked=()
  if [[ -n ${INPUT_PREFIX:-} ]]; then export CMAKE_PREFIX_PATH=$INPUT_PREFIX; fi  # the middleware for the workers
  if [[ -n ${INPUT_SUITE:-} ]]; then asked+=("$INPUT_SUITE"); fi
  if [[ -n ${INPUT_ADAPTER:-} ]]; then asked+=(--adapter "$INPUT_ADAPTER"); fi
  if [[ -n $base ]]; then
    if [[ $base == */* ]]; then
      for adapter in ${INPUT_ADAPTER//,/ }; do "${middlemark[@]}" build "$adapter" --prefix "$base" --as base; done
      base=base
    fi
    asked+=(--against "$base")
  fi

  mkdir -p "$out"
  "${middlemark[@]}" run "${asked[@]}" "${options[@]}" --out "$out/runs" --quiet || status=$?
  if [[ $status == 0 || $status == 1 || $status == 4 ]]; then show; fi
  exit "$status"
}

# Writes the results as HTML and Markdown, and in JUnit's format.
show() {
  local summary=() runs=("$out"/runs/*/)  # in the order of time, because a run's name begins with its time
  if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then summary=(--step-summary); fi
  # Fails without npm's packages, which HTML needs.
  "${middlemark[@]}" report "${runs[-1]}" --html "$out/report.html" --markdown "$out/report.md" "${summary[@]}" || true
  # The JUnit file contains each configuration, and the expectations of the comparison with the base.
  "${middlemark[@]}" export "${runs[-1]}" --to junit --out "$out/junit.xml"
}

main
