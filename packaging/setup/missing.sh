# Checks whether the system has everything that is needed. Used if the distribution is unknown.

# find_missing base|check: adds missing things to `lacks`.
find_missing() {
  local at_least=3.22 version
  if [[ $1 == check ]]; then
    find_missing_cmake_packages "GTest: GoogleTest, with its CMake package"
    command -v chromium chromium-browser >/dev/null || lacks+=("chromium, for the tests of reports")
    return
  fi
  command -v flock >/dev/null || lacks+=("flock (util-linux)")
  find_python >/dev/null || lacks+=("python3 >= 3.11 with the module venv")
  command -v ninja >/dev/null || lacks+=("ninja")
  command -v "${CXX:-c++}" >/dev/null || lacks+=("${CXX:-c++}: a C++20 compiler, GCC >= 11 or Clang >= 14")
  if ! command -v cmake >/dev/null; then
    lacks+=("cmake >= $at_least")
  else
    version=$(cmake --version | head -n 1)
    version=${version##* }
    if [[ $(printf '%s\n' "$at_least" "$version" | sort -V | head -n 1) != "$at_least" ]]; then
      lacks+=("cmake >= $at_least (there is $version)")
    fi
  fi
  if (( ${#lacks[@]} )); then
    lacks+=("fmt and nlohmann_json, with their CMake packages; not checked, because that takes a compiler and CMake")
  else
    find_missing_cmake_packages "fmt: the library fmt, with its CMake package" \
      "nlohmann_json: the library nlohmann-json, with its CMake package" \
      "Cxx20: a compiler and a library with C++20's concepts, span and jthread"
  fi
}

# find_missing_cmake_packages "NAME: description"…
find_missing_cmake_packages() {
  local scratch each
  scratch=$(mktemp -d)
  for each in "$@"; do
    cat >"$scratch/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(missing CXX)
set(CMAKE_CXX_STANDARD 20)
if("${each%%:*}" STREQUAL "Cxx20")
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("#include <concepts>\n#include <span>\n#include <thread>\nint main() { std::jthread thread; }" Cxx20)
  if(NOT Cxx20)
    message(FATAL_ERROR "no C++20")
  endif()
else()
  find_package(${each%%:*} REQUIRED)
endif()
CMAKE
    rm -rf "$scratch/build"
    logged cmake -S "$scratch" -B "$scratch/build" -G Ninja || lacks+=("$each")
  done
  rm -rf "$scratch"
}
