# Adds the worker fastdds@<version> with the Fast DDS in the wheels of ROS 2 that `./middlemark build ros2` installed, beside
# the distribution's Fast DDS. Sets `wheels`, its target; empty: there are no wheels. The wheels' own CMake files contain
# paths of the machine that built the wheels, so this file lists the libraries itself.
include(../common/ros2/ros2.cmake)
middlemark_ros2_wheels()
set(wheels "")
file(GLOB about ${ros2}/lib/python3.*/site-packages/ros_fastdds-*.dist-info
     ${ros2}/lib/python3.*/site-packages/ros_fastrtps-*.dist-info)
if(NOT EXISTS ${ros2}/of OR NOT "${about}" MATCHES "^(.*)/ros_(fast[a-z]+)-([0-9.]+)[.]dist-info$")
  return()
endif()
set(folders ${ros2}/lib:${CMAKE_MATCH_1}/ros_${CMAKE_MATCH_2}.libs)
set(library ${ros2}/lib/lib${CMAKE_MATCH_2}.so)
set(name fastdds@${CMAKE_MATCH_3})
string(REGEX MATCH "^[0-9]+" major ${CMAKE_MATCH_3})

add_library(fastdds-of-wheels INTERFACE IMPORTED)
target_include_directories(fastdds-of-wheels INTERFACE ${ros2}/include)
target_link_libraries(fastdds-of-wheels INTERFACE ${library} ${ros2}/lib/libfastcdr.so)
# rpath instead of runpath, so that it applies to the libraries' own dependencies too.
target_link_options(fastdds-of-wheels INTERFACE -Wl,--disable-new-dtags -Wl,-rpath,${folders} -Wl,--allow-shlib-undefined)
target_compile_definitions(fastdds-of-wheels INTERFACE MIDDLEMARK_FASTCDR=2 MIDDLEMARK_FASTDDS_FOLDERS="${folders}")
middlemark_fastdds(${name} ${major} fastdds-of-wheels)
string(REPLACE "@" "-" wheels middlemark-worker-${name})
