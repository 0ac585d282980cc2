// The ROS 2 for which this worker was built: PyPI's wheels, or the one that is sourced in the shell.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "ros2/index.hpp"

namespace middlemark::rcl {

#ifdef MIDDLEMARK_ROS2_WHEELS
/// The folder of the Python environment with the wheels, and the name of their distribution.
inline constexpr const char* wheels = MIDDLEMARK_ROS2_WHEELS;
inline constexpr const char* wheels_distribution = MIDDLEMARK_ROS2_DISTRIBUTION;
#else
inline constexpr const char* wheels = nullptr;
inline constexpr const char* wheels_distribution = "";
#endif

/// Returns the distribution's name, such as "kilted"; empty if a sourced ROS 2 does not name it.
[[nodiscard]] inline std::string distribution() {
  const char* const sourced = std::getenv("ROS_DISTRO");
  return wheels != nullptr ? wheels_distribution : sourced != nullptr ? sourced : "";
}

/// Makes the wheels' folder the only ROS 2 of this process. Throws an AdapterError if another one is sourced.
inline void use_wheels(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw AdapterError("rcl: " + folder +
                       ", from which this worker was built, does not exist; `./middlemark build rcl` sets it up again");
  }
  const char* const sourced = std::getenv("AMENT_PREFIX_PATH");
  if (sourced != nullptr && *sourced != '\0' && sourced != folder) {
    throw AdapterError("rcl: this worker was built from the wheels in " + folder +
                       ", but another ROS 2 is sourced in this shell (AMENT_PREFIX_PATH=" + sourced +
                       "); use a shell without it, or `./middlemark build rcl` here, which measures the sourced ROS 2");
  }
  setenv("AMENT_PREFIX_PATH", folder.c_str(), 1);
}

/// Returns the RMWs that a trial can use. Throws an AdapterError if there is none, or if RMW_IMPLEMENTATION names another
/// one.
[[nodiscard]] inline std::vector<ros2::Rmw> usable_rmws() {
  if (wheels != nullptr) use_wheels(wheels);
  const std::vector<ros2::Rmw> rmws = ros2::installed_rmws();
  if (rmws.empty()) {
    throw AdapterError(
        "rcl: AMENT_PREFIX_PATH names no RMW: `source /opt/ros/<distribution>/setup.bash` in this shell");
  }
  const std::string chosen = ros2::chosen_rmw();
  if (chosen.empty()) return rmws;
  std::string names;
  for (const ros2::Rmw& rmw : rmws) {
    if (rmw.name == chosen) return rmws;
    names += (names.empty() ? "" : ", ") + rmw.name;
  }
  throw AdapterError("rcl: RMW_IMPLEMENTATION=" + chosen + ": this ROS 2 does not have that RMW; it has " + names +
                     ". Unset RMW_IMPLEMENTATION, or install the RMW and source ROS 2 again");
}

}  // namespace middlemark::rcl
