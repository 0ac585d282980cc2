# Lists the packages that the set-up installs: the distribution's list for all adapters, and packages.txt in the folder of
# each adapter. Sourced. Needs $root.

# Prints the name of the distribution, such as debian-12.
distribution_id() { (. /etc/os-release 2>/dev/null; echo "${ID:-unknown}-${VERSION_ID:-unknown}"); }

# package_list DISTRIBUTION: prints each [section] with its purpose, then its packages, one per line. The packages of an
# adapter are in a section with the adapter's name. Prints nothing for an unknown distribution.
package_list() {
  local file adapter
  cat "$root/packaging/distributions/$1.txt" 2>/dev/null || return 0
  for file in "$root"/adapters/*/packages.txt; do
    if [[ ! -f $file ]]; then continue; fi
    adapter=${file%/packages.txt}
    awk -v wanted="[$1]" -v adapter="${adapter##*/}" \
      '/^\[/ { ours = $1 == wanted; sub(/^[^ ]*/, "[" adapter "]") } ours && !/^#/' "$file"
  done
}

# Prints the sections [pypi]: lines PACKAGE==VERSION PYTHON PLATFORM sha256:HASH in pip's terms, one for each kind of processor
# for which there is a wheel.
pypi_list() {
  cat /dev/null "$root"/adapters/*/packages.txt 2>/dev/null |
    awk '/^\[/ { ours = $1 == "[pypi]"; next } ours && NF && !/^#/'
}

# adapters_of DISTRIBUTION: prints the adapters whose packages the distribution has for this processor, and the adapters that
# need no packages.
adapters_of() {
  local folder
  for folder in "$root"/adapters/*/; do
    if [[ ! -f ${folder}CMakeLists.txt ]]; then continue; fi
    if grep -qsF "[pypi]" "${folder}packages.txt" && ! grep -q "_$(uname -m) " "${folder}packages.txt"; then continue; fi
    if [[ ! -f ${folder}packages.txt ]] || grep -qF "[$1]" "${folder}packages.txt"; then basename "$folder"; fi
  done
}
