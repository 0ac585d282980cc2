# cyclonedds_messages(<target>): if Cyclone DDS's idlc is installed, generates the typed messages and defines
# MIDDLEMARK_IDLC.
function(cyclonedds_messages target)
  find_program(MIDDLEMARK_IDLC_PROGRAM idlc)
  if(NOT MIDDLEMARK_IDLC_PROGRAM)
    message(STATUS "${target}: octets only, idlc was not found (Debian, Ubuntu: apt install cyclonedds-tools)")
    return()
  endif()
  set(idl ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/messages.idl)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/messages.c)
  add_custom_command(OUTPUT ${made} ${CMAKE_CURRENT_BINARY_DIR}/messages.h
                     COMMAND ${MIDDLEMARK_IDLC_PROGRAM} -l c -x final -t ${idl} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
                     DEPENDS ${idl} VERBATIM)
  set_source_files_properties(${made} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS -w COMPILE_DEFINITIONS _Alignof=alignof)
  target_sources(${target} PRIVATE ${made})
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(${target} PRIVATE MIDDLEMARK_IDLC)
endfunction()
