# Makes the virtual environment .venv from the lock file.

set_up_python() {
  local python
  if ! find_python >/dev/null; then set_up_packages python; fi
  python=$(find_python) || fail "there is no Python >= 3.11 with the module venv" "install python3 (>= 3.11) and python3-venv"
  say "making .venv with $("$python" --version) from packaging/requirements.lock"
  rm -rf .venv
  logged "$python" -m venv .venv || fail "the virtual environment was not made; the whole log is $log" "$python -m venv .venv"
  install_locked packaging/requirements.lock
}

# Adds the packages of the tests to .venv, so that tests use the same versions of packages as the command.
set_up_check_python() {
  say "adding packaging/requirements-dev.lock to .venv"
  install_locked packaging/requirements-dev.lock
}

# Installs a lock file without compiling to bytecode: each module is compiled at its first import.
install_locked() {
  logged .venv/bin/python -m pip install --disable-pip-version-check --no-input --no-compile --require-hashes \
    --requirement "$1" ||
    fail "the packages of $1 were not installed; the whole log is $log" \
      "check the connection to a Python package index, then run this again"
}

# Prints the path of the first suitable interpreter; tries the distribution's interpreter first. For a pyenv shim it prints the
# path of the interpreter that the shim starts.
find_python() {
  local name folder real
  local -a folders
  IFS=: read -r -a folders <<<"/usr/bin:$PATH"
  for folder in "${folders[@]}"; do
    for name in python3.13 python3.12 python3.11 python3; do
      if [[ ! -x $folder/$name ]]; then continue; fi
      real=$("$folder/$name" -c '
import sys, venv, ensurepip
if sys.version_info < (3, 11): sys.exit(1)
print(sys.executable)' 2>/dev/null) || continue
      if [[ -x $real ]]; then
        echo "$real"
        return
      fi
    done
  done
  return 1
}
