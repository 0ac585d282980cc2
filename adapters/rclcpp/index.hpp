// The RMWs of this machine: which there are by the ament index, which one a process loads, and what it stands on. Knows nothing of
// rclcpp.
//
// A process has one RMW: the one that RMW_IMPLEMENTATION names when ROS 2 first asks. Where that is set already, rcl asks before
// main(). So a worker begins without it (start_without_rmw()), and sets it when it knows its trial's transport (load_rmw()).
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <middlemark/kit/library.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::ros2 {

/// Where a worker keeps what RMW_IMPLEMENTATION was: the user's default.
inline constexpr const char* kept_rmw = "MIDDLEMARK_RMW_IMPLEMENTATION";

/// Where RMW_IMPLEMENTATION, or RCL_ASSERT_RMW_ID_MATCHES, is set: keeps it and starts this executable anew, as the same process,
/// without either. So it happens once. First in main().
inline void start_without_rmw(char** argv) {
  const char* const asked = std::getenv("RMW_IMPLEMENTATION");
  if (asked == nullptr && std::getenv("RCL_ASSERT_RMW_ID_MATCHES") == nullptr) return;
  if (asked != nullptr) setenv(kept_rmw, asked, 1);
  unsetenv("RMW_IMPLEMENTATION");
  unsetenv("RCL_ASSERT_RMW_ID_MATCHES");
  std::error_code error;
  execv(std::filesystem::read_symlink("/proc/self/exe", error).c_str(), argv);
  std::fprintf(stderr, "rclcpp: the worker cannot start itself anew without RMW_IMPLEMENTATION: %s\n",
               std::strerror(errno));
  std::exit(1);
}

/// --describe: every RMW may be loaded, to say what it stands on. A worker that measures holds its own alone.
inline bool measures_nothing = false;

/// What the user chose for all programs of ROS 2; empty: nothing.
[[nodiscard]] inline std::string chosen_rmw() {
  const char* const chosen = std::getenv(kept_rmw);
  return chosen != nullptr ? chosen : "";
}

struct Rmw {
  std::string name;     ///< its package's, which is what RMW_IMPLEMENTATION takes
  std::string version;  ///< its package's; empty: not told
};

/// The text between <version> and </version>; empty: there is none.
[[nodiscard]] inline std::string package_version(const std::filesystem::path& package_xml) {
  std::ifstream file(package_xml);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string opening = "<version>";
  const std::size_t begin = text.find(opening);
  const std::size_t end = text.find("</version>");
  if (begin == text.npos || end == text.npos || end < begin) return "";
  return text.substr(begin + opening.size(), end - begin - opening.size());
}

/// Every RMW of the ament index, the default first: what the user chose, else rmw_fastrtps_cpp, which ROS 2 takes by itself; the
/// others by name. Of one name the first prefix of AMENT_PREFIX_PATH counts.
[[nodiscard]] inline std::vector<Rmw> installed_rmws() {
  const char* const path = std::getenv("AMENT_PREFIX_PATH");
  std::istringstream prefixes(path != nullptr ? path : "");
  std::map<std::string, std::string> versions;
  for (std::string prefix; std::getline(prefixes, prefix, ':');) {
    const std::filesystem::path share = std::filesystem::path(prefix) / "share";
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(share / "ament_index/resource_index/rmw_typesupport", none)) {
      const std::string name = entry.path().filename().string();
      if (name == "rmw_implementation") continue;  // it loads the others
      versions.try_emplace(name, package_version(share / name / "package.xml"));
    }
  }
  std::vector<Rmw> found;
  for (const auto& [name, version] : versions) found.push_back({name, version});
  const std::string first = chosen_rmw().empty() ? "rmw_fastrtps_cpp" : chosen_rmw();
  std::ranges::stable_partition(found, [&](const Rmw& rmw) { return rmw.name == first; });
  return found;
}

/// Says which RMW this process loads when ROS 2 is first asked for something. Empty: ROS 2's own choice.
inline void load_rmw(const std::string& name) {
  if (!name.empty()) setenv("RMW_IMPLEMENTATION", name.c_str(), 1);
}

/// "Fast DDS 2.9.1": the middleware under an RMW, by the library that is loaded with it. Loads both, if they are not yet; empty: not
/// known, or the RMW cannot be loaded.
[[nodiscard]] inline std::string beneath(const std::string& rmw) {
  struct Known {
    const char* name;
    const char* function;  // of its library
  };
  constexpr Known all[] = {
      {"Fast DDS", "_ZN8eprosima7fastdds3dds24DomainParticipantFactory12get_instanceEv"},
      {"Cyclone DDS", "dds_create_domain"},
      {"Connext DDS", "DDS_DomainParticipantFactory_get_instance"},
      {"zenoh", "z_open"},
  };
  void* const library = dlopen(("lib" + rmw + ".so").c_str(), RTLD_LAZY);  // for as long as the process lives
  if (library == nullptr) return "";
  for (const Known& each : all) {
    const void* const function = dlsym(library, each.function);
    if (function == nullptr) continue;
    const std::string version = kit::loaded_library(function).version;
    return each.name + (version.empty() ? "" : " " + version);
  }
  return "";
}

}  // namespace middlemark::ros2
