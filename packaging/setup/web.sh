# The libraries that HTML reports inline: Observable Plot and D3, from their npm packages.

# Only HTML reports need them, so a machine that cannot fetch them still measures. The set-up says so once, and `middlemark report` when
# they are missing.
set_up_web() {
  say "fetching what HTML reports draw with (npm: Observable Plot, D3)"
  rm -f build/web/absent
  if ! logged web/build build; then
    mkdir -p build/web
    echo "it could not be fetched; $log says why" >build/web/absent
    say "it could not be fetched, so there will be no HTML reports; the whole log is $log"
    printf '  %s\n' "packaging/setup/setup.sh again web" "tries it again"
  fi
}

# The packages of the browser tests.
set_up_check_web() {
  say "fetching what the tests of HTML reports need (npm: axe-core, eslint, playwright-core)"
  logged web/build build --for-checks ||
    fail "the npm packages were not installed; the whole log is $log" "is there a way to npm's packages from here? Then run this again"
  rm -f build/web/absent
}
