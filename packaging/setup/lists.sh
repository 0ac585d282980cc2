# What is wanted of a distribution: its own list for what all need, and of each adapter the file packages.txt in its folder.
# Sourced. Needs $root.

# The distribution's name here: debian-12.
distribution_id() { (. /etc/os-release 2>/dev/null; echo "${ID:-unknown}-${VERSION_ID:-unknown}"); }

# package_list DISTRIBUTION: [section] its purpose, then a package a line. A section with an adapter's name is the adapter's. Nothing of a
# distribution that is not known here.
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

# The sections [pypi]: a line PACKAGE==VERSION PYTHON PLATFORM sha256:HASH, as pip names them, for each processor that there is a wheel for.
pypi_list() { cat /dev/null "$root"/adapters/*/packages.txt 2>/dev/null | awk '/^\[/ { ours = $1 == "[pypi]"; next } ours && NF && !/^#/'; }

# adapters_of DISTRIBUTION: those whose packages it has, on this processor, and those that ask for none.
adapters_of() {
  local folder
  for folder in "$root"/adapters/*/; do
    if [[ ! -f ${folder}CMakeLists.txt ]]; then continue; fi
    if grep -qsF "[pypi]" "${folder}packages.txt" && ! grep -q "_$(uname -m) " "${folder}packages.txt"; then continue; fi
    if [[ ! -f ${folder}packages.txt ]] || grep -qF "[$1]" "${folder}packages.txt"; then basename "$folder"; fi
  done
}
