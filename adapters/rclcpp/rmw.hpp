// What is said of the RMW: names, versions, what carries its data, and notes of a result. Knows nothing of rclcpp but its version.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#if __has_include(<rclcpp/version.h>)
#include <rclcpp/version.h>
#endif

namespace middlemark::ros2 {

/// The segments of `intraprocess`: the name of no file. What the RMW maps beside it carries none of its messages.
inline constexpr const char* no_segment = "/";

/// librclcpp has no version in its name, and its header has one since Humble. `of_library`: what else is known.
[[nodiscard]] inline std::string version([[maybe_unused]] const std::string& of_library) {
#ifdef RCLCPP_VERSION_STR
  return RCLCPP_VERSION_STR;
#else
  return of_library;
#endif
}

[[nodiscard]] inline std::string title(const std::string& rmw) {
  const char* const distribution = std::getenv("ROS_DISTRO");
  return std::string("ROS 2 ") + (distribution != nullptr ? distribution + std::string(" ") : "") + "rclcpp over " +
         rmw;
}

[[nodiscard]] inline bool over_fastdds(const std::string& rmw) { return rmw.find("fastrtps") != rmw.npos; }

[[nodiscard]] inline std::string carrier(const std::string& rmw) {
  if (over_fastdds(rmw)) return "shared-memory";
  return rmw.find("zenoh") != rmw.npos ? "tcp" : "udp";
}

/// `rmw` is its identifier.
[[nodiscard]] inline std::vector<std::string> notes(const std::string& rmw, const Settings& settings) {
  constexpr std::uint64_t segment = 512 * 1024;  // Fast DDS's default
  std::vector<std::string> all = {"the RMW is " + rmw};
  if (settings.calls_service()) {
    all.emplace_back("services keep ROS 2's own quality of service: reliable, depth 10");
    if (settings.publishers > 1) {
      all.emplace_back(
          "each client reads the replies to all of them at that depth, so one that is slower than the others can lose "
          "its own");
    }
  }
  if (over_fastdds(rmw) && settings.transport == "rmw" && settings.message_bytes >= segment &&
      std::getenv("FASTRTPS_DEFAULT_PROFILES_FILE") == nullptr &&
      std::getenv("FASTDDS_DEFAULT_PROFILES_FILE") == nullptr) {
    all.emplace_back(
        "a message does not fit into the shared-memory segment that Fast DDS has by default (512 KiB), and waits to be "
        "sent again: "
        "give a larger segment_size in the XML profile that FASTRTPS_DEFAULT_PROFILES_FILE names");
  }
  return all;
}

}  // namespace middlemark::ros2
