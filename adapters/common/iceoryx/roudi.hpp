// RouDi, iceoryx's daemon: the pool it is started with, and whether one runs. For every adapter whose messages lie in its shared memory.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

/// The one memory pool of a trial: all of its messages have the same size.
struct Pool {
  std::uint64_t chunk_bytes = 0;
  std::uint64_t chunks = 0;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return chunk_bytes * chunks; }
};

/// RouDi refuses chunks of other sizes than multiples of this.
[[nodiscard]] constexpr std::uint64_t aligned_chunk(std::uint64_t bytes) noexcept { return (bytes + 31) / 32 * 32; }

[[nodiscard]] inline std::string roudi_toml(const Pool& pool) {
  return "[general]\nversion = 1\n\n[[segment]]\n\n[[segment.mempool]]\nsize = " + std::to_string(pool.chunk_bytes) +
         "\ncount = " + std::to_string(pool.chunks) + "\n";
}

[[nodiscard]] inline std::filesystem::path roudi_toml_path(const Settings& settings, const std::string& adapter) {
  return std::filesystem::path(settings.scratch) / (adapter + "-roudi.toml");
}

/// Name under /dev/shm of the segment that holds the messages: iceoryx calls it by the group that may write to it, here
/// this process's. (iceoryx_mgmt holds queues and indices, never a message.)
[[nodiscard]] inline std::string data_segment() {
  const group* entry = getgrgid(getegid());
  return entry != nullptr ? entry->gr_name : std::to_string(getegid());
}

/// What is left by a killed RouDi, or one that outlived a killed worker (it aborts when it is stopped).
[[nodiscard]] inline std::vector<std::string> roudi_residue() {
  return {"/dev/shm/iceoryx_mgmt", "/dev/shm/" + data_segment(), "/tmp/roudi", "/tmp/roudi.lock",
          "/tmp/iox-unique-roudi.lock"};
}

/// RouDi holds this file locked as long as it runs.
inline constexpr const char* roudi_lock_path = "/tmp/iox-unique-roudi.lock";

[[nodiscard]] inline bool roudi_runs() {
  const int file = open(roudi_lock_path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno != ENOENT;  // another user's, which cannot be looked into, is one that runs
  const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0;
  close(file);
  return locked;
}

[[nodiscard]] inline std::string find_roudi(const std::string& adapter) {
  const char* search = std::getenv("PATH");
  std::string folders = search != nullptr ? search : "/usr/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string candidate = folders.substr(at, end - at) + "/iox-roudi";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  throw AdapterError(adapter + ": shm: iox-roudi, the daemon its shared memory needs, is not on the PATH",
                     "Debian, Ubuntu: apt install iceoryx");
}

/// Writes the configuration and says how to start RouDi with it.
[[nodiscard]] inline Companion roudi(const Settings& settings, const std::string& adapter, const Pool& pool) {
  if (roudi_runs()) {
    throw AdapterError(adapter + ": shm: a RouDi already runs on this machine, and there can be only one",
                       std::string("stop it ('fuser ") + roudi_lock_path + "' shows its process) and run again");
  }
  const std::string program = find_roudi(adapter);
  struct statvfs space{};
  constexpr std::uint64_t management_bytes = std::uint64_t{128} << 20;
  if (statvfs("/dev/shm", &space) == 0 && pool.bytes() + management_bytes > space.f_bavail * space.f_frsize) {
    throw AdapterError(adapter + ": shm: " + std::to_string(pool.chunks) + " chunks of " +
                           std::to_string(pool.chunk_bytes) + " bytes do not fit into /dev/shm",
                       "ask for fewer subscribers or smaller messages, or 'mount -o remount,size=" +
                           std::to_string((pool.bytes() >> 30) + 2) + "G /dev/shm'");
  }
  const std::filesystem::path path = roudi_toml_path(settings, adapter);
  std::ofstream file(path, std::ios::trunc);
  file << roudi_toml(pool);
  if (!file.flush()) throw AdapterError(adapter + ": shm: " + path.string() + " cannot be written");
  Companion companion;
  companion.name = "iox-roudi";
  // Monitoring off: RouDi would take a worker that was stopped or starved for 1.5 s for dead, and free what it still
  // uses.
  companion.argv = {program, "--config-file", path.string(), "--monitoring-mode", "off", "--log-level", "warning"};
  companion.ready_pattern = "RouDi is ready for clients";
  companion.ready_timeout_s = 10 + 5 * static_cast<double>(pool.bytes() >> 30);  // it writes to every page first
  return companion;
}

/// iceoryx ends the process when there is no RouDi or a chunk is larger than any pool's, so both are ruled out before.
inline void check_roudi(const Settings& settings, const std::string& adapter, std::uint64_t chunk_bytes) {
  const std::string advice =
      "start the daemon that 'middlemark-worker-" + adapter + " --companions' names, with its configuration";
  if (!roudi_runs()) throw AdapterError(adapter + ": shm: RouDi does not run", advice);
  const std::filesystem::path path = roudi_toml_path(settings, adapter);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::smatch size;
  if (!std::regex_search(text, size, std::regex("size = ([0-9]+)"))) {
    throw AdapterError(adapter + ": shm: " + path.string() + ", RouDi's configuration, is not there", advice);
  }
  if (std::stoull(size[1]) < chunk_bytes) {
    throw AdapterError(adapter + ": shm: RouDi's chunks of " + size[1].str() + " bytes (" + path.string() +
                           ") cannot hold messages of " + std::to_string(settings.message_bytes) + " bytes",
                       advice);
  }
}

}  // namespace middlemark::iceoryx
