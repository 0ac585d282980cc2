# middlemark_adapter(<name> [LATER] [SOURCES file…] [LINK target…] [INCLUDE dir…])
#
# Makes the executable middlemark-worker-<name> from main.cpp (or SOURCES) in this folder, linked with the core. Used by
# the adapters of this project and, through find_package(middlemark), by adapters in other repositories. Builds Release
# by default: the core's roles are templates that are compiled here, and at -O0 they would dominate the measurement.
# LATER: the adapter takes long to compile or is rarely used, so the target middlemark-workers-at-once does not include
# it; middlemark-workers includes all.
function(middlemark_adapter name)
  cmake_parse_arguments(ARG "LATER" "" "SOURCES;LINK;INCLUDE" ${ARGN})
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES main.cpp)
  endif()
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    message(STATUS "adapter ${name}: CMAKE_BUILD_TYPE is not set, using Release")
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  set(worker middlemark-worker-${name})
  set(note ${CMAKE_BINARY_DIR}/workers/middlemark-left-out-${name})
  if(ARG_LATER AND PROJECT_NAME STREQUAL "middlemark")
    file(WRITE ${note} "it takes long to compile; `./middlemark build`, or a run that names it, builds it\n")
  else()
    file(REMOVE ${note})
  endif()
  add_executable(${worker} ${ARG_SOURCES})
  target_link_libraries(${worker} PRIVATE middlemark::core ${ARG_LINK})
  target_compile_options(${worker} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fconcepts-diagnostics-depth=3>)
  if(ARG_INCLUDE)
    target_include_directories(${worker} SYSTEM PRIVATE ${ARG_INCLUDE})
  endif()
  set_target_properties(${worker} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workers)
  middlemark_precompile(${worker})
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

# Compiles a target with the header that this project's workers share.
function(middlemark_precompile target)
  if(TARGET middlemark_precompiled)
    # Some middlewares require -pthread, which defines a macro, so all targets use it. If the header does not fit,
    # compiling is only slower.
    target_compile_options(${target} PRIVATE -pthread -Wno-error=invalid-pch)
    target_precompile_headers(${target} REUSE_FROM middlemark_precompiled)
  endif()
endfunction()

# middlemark_left_out(<name> <reason>)
#
# Reports why the adapter <name> is not built and what would change that. The command reads the reason from a file next
# to the workers. Call before return().
function(middlemark_left_out name reason)
  message(STATUS "adapter ${name}: not built, ${reason}")
  set(note ${CMAKE_BINARY_DIR}/workers/middlemark-left-out-${name})
  file(WRITE ${note} "${reason}\n")
  if(MIDDLEMARK_WORKER_DESTINATION)
    install(FILES ${note} DESTINATION ${MIDDLEMARK_WORKER_DESTINATION})
  endif()
endfunction()
