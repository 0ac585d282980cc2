// Returns the version of rclcpp. Includes only rclcpp's version header.
#pragma once

#include <string>

#if __has_include(<rclcpp/version.h>)
#include <rclcpp/version.h>
#endif

namespace middlemark::ros2 {

/// Returns rclcpp's version from its header, which contains the version since Humble. For older releases returns
/// `of_library`, the version in the library's file name, which may be empty.
[[nodiscard]] inline std::string rclcpp_version([[maybe_unused]] const std::string& of_library) {
#ifdef RCLCPP_VERSION_STR
  return RCLCPP_VERSION_STR;
#else
  return of_library;
#endif
}

}  // namespace middlemark::ros2
