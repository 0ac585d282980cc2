# middlemark_rust_adapter(<name> CARGO <least version>)
#
# Makes the executable middlemark-worker-<name> out of the crate middlemark_<name> (with _ for -) in this folder, as docs/add-an-adapter.md
# says. Where there is no cargo of that version the adapter is left out, and says so.
function(middlemark_rust_adapter name)
  string(REPLACE "-" "_" crate ${name})
  middlemark_rust_library(${crate} LACKS lacks ${ARGN})
  if(lacks)
    middlemark_left_out(${name} "${lacks}")
    return()
  endif()
  # The worker's own code is the same for all of them.
  if(NOT TARGET middlemark_rust_worker)
    add_library(middlemark_rust_worker OBJECT ${MIDDLEMARK_RUST}/worker.cpp ${MIDDLEMARK_RUST}/bridge.cpp)
    target_link_libraries(middlemark_rust_worker PRIVATE middlemark::core)
    middlemark_bytes_and_cdr(middlemark_rust_worker)
  endif()
  middlemark_adapter(${name} LATER SOURCES $<TARGET_OBJECTS:middlemark_rust_worker> LINK middlemark_${crate})
  middlemark_bytes_and_cdr(middlemark-worker-${name})
endfunction()

# middlemark_cargo_folders()
#
# Sets MIDDLEMARK_CARGO_CACHE, where cargo keeps what it compiles: one folder for all checkouts of a user, so that released crates are
# compiled once. `./middlemark build --clear-cache` removes it. Where it cannot be written, and with a cargo older than 1.91, which does
# not know CARGO_BUILD_BUILD_DIR, everything is in the build folder. Sets MIDDLEMARK_CARGO_KIT, the path of middlemark-adapter for cargo.
# Cargo tells crates apart by the paths of what they depend on, so this path is a link that no other build folder has: an adapter is
# never taken for that of another checkout, nor for one that was built earlier at the same place.
function(middlemark_cargo_folders)
  if(NOT MIDDLEMARK_CARGO_IDENTITY)
    string(RANDOM LENGTH 16 ALPHABET 0123456789abcdef identity)
    set(MIDDLEMARK_CARGO_IDENTITY ${identity} CACHE INTERNAL "")
  endif()
  set(kit ${CMAKE_BINARY_DIR}/cargo/kit-${MIDDLEMARK_CARGO_IDENTITY})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cargo)
  file(CREATE_LINK ${MIDDLEMARK_RUST} ${kit} SYMBOLIC)
  set(MIDDLEMARK_CARGO_KIT ${kit} PARENT_SCOPE)

  execute_process(
    COMMAND sh -c [[cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/middlemark/cargo; mkdir -p "$cache" && test -w "$cache" && cd "$cache" && pwd]]
    OUTPUT_VARIABLE cache OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT cache)
    set(cache ${CMAKE_BINARY_DIR}/cargo)
  endif()
  set(MIDDLEMARK_CARGO_CACHE ${cache} PARENT_SCOPE)
endfunction()

# The crate middlemark-adapter: installed beside this file, or in the house.
get_filename_component(MIDDLEMARK_RUST ${CMAKE_CURRENT_LIST_DIR}/rust ABSOLUTE)
if(NOT EXISTS ${MIDDLEMARK_RUST})
  get_filename_component(MIDDLEMARK_RUST ${CMAKE_CURRENT_LIST_DIR}/../core/kit/rust ABSOLUTE)
endif()

# middlemark_rust_library(<name> LACKS <variable> CARGO <least version>)
#
# Makes the static library middlemark_<name>, which a crate of that name in this folder must build; what it depends on is pinned by its
# Cargo.lock. With MIDDLEMARK_BENCH also the crate's example bench_<name>, where there is a bench.rs. <variable> is what is missing.
function(middlemark_rust_library name)
  cmake_parse_arguments(ARG "" "LACKS;CARGO" "" ${ARGN})
  set(${ARG_LACKS} "" PARENT_SCOPE)
  find_program(MIDDLEMARK_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  if(NOT MIDDLEMARK_CARGO)
    set(${ARG_LACKS} "there is no cargo (it needs ${ARG_CARGO} or newer)" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${MIDDLEMARK_CARGO} --version --verbose OUTPUT_VARIABLE said ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${said}")
  if(NOT version OR version VERSION_LESS ARG_CARGO)
    set(${ARG_LACKS} "cargo ${version} is older than ${ARG_CARGO}" PARENT_SCOPE)
    return()
  endif()

  set(crate ${CMAKE_CURRENT_SOURCE_DIR})
  middlemark_cargo_folders()
  set(ours --config "patch.crates-io.middlemark-adapter.path='${MIDDLEMARK_CARGO_KIT}'")
  # A package is built in one go, so what it cannot have is left out; a checkout builds this later, and cargo says what is wrong then.
  if(MIDDLEMARK_WORKER_DESTINATION)
    string(REGEX MATCH "host: ([^\n]+)" host "${said}")
    foreach(network --offline "")
      execute_process(COMMAND ${MIDDLEMARK_CARGO} fetch --locked --quiet ${network} --target ${CMAKE_MATCH_1} --manifest-path ${crate}/Cargo.toml ${ours}
                      RESULT_VARIABLE failed ERROR_VARIABLE told)
      if(NOT failed)
        break()
      endif()
    endforeach()
    if(failed)
      string(REGEX MATCH "error: [^\n]*" told "${told}")
      set(${ARG_LACKS} "its crates cannot be fetched (cargo: ${told})" PARENT_SCOPE)
      return()
    endif()
  endif()
  set(built ${CMAKE_BINARY_DIR}/cargo)
  set(cargo ${CMAKE_COMMAND} -E env CARGO_BUILD_BUILD_DIR=${MIDDLEMARK_CARGO_CACHE} ${MIDDLEMARK_CARGO})
  set(where --manifest-path ${crate}/Cargo.toml --target-dir ${built} ${ours})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${crate}/src/*.rs ${MIDDLEMARK_RUST}/src/*.rs)
  list(APPEND sources ${crate}/Cargo.toml ${crate}/Cargo.lock ${MIDDLEMARK_RUST}/Cargo.toml)
  set(library ${built}/release/libmiddlemark_${name}.a)
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${cargo} build --release --locked --quiet --lib ${where}
    DEPENDS ${sources}
    COMMENT "Building the Rust library middlemark_${name} (cargo)"
    USES_TERMINAL VERBATIM)
  add_custom_target(middlemark_${name}_cargo DEPENDS ${library})
  # A command of its own: with and without the benchmarks the library is built alike.
  if(MIDDLEMARK_BENCH AND EXISTS ${crate}/bench.rs)
    set(bench ${CMAKE_BINARY_DIR}/bin/bench_${name})
    add_custom_command(
      OUTPUT ${bench}
      COMMAND ${cargo} build --release --locked --quiet --example bench_${name} ${where}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin
      COMMAND ${CMAKE_COMMAND} -E copy ${built}/release/examples/bench_${name} ${bench}
      DEPENDS ${library} ${crate}/bench.rs ${PROJECT_SOURCE_DIR}/bench/rust/direct.rs
      COMMENT "Building bench_${name} (cargo)"
      USES_TERMINAL VERBATIM)
    add_custom_target(bench_${name} ALL DEPENDS ${bench})
  endif()
  add_library(middlemark_${name} STATIC IMPORTED)
  set_target_properties(middlemark_${name} PROPERTIES IMPORTED_LOCATION ${library}
                                                      INTERFACE_LINK_LIBRARIES "pthread;dl;m"
                                                      INTERFACE_LINK_OPTIONS "LINKER:-z,noexecstack")  # as rustc links: assembly in a crate may not say that it needs no executable stack
  add_dependencies(middlemark_${name} middlemark_${name}_cargo)
endfunction()
