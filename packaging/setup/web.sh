# Fetches the libraries that HTML reports contain, Observable Plot and D3, from their npm packages.

# If the libraries cannot be fetched, the set-up prints a message once and continues, because only HTML reports need them.
# `middlemark report` prints a message if they are missing.
set_up_web() {
  say "fetching the libraries of HTML reports (npm: Observable Plot, D3)"
  rm -f build/web/absent
  if ! logged web/build build; then
    mkdir -p build/web
    echo "the libraries could not be fetched; see $log" >build/web/absent
    say "could not fetch the libraries, so there will be no HTML reports; the whole log is $log"
    printf '  %s\n' "packaging/setup/setup.sh again web" "tries again"
  fi
}

# Fetches the packages of the browser tests.
set_up_check_web() {
  say "fetching the packages for tests of HTML reports (npm: axe-core, eslint, playwright-core)"
  logged web/build build --for-checks ||
    fail "the npm packages were not installed; the whole log is $log" \
      "check the connection to the npm registry, then run this again"
  rm -f build/web/absent
}
