# middlemark_python_adapter(<name> [INTERPRETER file] [PATHS folder…] [NEEDS target…] [COMPILE package [WITH NAME=value…]])
#
# Makes the worker of the adapter in adapter.py of this folder: see docs/how-to/add-an-adapter.md. Its packages are
# those of requirements.lock, with hashes, in a virtual environment of its own. Without a Python >= 3.11, reports this
# as the reason and does not build the adapter. INTERPRETER: the Python of an environment that exists already, which is used
# instead. PATHS: further folders of modules. NEEDS: targets that make modules. COMPILE: a package of requirements.lock that is
# compiled here, with the tools of build.lock and these variables of the environment, instead of using its wheel.
function(middlemark_python_adapter name)
  cmake_parse_arguments(ARG "" "INTERPRETER;COMPILE" "PATHS;NEEDS;WITH" ${ARGN})
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
  middlemark_require(${name} Python3_Interpreter_FOUND
                     "there is no Python >= 3.11 (Debian, Ubuntu: apt install python3 python3-venv)")
  middlemark_require(${name} MIDDLEMARK_IS_NO_PACKAGE "adapters in Python are built in a checkout: `./middlemark build ${name}`")
  middlemark_require(${name} MIDDLEMARK_HAS_NO_SANITIZER "a sanitizer would have to be loaded before Python")
  set(worker middlemark-worker-${name})
  set(note ${CMAKE_BINARY_DIR}/workers/middlemark-left-out-${name})
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/workers/${worker})
    file(WRITE ${note} "it is built on request; `./middlemark build`, or a run that names it, builds it\n")
  endif()

  # The bridge between the core and Python is the same for all adapters.
  if(NOT TARGET middlemark_python)
    add_library(middlemark_python MODULE ${MIDDLEMARK_PYTHON}/bridge.cpp)
    target_link_libraries(middlemark_python PRIVATE middlemark::core)
    target_compile_options(middlemark_python PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fconcepts-diagnostics-depth=3>)
    set_target_properties(middlemark_python PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python)
  endif()

  set(environment ${CMAKE_BINARY_DIR}/python/${name})
  set(lock ${CMAKE_CURRENT_SOURCE_DIR}/requirements.lock)
  set(locks "")
  set(install "")
  set(pip --without-pip)
  if(EXISTS ${lock})
    set(locks ${lock})
    set(pip "")
    set(fetch -m pip install --disable-pip-version-check --no-input --quiet --require-hashes --only-binary :all:)
    if(ARG_COMPILE)
      list(PREPEND locks ${CMAKE_CURRENT_SOURCE_DIR}/build.lock)
      set(install COMMAND ${environment}/bin/python ${fetch} --requirement ${CMAKE_CURRENT_SOURCE_DIR}/build.lock)
      list(APPEND fetch --no-binary ${ARG_COMPILE} --no-build-isolation)
    endif()
    list(APPEND install COMMAND ${CMAKE_COMMAND} -E env ${ARG_WITH} ${environment}/bin/python ${fetch} --requirement ${lock})
  endif()
  set(MIDDLEMARK_PYTHON_INTERPRETER ${ARG_INTERPRETER})
  if(NOT ARG_INTERPRETER)
    add_custom_command(
      OUTPUT ${environment}/made
      COMMAND ${Python3_EXECUTABLE} -m venv --clear ${pip} ${environment}
      ${install}
      COMMAND ${CMAKE_COMMAND} -E touch ${environment}/made
      DEPENDS ${locks}
      COMMENT "Making the Python environment of ${name}"
      VERBATIM)
    set(MIDDLEMARK_PYTHON_INTERPRETER ${environment}/bin/python)
    list(APPEND ARG_NEEDS ${environment}/made)
  endif()
  list(APPEND ARG_PATHS ${CMAKE_CURRENT_SOURCE_DIR} ${MIDDLEMARK_PYTHON})
  list(JOIN ARG_PATHS "\", \"" MIDDLEMARK_PYTHON_PATHS)
  set(MIDDLEMARK_PYTHON_BRIDGE ${CMAKE_BINARY_DIR}/python/libmiddlemark_python.so)
  configure_file(${MIDDLEMARK_PYTHON_MAIN} ${CMAKE_CURRENT_BINARY_DIR}/worker.py @ONLY)
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/workers/${worker}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/worker.py ${CMAKE_BINARY_DIR}/workers/${worker}
    COMMAND chmod +x ${CMAKE_BINARY_DIR}/workers/${worker}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${note}
    DEPENDS ${ARG_NEEDS} ${CMAKE_CURRENT_BINARY_DIR}/worker.py middlemark_python
    COMMENT "Writing the worker of ${name}"
    VERBATIM)
  add_custom_target(${worker} DEPENDS ${CMAKE_BINARY_DIR}/workers/${worker})
  if(NOT TARGET middlemark-workers)
    add_custom_target(middlemark-workers)
    add_custom_target(middlemark-workers-at-once)
  endif()
  add_dependencies(middlemark-workers ${worker})
endfunction()

set(MIDDLEMARK_PYTHON ${CMAKE_CURRENT_LIST_DIR}/../core/kit/python)
set(MIDDLEMARK_PYTHON_MAIN ${CMAKE_CURRENT_LIST_DIR}/worker.py.in)
set(MIDDLEMARK_IS_NO_PACKAGE ON)
if(MIDDLEMARK_WORKER_DESTINATION)
  set(MIDDLEMARK_IS_NO_PACKAGE OFF)
endif()
set(MIDDLEMARK_HAS_NO_SANITIZER ON)
if(MIDDLEMARK_SANITIZE)
  set(MIDDLEMARK_HAS_NO_SANITIZER OFF)
endif()
