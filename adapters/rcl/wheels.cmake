# Makes the target middlemark-ros2-wheels: rcl, rmw_fastrtps_cpp and messages from the wheels in the folder `ros2`, and
# the interfaces in interfaces/. The wheels' own CMake files contain paths of the machine that built the wheels, so this
# file lists the libraries itself.
file(GLOB bundled ${ros2}/lib/python3.*/site-packages/ros_*.libs)
file(GLOB includes ${ros2}/include/*)
list(FILTER includes EXCLUDE REGEX "/python3[^/]*$")
list(APPEND includes ${ros2}/include)  # fastcdr/Cdr.h

middlemark_ros2_interfaces(${CMAKE_CURRENT_BINARY_DIR}/interfaces-${distribution})
add_library(middlemark-ros2-wheels STATIC EXCLUDE_FROM_ALL ${sources})
set_target_properties(middlemark-ros2-wheels PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(middlemark-ros2-wheels PRIVATE -w)
target_include_directories(middlemark-ros2-wheels SYSTEM PUBLIC ${generated} ${includes})
foreach(package builtin_interfaces std_msgs geometry_msgs sensor_msgs service_msgs)
  list(APPEND libraries ${package}__rosidl_typesupport_fastrtps_c ${package}__rosidl_typesupport_c ${package}__rosidl_generator_c)
endforeach()
list(APPEND libraries rcl rmw_fastrtps_cpp rmw rosidl_typesupport_fastrtps_cpp rosidl_typesupport_fastrtps_c
     rosidl_typesupport_c rosidl_runtime_c rcutils fastcdr)
list(TRANSFORM libraries PREPEND ${ros2}/lib/lib)
list(TRANSFORM libraries APPEND .so)
# rpath instead of runpath, so that it applies to the libraries' own dependencies too. Lazy binding, because the message
# libraries refer to functions of Python that are missing and never called (python_symbols.cpp defines the variables).
list(JOIN bundled ":" bundled)
target_link_libraries(middlemark-ros2-wheels INTERFACE ${libraries})
target_sources(middlemark-ros2-wheels INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/python_symbols.cpp)
target_link_options(
  middlemark-ros2-wheels INTERFACE -Wl,--disable-new-dtags -Wl,-rpath,${ros2}/lib:${bundled} -Wl,-z,lazy
  -Wl,--allow-shlib-undefined -Wl,--export-dynamic-symbol=PyExc_RuntimeError -Wl,--export-dynamic-symbol=_Py_*Struct)
target_compile_definitions(
  middlemark-ros2-wheels INTERFACE MIDDLEMARK_ROS2_WHEELS="${ros2}" MIDDLEMARK_ROS2_DISTRIBUTION="${distribution}")
