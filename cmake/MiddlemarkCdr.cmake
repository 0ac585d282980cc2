# middlemark_bytes_and_cdr(<target>)
#
# Adds typed messages to an adapter that sends bytes, as bytes + CDR (core/kit/cdr.hpp), if Fast CDR is installed.
function(middlemark_bytes_and_cdr target)
  find_package(fastcdr QUIET)
  if(NOT fastcdr_FOUND)
    return()
  endif()
  string(REGEX MATCH "^[0-9]+" major "${fastcdr_VERSION}")
  target_compile_definitions(${target} PRIVATE MIDDLEMARK_FASTCDR=${major})
  target_link_libraries(${target} PRIVATE fastcdr)
endfunction()
