// Descriptions of the RMWs: names, versions, the transport of each, and the notes in a result. Uses nothing of rclcpp but
// its version.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>

#include "index.hpp"

#if __has_include(<rclcpp/version.h>)
#include <rclcpp/version.h>
#endif

namespace middlemark::ros2 {

inline constexpr const char* intraprocess_name = "intraprocess";
/// A pattern that matches no segment: the segments that the RMW maps besides carry no messages of `intraprocess`.
inline constexpr const char* no_segment = "/";

/// Returns rclcpp's version. The library's name has none, and the header has one since Humble. `of_library`: the
/// fallback.
[[nodiscard]] inline std::string version([[maybe_unused]] const std::string& of_library) {
#ifdef RCLCPP_VERSION_STR
  return RCLCPP_VERSION_STR;
#else
  return of_library;
#endif
}

/// Returns name and versions as far as known, such as "rmw_fastrtps_cpp 6.2.7 (Fast DDS 2.9.1)".
[[nodiscard]] inline std::string words_of(const Rmw& rmw, const std::string& beneath) {
  return rmw.name + (rmw.version.empty() ? "" : " " + rmw.version) + (beneath.empty() ? "" : " (" + beneath + ")");
}

/// `rmws`: name and versions of each.
[[nodiscard]] inline std::string title(const std::vector<std::string>& rmws) {
  const char* const distribution = std::getenv("ROS_DISTRO");
  std::string text =
      std::string("ROS 2 ") + (distribution != nullptr ? distribution + std::string(" ") : "") + "rclcpp";
  for (const std::string& each : rmws) text += (&each == &rmws.front() ? " over " : ", ") + each;
  return text;
}

[[nodiscard]] inline bool over_fastdds(const std::string& rmw) { return rmw.find("fastrtps") != rmw.npos; }

/// Returns the outcome of a publish() that the RMW refused. When a history is full Fast DDS waits 100 ms for room, and the
/// RMW then reports only a failure.
[[nodiscard]] inline Published refused(const Settings& settings) {
  const bool waited = over_fastdds(settings.transport) && settings.reliability == Reliability::reliable;
  return waited ? Published::timed_out : Published::failed;
}

[[nodiscard]] inline bool over_dds_security(const std::string& rmw) {
  return over_fastdds(rmw) || rmw.find("cyclonedds") != rmw.npos;
}

/// Describes the transport of an RMW between two processes of a host.
[[nodiscard]] inline Transport network(const std::string& rmw) {
  Transport transport;
  transport.name = rmw;
  transport.processes = {2};
  transport.carrier = rmw.find("zenoh") != rmw.npos ? "tcp" : "udp";
  if (over_fastdds(rmw)) {
    transport.carrier = "shared-memory";
    transport.best_effort_carrier = "udp";  // its best-effort writers use the first transport in its list
    transport.segments = {"fastrtps_*"};
  }
  if (over_dds_security(rmw)) {
    transport.security = {Security::none, Security::authenticated, Security::signed_, Security::encrypted};
    transport.permissions = true;
  } else {
    transport.security_why = "Middlemark does not know whether this RMW uses an SROS2 keystore";
  }
  return transport;
}

/// Returns the protection of a trial. ROS 2 does not report any, so this says what an RMW over DDS applies: under Enforce it
/// applies everything or refuses to start.
[[nodiscard]] inline std::string protected_by(const std::string& words) {
  return "SROS2, strategy Enforce, " + words + ": DDS Security (PKI-DH, Access-Permissions, AES-GCM-GMAC)";
}

/// Describes rclcpp's own transport within a process.
[[nodiscard]] inline Transport within_process() {
  Transport transport;
  transport.name = intraprocess_name;
  transport.carrier = "process-memory";
  transport.processes = {1};
  transport.segments = {no_segment};
  transport.hands_over = {false};           // a unique_ptr is moved
  transport.receive = {Reception::listen};  // messages of this transport never reach take()
  transport.keep_all = false;
  transport.security_why = "messages within a process are not encrypted";
  return transport;
}

/// Returns the notes of a result. `rmw`: the name of the loaded RMW; `words`: its name and versions.
[[nodiscard]] inline std::vector<std::string> notes(const std::string& rmw, const std::string& words,
                                                    const Settings& settings) {
  constexpr std::uint64_t segment = 512 * 1024;  // Fast DDS's default
  std::vector<std::string> all = {"the RMW is " + words};
  if (settings.calls_service()) {
    all.emplace_back("services keep ROS 2's own quality of service: reliable, depth 10");
    if (settings.publishers > 1) {
      all.emplace_back(
          "each client reads the replies to all of them at that depth, so one that is slower than the others can lose "
          "its own");
    }
  }
  if (!over_fastdds(rmw) || settings.transport == intraprocess_name || settings.reliability != Reliability::reliable) {
    return all;
  }
  if (!settings.depth && !settings.calls_service()) {
    all.emplace_back(
        "Fast DDS keeps 5,000 messages of a keep-all history: a publish() that finds it full for 100 ms is refused");
  }
  if (settings.message_bytes >= segment && std::getenv("FASTRTPS_DEFAULT_PROFILES_FILE") == nullptr &&
      std::getenv("FASTDDS_DEFAULT_PROFILES_FILE") == nullptr) {
    all.emplace_back(
        "a message does not fit into the shared-memory segment that Fast DDS has by default (512 KiB), and waits to be "
        "sent again: give a larger segment_size in the XML profile that FASTRTPS_DEFAULT_PROFILES_FILE names");
  }
  return all;
}

}  // namespace middlemark::ros2
