# middlemark_ros2_wheels()
#
# Sets `distribution`, and `ros2`, the folder in which the set-up installs its wheels.
macro(middlemark_ros2_wheels)
  set(distribution kilted)
  if(DEFINED ENV{MIDDLEMARK_ROS2})
    set(distribution $ENV{MIDDLEMARK_ROS2})
  endif()
  set(ros2 ${PROJECT_SOURCE_DIR}/build/ros2-${distribution})
endmacro()

# middlemark_find_ros2(<name>)
#
# Chooses the ROS 2 of the adapter <name>: the sourced one, or else the wheels that the set-up installed
# (packaging/setup/ros2.sh). Never both. Sets `distribution`, and `ros2`, the folder of the wheels, which is empty if a ROS 2
# is sourced; `overlays` are then its prefixes. Without a ROS 2, leaves out the adapter and ends its CMakeLists.txt.
macro(middlemark_find_ros2 name)
  middlemark_ros2_wheels()
  if("$ENV{AMENT_PREFIX_PATH}" STREQUAL "")
    if(NOT EXISTS ${ros2}/of)
      set(reason "`./middlemark build ros2` installs ROS 2 ${distribution} from PyPI; or source a ROS 2 installation")
      if(EXISTS ${ros2}.refused)
        file(READ ${ros2}.refused reason)
        string(STRIP "${reason}" reason)
      endif()
      middlemark_left_out(${name} "${reason}")
      return()
    endif()
  elseif(DEFINED ENV{MIDDLEMARK_ROS2})
    set(reason "ROS 2 $ENV{ROS_DISTRO} is sourced in this shell, and MIDDLEMARK_ROS2=${distribution} names a ROS 2 from PyPI")
    middlemark_left_out(${name} "${reason}: unset MIDDLEMARK_ROS2, or use a shell without the sourced ROS 2")
    return()
  else()
    set(ros2 "")
    set(distribution $ENV{ROS_DISTRO})
    string(REPLACE ":" ";" overlays "$ENV{AMENT_PREFIX_PATH}")
  endif()
endmacro()

# middlemark_ros2_interfaces(<folder> [python])
#
# Generates the code of the interfaces in adapters/rcl/interfaces with the generators of the wheels, again only if they or the
# interfaces changed. Sets `sources`, and `generated`, the folder with one folder for each package. python: also for Python.
set(MIDDLEMARK_ROS2_INTERFACES ${CMAKE_CURRENT_LIST_DIR}/../../rcl/interfaces)
macro(middlemark_ros2_interfaces folder)
  set(generated ${folder})
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${MIDDLEMARK_ROS2_INTERFACES}/*)
  file(SHA256 ${ros2}/of key)
  foreach(input IN LISTS inputs)
    file(SHA256 ${input} hash)
    string(APPEND key " ${hash}")
  endforeach()
  set(made "")
  if(EXISTS ${generated}/of)
    file(READ ${generated}/of made)
  endif()
  if(NOT made STREQUAL key)
    file(REMOVE_RECURSE ${generated})
    execute_process(
      COMMAND ${ros2}/bin/python ${MIDDLEMARK_ROS2_INTERFACES}/generate.py ${generated} ${ARGN}
      RESULT_VARIABLE status OUTPUT_VARIABLE sources ERROR_VARIABLE message)
    if(status)
      message(FATAL_ERROR "${MIDDLEMARK_ROS2_INTERFACES}/generate.py: ${message}")
    endif()
    file(WRITE ${generated}/sources ${sources})
    file(WRITE ${generated}/of ${key})
  endif()
  file(STRINGS ${generated}/sources sources)
endmacro()
