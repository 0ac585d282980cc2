// Properties of the machine that adapters need: programs, kernel limits, memory.
#pragma once

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::kit {

/// The version of the kernel, which is also the version of middlewares that are part of the kernel.
[[nodiscard]] inline std::string kernel_release() {
  utsname names{};
  uname(&names);
  return names.release;
}

/// The number in /proc/sys/<name>, such as "net/core/rmem_max"; `otherwise` if it cannot be read.
[[nodiscard]] inline std::uint64_t kernel_limit(const std::string& name, std::uint64_t otherwise = 0) {
  std::uint64_t value = 0;
  return std::ifstream("/proc/sys/" + name) >> value ? value : otherwise;
}

[[nodiscard]] inline std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L)) *
         static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
}

/// Raises the limit of open descriptors to this user's maximum, because each pair of publisher and subscriber may need
/// two.
inline void allow_many_descriptors() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Returns the absolute path of a program on the PATH or in /usr/sbin. Debian installs daemons in /usr/sbin, which is
/// not on every user's PATH. If `library` is <prefix>/lib/…, <prefix>/bin is searched first, so that the program comes
/// from the same installation. Throws an AdapterError with `advice` if there is no such program.
[[nodiscard]] inline std::string find_program(const std::string& name, const std::string& advice,
                                              const std::string& library = {}) {
  const char* const path = std::getenv("PATH");
  const std::string same = std::filesystem::path(library).parent_path().parent_path() / "bin";
  const std::string folders = same + ":" + (path != nullptr ? path : "/usr/bin") + ":/usr/sbin:/usr/local/sbin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    std::string candidate = folders.substr(at, end - at) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  throw AdapterError(name + " is neither on the PATH nor in /usr/sbin", advice);
}

}  // namespace middlemark::kit
