// Lists the installed RMWs, selects the RMW that this process loads, and finds the middleware that an RMW uses. Does
// not use rclcpp.
//
// A process can load only one RMW, whose name is in RMW_IMPLEMENTATION. If this variable is set, rcl loads the RMW
// before main(). So a worker restarts without the variable (start_without_rmw()) and later sets it to the RMW of its
// trial's transport (load_rmw()).
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

/// The variable in which a worker keeps the value of RMW_IMPLEMENTATION, the user's default.
inline constexpr const char* kept_rmw = "MIDDLEMARK_RMW_IMPLEMENTATION";

/// If RMW_IMPLEMENTATION or RCL_ASSERT_RMW_ID_MATCHES is set, restarts this executable (execv) without both, and keeps the
/// value of RMW_IMPLEMENTATION in `kept_rmw`. Call first in main().
inline void start_without_rmw(char** argv) {
  const char* const asked = std::getenv("RMW_IMPLEMENTATION");
  if (asked == nullptr && std::getenv("RCL_ASSERT_RMW_ID_MATCHES") == nullptr) return;
  if (asked != nullptr) setenv(kept_rmw, asked, 1);
  unsetenv("RMW_IMPLEMENTATION");
  unsetenv("RCL_ASSERT_RMW_ID_MATCHES");
  std::error_code error;
  execv(std::filesystem::read_symlink("/proc/self/exe", error).c_str(), argv);
  std::fprintf(stderr, "the worker cannot restart itself without RMW_IMPLEMENTATION: %s\n", std::strerror(errno));
  std::exit(1);
}

/// True for --describe, which may load every RMW to find the middleware that each uses. A worker that measures loads
/// only one RMW.
inline bool measures_nothing = false;

/// Returns the user's default RMW, which RMW_IMPLEMENTATION named when the worker started; empty if it was not set.
[[nodiscard]] inline std::string chosen_rmw() {
  const char* const chosen = std::getenv(kept_rmw);
  return chosen != nullptr ? chosen : "";
}

struct Rmw {
  std::string name;     ///< the package's name, as in RMW_IMPLEMENTATION
  std::string version;  ///< the package's version; empty if unknown
};

/// Returns the text between <version> and </version>; empty if there is none.
[[nodiscard]] inline std::string package_version(const std::filesystem::path& package_xml) {
  std::ifstream file(package_xml);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string opening = "<version>";
  const std::size_t begin = text.find(opening);
  const std::size_t end = text.find("</version>");
  if (begin == text.npos || end == text.npos || end < begin) return "";
  return text.substr(begin + opening.size(), end - begin - opening.size());
}

/// Returns every RMW in the ament index. The user's default (or ROS 2's, rmw_fastrtps_cpp) comes first, the others follow in
/// the order of their names. If a name occurs twice, the first prefix in AMENT_PREFIX_PATH counts.
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
      if (name == "rmw_implementation") continue;  // no RMW: this package loads the RMW
      versions.try_emplace(name, package_version(share / name / "package.xml"));
    }
  }
  std::vector<Rmw> found;
  for (const auto& [name, version] : versions) found.push_back({name, version});
  const std::string first = chosen_rmw().empty() ? "rmw_fastrtps_cpp" : chosen_rmw();
  std::ranges::stable_partition(found, [&](const Rmw& rmw) { return rmw.name == first; });
  return found;
}

/// Selects the RMW that this process loads when it first uses ROS 2. Empty: ROS 2's default.
inline void load_rmw(const std::string& name) {
  if (!name.empty()) setenv("RMW_IMPLEMENTATION", name.c_str(), 1);
}

/// Loads an RMW and returns the middleware that was loaded with it, such as "Fast DDS 2.9.1". Empty if the middleware is
/// unknown or the RMW cannot be loaded.
[[nodiscard]] inline std::string beneath(const std::string& rmw) {
  struct Middleware {
    const char* name;
    const char* function;  // a function that only this middleware's library has
  };
  constexpr Middleware all[] = {
      {"Fast DDS", "_ZN8eprosima7fastdds3dds24DomainParticipantFactory12get_instanceEv"},
      {"Cyclone DDS", "dds_create_domain"},
      {"Connext DDS", "DDS_DomainParticipantFactory_get_instance"},
      {"zenoh", "z_open"},
  };
  void* const library = dlopen(("lib" + rmw + ".so").c_str(), RTLD_LAZY);  // never closed
  if (library == nullptr) return "";
  for (const Middleware& middleware : all) {
    const void* const function = dlsym(library, middleware.function);
    if (function == nullptr) continue;
    const std::string version = kit::loaded_library(function).version;
    return middleware.name + (version.empty() ? "" : " " + version);
  }
  return "";
}

}  // namespace middlemark::ros2
