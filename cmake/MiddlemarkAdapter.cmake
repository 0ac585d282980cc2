# middlemark_adapter(<name> [TYPE class] [HEADER file] [BYTES_AND_CDR] [CROWD] [LATER] [SOURCES file…] [LINK target…]
#                    [INCLUDE dir…])
#
# Makes the executable middlemark-worker-<name>, linked with the core, from the adapter TYPE in adapter.hpp (or HEADER)
# of this folder. Its main() is generated; without TYPE it is in main.cpp (or SOURCES). BYTES_AND_CDR: the adapter sends
# bytes, so that the kit can serialise typed messages for it (middlemark_bytes_and_cdr). CROWD: the adapter TYPE can be a
# participant of a crowd; an adapter without TYPE calls register_crowd() in a source file of its own. Used by the adapters of this
# project and, through find_package(middlemark), by adapters in other repositories. Builds Release by default: the
# core's roles are templates that are compiled here, and at -O0 they would take most of the measured time. LATER: the
# adapter takes long to compile or is rarely used, so the target middlemark-workers-at-once does not include it;
# middlemark-workers includes all. If the name has a version, as in fastdds@3.2.3, the target is middlemark-worker-fastdds-3.2.3.
function(middlemark_adapter name)
  cmake_parse_arguments(ARG "LATER;BYTES_AND_CDR;CROWD" "TYPE;HEADER" "SOURCES;LINK;INCLUDE" ${ARGN})
  if(ARG_TYPE)
    middlemark_main(${CMAKE_CURRENT_BINARY_DIR}/main.cpp ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
    list(APPEND ARG_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/main.cpp)
    if(ARG_CROWD)
      middlemark_main(${CMAKE_CURRENT_BINARY_DIR}/crowd.cpp ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN} FROM ${MIDDLEMARK_CROWD})
      list(APPEND ARG_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/crowd.cpp)
    endif()
  elseif(NOT ARG_SOURCES)
    set(ARG_SOURCES main.cpp)
  endif()
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    message(STATUS "adapter ${name}: CMAKE_BUILD_TYPE is not set, using Release")
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  string(REPLACE "@" "-" worker middlemark-worker-${name})  # a target's name cannot contain @
  set(note ${CMAKE_BINARY_DIR}/workers/middlemark-left-out-${name})
  if(ARG_LATER AND PROJECT_NAME STREQUAL "middlemark")
    file(WRITE ${note} "it is built on request; `./middlemark build`, or a run that names it, builds it\n")
  else()
    file(REMOVE ${note})
  endif()
  add_executable(${worker} ${ARG_SOURCES})
  target_link_libraries(${worker} PRIVATE middlemark::core ${ARG_LINK})
  target_compile_options(${worker} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fconcepts-diagnostics-depth=3>)
  if(ARG_INCLUDE)
    target_include_directories(${worker} SYSTEM PRIVATE ${ARG_INCLUDE})
  endif()
  set_target_properties(
    ${worker} PROPERTIES OUTPUT_NAME middlemark-worker-${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workers)
  middlemark_precompile(${worker})
  if(ARG_BYTES_AND_CDR)
    middlemark_bytes_and_cdr(${worker})
  endif()
  if(NOT TARGET middlemark-workers)
    add_custom_target(middlemark-workers)
    add_custom_target(middlemark-workers-at-once)
  endif()
  add_dependencies(middlemark-workers ${worker})
  if(NOT ARG_LATER)
    add_dependencies(middlemark-workers-at-once ${worker})
  endif()
  if(MIDDLEMARK_WORKER_DESTINATION)
    install(TARGETS ${worker} RUNTIME DESTINATION ${MIDDLEMARK_WORKER_DESTINATION})
  endif()
endfunction()

# middlemark_main(<file> <folder> TYPE class [HEADER file] [BYTES_AND_CDR] [FROM template]): writes the main() of the
# adapter in a folder, or the file that another template makes for it.
set(MIDDLEMARK_MAIN ${CMAKE_CURRENT_LIST_DIR}/main.cpp.in)
set(MIDDLEMARK_CROWD ${CMAKE_CURRENT_LIST_DIR}/crowd.cpp.in)
function(middlemark_main file folder)
  cmake_parse_arguments(ARG "BYTES_AND_CDR" "TYPE;HEADER;FROM" "" ${ARGN})
  if(NOT ARG_FROM)
    set(ARG_FROM ${MIDDLEMARK_MAIN})
  endif()
  if(NOT ARG_HEADER)
    set(ARG_HEADER adapter.hpp)
  endif()
  set(MIDDLEMARK_MAIN_TYPE ${ARG_TYPE})
  set(MIDDLEMARK_MAIN_INCLUDES "")
  if(ARG_BYTES_AND_CDR)
    set(MIDDLEMARK_MAIN_TYPE middlemark::kit::BytesAndCdr<${ARG_TYPE}>)
    set(MIDDLEMARK_MAIN_INCLUDES "#include <middlemark/kit/cdr.hpp>\n")
  endif()
  string(APPEND MIDDLEMARK_MAIN_INCLUDES "#include \"${folder}/${ARG_HEADER}\"\n")
  configure_file(${ARG_FROM} ${file} @ONLY)
endfunction()

# Compiles a target with the header that this project's workers share.
function(middlemark_precompile target)
  if(TARGET middlemark_precompiled)
    # Some middlewares require -pthread, which defines a macro, so all targets use it. A target that cannot use the
    # header only compiles more slowly.
    target_compile_options(${target} PRIVATE -pthread -Wno-error=invalid-pch)
    target_precompile_headers(${target} REUSE_FROM middlemark_precompiled)
  endif()
endfunction()

# middlemark_left_out(<name> <reason>)
#
# Reports why the adapter <name> is not built, and what the user can do to have it built. Writes the reason to a file
# next to the workers, where the command `middlemark` reads it. Call before return().
function(middlemark_left_out name reason)
  message(STATUS "adapter ${name}: not built, ${reason}")
  set(note ${CMAKE_BINARY_DIR}/workers/middlemark-left-out-${name})
  file(WRITE ${note} "${reason}\n")
  if(MIDDLEMARK_WORKER_DESTINATION)
    install(FILES ${note} DESTINATION ${MIDDLEMARK_WORKER_DESTINATION})
  endif()
endfunction()

# middlemark_require(<name> <variable> <reason>)
#
# Unless the variable is true, reports the reason with middlemark_left_out() and ends the CMakeLists.txt that calls it.
macro(middlemark_require name variable reason)
  if(NOT ${variable})
    middlemark_left_out(${name} "${reason}")
    return()
  endif()
endmacro()

# middlemark_pkg_config(<name> <prefix> <module> <reason>)
#
# Makes the target PkgConfig::<prefix> of a pkg-config module, and requires it as middlemark_require() does.
macro(middlemark_pkg_config name prefix module reason)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET "${module}")
  endif()
  middlemark_require(${name} ${prefix}_FOUND "${reason}")
endmacro()
