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
  set(ours --config "patch.crates-io.middlemark-adapter.path='${MIDDLEMARK_RUST}'")
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
  set(built ${CMAKE_BINARY_DIR}/cargo)  # one folder for all: what crates share is compiled once
  set(results ${built}/release/libmiddlemark_${name}.a)
  set(what --lib)
  if(MIDDLEMARK_BENCH AND EXISTS ${crate}/bench.rs)
    set(bench ${CMAKE_BINARY_DIR}/bin/bench_${name})
    list(APPEND results ${bench})
    list(APPEND what --example bench_${name})
    set(keep_bench COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin
                   COMMAND ${CMAKE_COMMAND} -E copy ${built}/release/examples/bench_${name} ${bench})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${crate}/src/*.rs ${MIDDLEMARK_RUST}/src/*.rs)
  list(APPEND sources ${crate}/Cargo.toml ${crate}/Cargo.lock ${MIDDLEMARK_RUST}/Cargo.toml)
  file(GLOB loop ${crate}/bench.rs ${PROJECT_SOURCE_DIR}/bench/rust/direct.rs)
  add_custom_command(
    OUTPUT ${results}
    COMMAND ${MIDDLEMARK_CARGO} build --release --locked --quiet ${what} --manifest-path ${crate}/Cargo.toml --target-dir ${built}
            ${ours}
    ${keep_bench}
    DEPENDS ${sources} ${loop}
    COMMENT "Building the Rust library middlemark_${name} (cargo; some minutes the first time)"
    USES_TERMINAL VERBATIM)
  add_custom_target(middlemark_${name}_cargo DEPENDS ${results})
  add_library(middlemark_${name} STATIC IMPORTED)
  set_target_properties(middlemark_${name} PROPERTIES IMPORTED_LOCATION ${built}/release/libmiddlemark_${name}.a
                                                      INTERFACE_LINK_LIBRARIES "pthread;dl;m"
                                                      INTERFACE_LINK_OPTIONS "LINKER:-z,noexecstack")  # as rustc links: assembly in a crate may not say that it needs no executable stack
  add_dependencies(middlemark_${name} middlemark_${name}_cargo)
endfunction()
