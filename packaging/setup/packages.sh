# Installs missing packages of the distribution, after listing them.

# set_up_packages SECTION…: installs the packages of these sections. `python` is the part of [base] that the command needs to
# run. If the distribution has no list, only base, python and check are checked, and they must be named first.
set_up_packages() {
  local wanted=" $* " list missing=() required=() section line
  list=$(package_list "$(distribution_id)")
  if [[ -z $list ]]; then
    if [[ $1 == base || $1 == python || $1 == check ]]; then check_unknown_distribution "$1"; fi
    return
  fi

  local -A why=() lacking=()
  local installed sections=()
  installed=$'\n'$(packages_of <<<"$list" | installed_of)
  while read -r line; do
    case $line in
      '' | '#'*) ;;
      '['*)
        section=${line#[}
        section=${section%%]*}
        why[$section]=${line#*] }
        sections+=("$section")
        ;;
      *)
        if [[ $wanted != *" $section "* && ! ($wanted == " python " && $section == base && $line == python*) ]]; then continue; fi
        if [[ $installed == *$'\n'"$line "* ]]; then continue; fi
        missing+=("$line")
        lacking[$section]+=" $line"
        if [[ $section == base || $section == check* ]]; then required+=("$line"); fi
        ;;
    esac
  done <<<"$list"
  if (( ${#missing[@]} == 0 )); then return; fi

  say "packages of $(distribution_name) that are missing:"
  for section in "${sections[@]}"; do
    if [[ -n ${lacking[$section]:-} ]]; then printf '  %-34s%s: %s\n' "${lacking[$section]# }" "$section" "${why[$section]}"; fi
  done
  install_packages
}

# Installs the packages in `missing`. Without root or sudo it continues if only middleware is missing, and stops if a package in
# `required` is missing.
install_packages() {
  local as_root=() command="apt-get install --no-install-recommends ${missing[*]}"
  if (( EUID != 0 )); then
    command="sudo $command"
    if ! command -v sudo >/dev/null; then
      if (( ${#required[@]} )); then
        fail "cannot install the packages: not root, and there is no sudo" "as root: ${command#sudo }"
      fi
      say "continuing without them: not root, and there is no sudo. As root: ${command#sudo }"
      return
    fi
    as_root=(sudo)
    if ! { : >/dev/tty; } 2>/dev/null; then as_root+=(--non-interactive); fi  # nobody can type a password
    say "installing the packages with sudo"
    if ! "${as_root[@]}" true; then fail "sudo was refused" "$command"; fi
  else
    say "installing the packages"
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
  logged "${as_root[@]}" update || say "apt-get update failed; trying with the existing lists"
  logged "${as_root[@]}" install --yes --no-install-recommends "${missing[@]}" ||
    fail "the packages were not installed; the whole log is $log" "$command" \
      "on Ubuntu most of them are in the component universe: add-apt-repository universe"
}

packages_of() { grep -vE '^(#|\[|$)'; }

# Reads package names and prints `NAME VERSION` of those that are installed.
installed_of() {
  xargs --no-run-if-empty dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' 2>/dev/null |
    sed -n 's/^installed //p' | sort -u || true
}

# Writes the versions of the packages that the build depends on to installed.txt, `NAME VERSION` per line, if they changed.
# Libraries of a listed -dev package need no line: Debian's -dev packages depend on exactly the same version of the library,
# and packages built against a changed ABI also get a new version. Programs that are only run (cmake, python3) are not listed.
note_installed() {
  local compiler file=$setup_state/installed.txt
  find_compiler
  {
    printf 'compiler %s %s\n' "$compiler" "$("$compiler" --version 2>/dev/null | head -n 1)"
    cat "$root"/packaging/distributions/*.txt | awk '/^\[/ { base = /^\[base\]/ } base && /-dev$/' | installed_of
    { cat "$root"/adapters/*/packages.txt 2>/dev/null || true; } | awk 'NF && !/^[#[]/ && !/==/' | installed_of
  } | awk '!seen[$0]++' >"$file.new"
  if cmp --silent "$file.new" "$file"; then rm "$file.new"; else mv "$file.new" "$file"; fi
}

distribution_name() { (. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME:-this system}"); }

# For a distribution without a list: prints everything that is missing, and continues if nothing is missing.
check_unknown_distribution() {
  local lacks=() known
  source "$root/packaging/setup/missing.sh"
  find_missing "$1"
  if (( ${#lacks[@]} == 0 )); then
    say "$(distribution_name) is an unknown distribution, but everything needed is installed"
    return
  fi
  known=$(cd "$root/packaging/distributions" && echo *.txt)
  say "$(distribution_name) is an unknown distribution (known: ${known//.txt/}); install this yourself:"
  printf '  %s\n' "${lacks[@]}"
  fail "${#lacks[@]} missing" "install them, then run this again"
}
