# Compile options of this project's own code. Not installed: an adapter in another repository chooses its own flags.
option(MIDDLEMARK_TESTS "build the C++ tests" OFF)
option(MIDDLEMARK_BENCH "build the benchmarks of the core" OFF)
set(MIDDLEMARK_ADAPTERS "all" CACHE STRING "adapters to build: names of folders in adapters/, or all")
set(MIDDLEMARK_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined or thread")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER sh ${CMAKE_CURRENT_LIST_DIR}/with-ccache)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")

# Warnings are errors only with the compiler of the checks, so that warnings of newer compilers do not break the build.
set(strict OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  set(strict ON)
endif()
option(MIDDLEMARK_WERROR "treat warnings as errors" ${strict})

# Parsing the common headers is a third of a worker's compile time. Builds with sanitizers do not
# use the precompiled headers, so that a missing #include is an error.
set(precompiled OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT MIDDLEMARK_SANITIZE)
  set(precompiled ON)
endif()
option(MIDDLEMARK_PRECOMPILED "parse the workers' common headers once" ${precompiled})

add_compile_options(-Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${MIDDLEMARK_WERROR}>:-Werror>)
# Make paths of the checkout relative in __FILE__ and in debug information, so that ccache can reuse object files of
# another checkout.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # without this option ccache stores no file that includes a precompiled header
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-stringop-overflow)  # a false warning of GCC 12 in fmt's headers
endif()
if(MIDDLEMARK_SANITIZE)
  # Do not optimise: with both sanitizers, -O1 takes three times as long to compile, and the tests are not faster.
  add_compile_options(-fsanitize=${MIDDLEMARK_SANITIZE} -fno-omit-frame-pointer -O0 -g1)
  add_link_options(-fsanitize=${MIDDLEMARK_SANITIZE})
endif()
