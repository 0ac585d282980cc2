# middlemark_rust_library(<target> FOUND <variable> CARGO <least version>)
#
# Makes the static library <target> out of the crate in rust/ of this folder, whose library must be called <target>. What it depends on is pinned by its Cargo.lock.
# <variable> is false, with the reason in <variable>_REASON, where there is no cargo of that version.
function(middlemark_rust_library target)
  cmake_parse_arguments(ARG "" "FOUND;CARGO" "" ${ARGN})
  set(${ARG_FOUND} OFF PARENT_SCOPE)
  find_program(MIDDLEMARK_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  if(NOT MIDDLEMARK_CARGO)
    set(${ARG_FOUND}_REASON "there is no cargo (it needs ${ARG_CARGO} or newer)" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${MIDDLEMARK_CARGO} --version OUTPUT_VARIABLE said ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${said}")
  if(NOT version OR version VERSION_LESS ARG_CARGO)
    set(${ARG_FOUND}_REASON "cargo ${version} is older than ${ARG_CARGO}" PARENT_SCOPE)
    return()
  endif()

  set(crate ${CMAKE_CURRENT_SOURCE_DIR}/rust)
  set(built ${CMAKE_BINARY_DIR}/cargo/${target})
  set(library ${built}/release/lib${target}.a)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${crate}/src/*.rs)
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${MIDDLEMARK_CARGO} build --release --locked --quiet --manifest-path ${crate}/Cargo.toml --target-dir ${built}
    DEPENDS ${crate}/Cargo.toml ${crate}/Cargo.lock ${sources}
    COMMENT "Building the Rust library ${target} (cargo; some minutes the first time)"
    USES_TERMINAL VERBATIM)
  add_custom_target(${target}_cargo DEPENDS ${library})
  add_library(${target} STATIC IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${library} INTERFACE_LINK_LIBRARIES "pthread;dl;m")
  add_dependencies(${target} ${target}_cargo)
  set(${ARG_FOUND} ON PARENT_SCOPE)
endfunction()
