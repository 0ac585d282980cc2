# middlemark_rust_adapter(<name> CARGO <least version>)
#
# Makes the executable middlemark-worker-<name> from the crate middlemark_<name> (with _ for -) in this folder: see
# docs/how-to/add-an-adapter.md. Without a cargo of at least that version, reports this as the reason and does not build
# the adapter.
function(middlemark_rust_adapter name)
  string(REPLACE "-" "_" crate ${name})
  middlemark_rust_library(${crate} LACKS lacks ${ARGN})
  if(lacks)
    middlemark_left_out(${name} "${lacks}")
    return()
  endif()
  # The worker's C++ code is the same for all Rust adapters.
  if(NOT TARGET middlemark_rust_worker)
    add_library(middlemark_rust_worker OBJECT ${MIDDLEMARK_RUST}/worker.cpp ${MIDDLEMARK_RUST}/crowd.cpp
                                              ${MIDDLEMARK_RUST}/bridge.cpp)
    target_link_libraries(middlemark_rust_worker PRIVATE middlemark::core)
    target_compile_options(middlemark_rust_worker PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fconcepts-diagnostics-depth=3>)
    middlemark_precompile(middlemark_rust_worker)
    middlemark_bytes_and_cdr(middlemark_rust_worker)
  endif()
  middlemark_adapter(${name} LATER SOURCES $<TARGET_OBJECTS:middlemark_rust_worker> LINK middlemark_${crate})
  middlemark_bytes_and_cdr(middlemark-worker-${name})
endfunction()

# middlemark_cargo_folders()
#
# Sets MIDDLEMARK_CARGO_CACHE, the folder for cargo's compiled crates. All checkouts of a user share it, so that
# released crates are compiled once. `./middlemark build --clear-cache` removes it. If it cannot be written, or cargo is
# older than 1.91 and does not know CARGO_BUILD_BUILD_DIR, everything is in the build folder. Sets MIDDLEMARK_CARGO_KIT,
# the path of middlemark-adapter for cargo. Cargo identifies a crate by the paths of its dependencies, so this path is a
# link that is unique to the build folder. Otherwise cargo could use the adapter of another checkout, or of an earlier
# checkout at the same path.
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
    COMMAND sh -c [[
      cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/middlemark/cargo
      mkdir -p "$cache" && test -w "$cache" && cd "$cache" && pwd]]
    OUTPUT_VARIABLE cache OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT cache)
    set(cache ${CMAKE_BINARY_DIR}/cargo)
  endif()
  set(MIDDLEMARK_CARGO_CACHE ${cache} PARENT_SCOPE)
endfunction()

# The crate middlemark-adapter: installed next to this file, or in this project.
get_filename_component(MIDDLEMARK_RUST ${CMAKE_CURRENT_LIST_DIR}/rust ABSOLUTE)
if(NOT EXISTS ${MIDDLEMARK_RUST})
  get_filename_component(MIDDLEMARK_RUST ${CMAKE_CURRENT_LIST_DIR}/../core/kit/rust ABSOLUTE)
endif()

# middlemark_rust_library(<name> LACKS <variable> CARGO <least version>)
#
# Makes the static library middlemark_<name> from the crate of that name in this folder; its Cargo.lock pins the
# dependencies. With MIDDLEMARK_BENCH also builds the crate's example bench_<name>, if there is a bench.rs. Sets
# <variable> to a text about what is missing.
function(middlemark_rust_library name)
  cmake_parse_arguments(ARG "" "LACKS;CARGO" "" ${ARGN})
  set(${ARG_LACKS} "" PARENT_SCOPE)
  find_program(MIDDLEMARK_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  if(NOT MIDDLEMARK_CARGO)
    set(${ARG_LACKS} "there is no cargo (it needs ${ARG_CARGO} or newer)" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${MIDDLEMARK_CARGO} --version --verbose OUTPUT_VARIABLE cargo_version ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${cargo_version}")
  if(NOT version OR version VERSION_LESS ARG_CARGO)
    set(${ARG_LACKS} "cargo ${version} is older than ${ARG_CARGO}" PARENT_SCOPE)
    return()
  endif()

  set(crate ${CMAKE_CURRENT_SOURCE_DIR})
  middlemark_cargo_folders()
  set(ours --config "patch.crates-io.middlemark-adapter.path='${MIDDLEMARK_CARGO_KIT}'")
  # When a package is built, leave out an adapter whose crates are not available, because everything is built in one
  # step. A checkout builds such an adapter later, and cargo then reports the problem.
  if(MIDDLEMARK_WORKER_DESTINATION)
    string(REGEX MATCH "host: ([^\n]+)" host "${cargo_version}")
    foreach(network --offline "")
      execute_process(COMMAND ${MIDDLEMARK_CARGO} fetch --locked --quiet ${network} --target ${CMAKE_MATCH_1}
                              --manifest-path ${crate}/Cargo.toml ${ours}
                      RESULT_VARIABLE failed ERROR_VARIABLE error)
      if(NOT failed)
        break()
      endif()
    endforeach()
    if(failed)
      string(REGEX MATCH "error: [^\n]*" error "${error}")
      set(${ARG_LACKS} "its crates cannot be fetched (cargo: ${error})" PARENT_SCOPE)
      return()
    endif()
  endif()
  set(built ${CMAKE_BINARY_DIR}/cargo)
  set(cargo ${CMAKE_COMMAND} -E env CARGO_BUILD_BUILD_DIR=${MIDDLEMARK_CARGO_CACHE} ${MIDDLEMARK_CARGO})
  set(where --manifest-path ${crate}/Cargo.toml --target-dir ${built} ${ours})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${crate}/src/*.rs ${crate}/../common/*.rs ${MIDDLEMARK_RUST}/src/*.rs)
  list(APPEND sources ${crate}/Cargo.toml ${crate}/Cargo.lock ${MIDDLEMARK_RUST}/Cargo.toml)
  set(library ${built}/release/libmiddlemark_${name}.a)
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${cargo} build --release --locked --quiet --lib ${where}
    DEPENDS ${sources}
    COMMENT "Building the Rust library middlemark_${name} (cargo)"
    USES_TERMINAL VERBATIM)
  add_custom_target(middlemark_${name}_cargo DEPENDS ${library})
  # A separate command, so that the library is built identically with and without the benchmarks.
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
  # Add the linker option that rustc uses too, because assembly in a crate may lack the mark that it needs no executable
  # stack.
  set_target_properties(middlemark_${name} PROPERTIES IMPORTED_LOCATION ${library}
                                                      INTERFACE_LINK_LIBRARIES "pthread;dl;m"
                                                      INTERFACE_LINK_OPTIONS "LINKER:-z,noexecstack")
  add_dependencies(middlemark_${name} middlemark_${name}_cargo)
endfunction()
