# Unpacks into build/pypi/<package> the PyPI packages whose libraries and programs adapters use. Any version of Python
# will do.

# If a package cannot be fetched or does not exist for this platform, the set-up continues: only the adapter that needs it is
# not built, and a message says why.
set_up_pypi() {
  local package python platform hash folder
  while read -r package python platform hash; do
    folder=build/pypi/${package%%==*}
    if [[ $platform != *_$(uname -m) || $(cat "$folder/of" 2>/dev/null) == "$package $hash" ]]; then continue; fi
    say "fetching ${package/==/ } (PyPI)"
    rm -rf "$folder"
    mkdir -p build/pypi
    echo "$package --hash=$hash" >build/pypi/wanted.txt
    if logged .venv/bin/python -m pip install --disable-pip-version-check --no-input --no-compile --no-deps --only-binary :all: \
      --python-version "$python" --platform "$platform" --require-hashes \
      --requirement build/pypi/wanted.txt --target "$folder"; then
      echo "$package $hash" >"$folder/of"
    else
      say "could not fetch ${package/==/ }, so its adapter will not be built; the whole log is $log"
      printf '  %s\n' "packaging/setup/setup.sh again pypi" "tries again"
    fi
  done < <(pypi_list)
}
