# What HTML reports inline: Observable Plot and D3, from their npm packages.

# Everything but the HTML report does without, so a machine without a way to the packages still measures: it is told once, and by
# `middlemark report` when it is missed.
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

# What the browser tests need beyond that.
set_up_check_web() {
  say "fetching what the tests of HTML reports need (npm: axe-core, eslint, playwright-core)"
  logged web/build build --for-checks ||
    fail "the npm packages were not installed; the whole log is $log" "is there a way to npm's packages from here? Then run this again"
  rm -f build/web/absent
}
