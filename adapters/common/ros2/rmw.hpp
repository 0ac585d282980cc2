// Descriptions of the RMWs: names, versions, the transport of each, and the notes in a result. Does not use ROS 2.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>

#include "index.hpp"

namespace middlemark::ros2 {

/// Fast DDS's default period of heartbeats, the longest of the RMWs. A reader asks for missing messages only after a
/// heartbeat.
inline constexpr std::chrono::milliseconds heartbeat_period{3000};

inline constexpr const char* intraprocess_name = "intraprocess";
/// A pattern that matches no segment. With `intraprocess` the RMW may map segments as well, but no message goes through
/// them.
inline constexpr const char* no_segment = "/";

/// Returns an RMW's name with the versions that are known, such as "rmw_fastrtps_cpp 6.2.7 (Fast DDS 2.9.1)".
[[nodiscard]] inline std::string words_of(const Rmw& rmw, const std::string& beneath) {
  return rmw.name + (rmw.version.empty() ? "" : " " + rmw.version) + (beneath.empty() ? "" : " (" + beneath + ")");
}

/// Returns words_of() of the loaded RMW, or only its name if `rmws` does not contain it.
[[nodiscard]] inline std::string words_of_loaded(const std::string& loaded, const std::vector<Rmw>& rmws) {
  const auto found = std::ranges::find(rmws, loaded, &Rmw::name);
  return found == rmws.end() ? loaded : words_of(*found, beneath(loaded));
}

/// Returns the title of an adapter. `distribution`: such as "kilted", or empty. `library`: the measured library. `rmws`:
/// the words_of() each RMW.
[[nodiscard]] inline std::string title(const std::string& distribution, const std::string& library,
                                       const std::vector<std::string>& rmws) {
  std::string text = "ROS 2 " + (distribution.empty() ? "" : distribution + " ") + library;
  for (const std::string& rmw : rmws) text += (&rmw == &rmws.front() ? " over " : ", ") + rmw;
  return text;
}

[[nodiscard]] inline bool over_fastdds(const std::string& rmw) { return rmw.find("fastrtps") != rmw.npos; }

/// Returns the result of a publish() that failed in the RMW. For a reliable publisher over Fast DDS it is timed_out,
/// because Fast DDS waits 100 ms for room in its history before it fails. The RMW itself reports only a failure.
[[nodiscard]] inline Published refused(const Settings& settings) {
  const bool waited = over_fastdds(settings.transport) && settings.reliability == Reliability::reliable;
  return waited ? Published::timed_out : Published::failed;
}

[[nodiscard]] inline bool over_dds_security(const std::string& rmw) {
  return over_fastdds(rmw) || rmw.find("cyclonedds") != rmw.npos;
}

/// Returns the transport that Fast DDS uses for best effort, which depends on its version. `beneath`: such as "Fast DDS
/// 2.9.1". Version 2.9 used UDP, and version 2.14 and later use shared memory; others were not tried.
[[nodiscard]] inline std::string best_effort_carrier(const std::string& beneath) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(beneath.c_str(), "Fast DDS %d.%d", &major, &minor) < 2) return "any";
  if (major > 2 || (major == 2 && minor >= 14)) return "shared-memory";
  return major == 2 && minor == 9 ? "udp" : "any";
}

/// Describes the transport of an RMW between two processes of a host. `beneath`: the middleware that the RMW uses.
[[nodiscard]] inline Transport network(const std::string& rmw, const std::string& beneath) {
  Transport transport;
  transport.name = rmw;
  transport.processes = {2};
  transport.carrier = rmw.find("zenoh") != rmw.npos ? "tcp" : "udp";
  if (over_fastdds(rmw)) {
    transport.carrier = "shared-memory";
    transport.best_effort_carrier = best_effort_carrier(beneath);
    transport.segments = {"fastrtps_*", "fastdds_*"};  // before Fast DDS 3, and since
  }
  if (over_dds_security(rmw)) {
    transport.security = {Security::none, Security::authenticated, Security::signed_, Security::encrypted};
    transport.permissions = true;
  } else {
    transport.security_why = "Middlemark does not know whether this RMW uses an SROS2 keystore";
  }
  return transport;
}

/// Returns the protection of a trial. ROS 2 does not report it, so this text names the protection that an RMW over DDS
/// applies with the strategy Enforce. An RMW that cannot apply all of it does not start.
[[nodiscard]] inline std::string protected_by(const std::string& words) {
  return "SROS2, strategy Enforce, " + words + ": DDS Security (PKI-DH, Access-Permissions, AES-GCM-GMAC)";
}

/// Returns the files that a killed process may leave, with any RMW.
[[nodiscard]] inline std::vector<std::string> residue() {
  return {"/dev/shm/fastrtps_*", "/dev/shm/sem.fastrtps_*", "/dev/shm/fastdds_*", "/dev/shm/sem.fastdds_*",
          "/dev/shm/fast_datasharing_*"};
}

[[nodiscard]] inline Transport within_process() {
  Transport transport;
  transport.name = intraprocess_name;
  transport.carrier = "process-memory";
  transport.processes = {1};
  transport.segments = {no_segment};
  transport.hands_over = {false};           // without a loan too: a unique_ptr is passed on
  transport.receive = {Reception::listen};  // messages of this transport never reach take()
  transport.keep_all = false;
  transport.security_why = "messages within a process are not encrypted";
  return transport;
}

/// Returns the notes of a result. `rmw`: the name of the loaded RMW; `words`: its name and versions.
[[nodiscard]] inline std::vector<std::string> notes(const std::string& rmw, const std::string& words,
                                                    const Settings& settings) {
  std::vector<std::string> all = {"the RMW is " + words};
  if (settings.calls_service()) {
    all.emplace_back("services keep ROS 2's own quality of service: reliable, depth 10");
    if (settings.publishers > 1) {
      all.emplace_back(
          "each client reads the replies to all clients at a depth of 10, so a client that is slower than the others "
          "can "
          "lose its own replies");
    }
  }
  if (!over_fastdds(rmw) || settings.transport == intraprocess_name || settings.reliability != Reliability::reliable) {
    return all;
  }
  if (!settings.depth && !settings.calls_service()) {
    all.emplace_back(
        "Fast DDS keeps 5,000 messages of a keep-all history: if it stays full for 100 ms, publish() is refused");
  }
  return all;
}

/// Returns the default segment of Fast DDS. Returns none if the user's profile may set another segment. Returns none
/// for best effort, because Fast DDS does not send these messages again, so their latency does not rise.
[[nodiscard]] inline SharedSegment shared_segment(const std::string& rmw, const Settings& settings) {
  constexpr std::uint64_t segment = 512 * 1024;  // Fast DDS's default
  if (!over_fastdds(rmw) || settings.transport == intraprocess_name || settings.reliability != Reliability::reliable ||
      std::getenv("FASTRTPS_DEFAULT_PROFILES_FILE") != nullptr ||
      std::getenv("FASTDDS_DEFAULT_PROFILES_FILE") != nullptr) {
    return {};
  }
  return {segment, "segment_size in the XML profile that FASTRTPS_DEFAULT_PROFILES_FILE names"};
}

}  // namespace middlemark::ros2
