// RouDi, iceoryx's daemon: its memory pools, its command line, and a check that it runs. Used by every adapter that
// sends through iceoryx's shared memory.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/segment.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

struct Pool {
  std::uint64_t chunk_bytes = 0;
  std::uint64_t chunks = 0;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return chunk_bytes * chunks; }
};

/// RouDi requires chunk sizes that are multiples of 32.
[[nodiscard]] constexpr std::uint64_t aligned_chunk(std::uint64_t bytes) noexcept { return (bytes + 31) / 32 * 32; }

[[nodiscard]] inline std::string roudi_toml(const std::string& adapter) { return adapter + "-roudi.toml"; }

/// Returns the name under /dev/shm of the segment that contains the messages. The segment's name is the name of the
/// group that may write to it, which is this process's group. (The segment iceoryx_mgmt contains queues and indices,
/// never a message.)
[[nodiscard]] inline std::string data_segment() {
  const group* entry = getgrgid(getegid());
  return entry != nullptr ? entry->gr_name : std::to_string(getegid());
}

/// Returns the files that RouDi leaves if it is killed, or if it is stopped after a worker was killed (it then aborts).
[[nodiscard]] inline std::vector<std::string> roudi_residue() {
  return {"/dev/shm/iceoryx_mgmt", "/dev/shm/" + data_segment(), "/tmp/roudi", "/tmp/roudi.lock",
          "/tmp/iox-unique-roudi.lock"};
}

/// RouDi keeps this file locked while it runs.
inline constexpr const char* roudi_lock_path = "/tmp/iox-unique-roudi.lock";

[[nodiscard]] inline bool roudi_runs() {
  const kit::Descriptor file(open(roudi_lock_path, O_RDONLY | O_CLOEXEC));
  if (!file) return errno != ENOENT;  // another user's lock file cannot be opened: assume that a RouDi runs
  return flock(file.get(), LOCK_SH | LOCK_NB) != 0;
}

/// Returns RouDi's configuration. `pools`: in ascending order of chunk size.
[[nodiscard]] inline std::string roudi_configuration(const std::vector<Pool>& pools) {
  std::string toml = "[general]\nversion = 1\n\n[[segment]]\n";
  for (const Pool& pool : pools) {
    toml += "\n[[segment.mempool]]\nsize = " + std::to_string(pool.chunk_bytes) +
            "\ncount = " + std::to_string(pool.chunks) + "\n";
  }
  return toml;
}

/// Writes RouDi's configuration and returns the command that starts RouDi with it. `pools`: in ascending order of chunk
/// size. `library`: path of the clients' library. RouDi must be of the same version, because it refuses clients of
/// another version.
[[nodiscard]] inline Companion roudi(const Settings& settings, const std::string& adapter,
                                     const std::vector<Pool>& pools, const std::string& library) {
  if (roudi_runs()) {
    throw AdapterError(adapter + ": shm: a RouDi already runs on this machine, and there can be only one",
                       std::string("stop it (`fuser ") + roudi_lock_path + "` shows its process) and run again");
  }
  constexpr std::uint64_t management_bytes = std::uint64_t{128} << 20;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  for (const Pool& pool : pools) {
    bytes += pool.bytes();
    chunks += pool.chunks;
  }
  kit::require_shared_memory(bytes + management_bytes, adapter + ": " + settings.transport + ": " +
                                                           std::to_string(chunks) + " chunks of RouDi's");
  kit::Rendezvous(settings).leave(roudi_toml(adapter), roudi_configuration(pools));
  // Monitoring is off, because RouDi would treat a worker that did not run for 1.5 s as dead, and free memory that the
  // worker still uses.
  return {
      .name = "iox-roudi",
      .argv = {kit::find_program("iox-roudi", "Debian, Ubuntu: apt install iceoryx", library), "--config-file",
               settings.scratch + "/" + roudi_toml(adapter), "--monitoring-mode", "off", "--log-level", "warning"},
      .ready_pattern = "RouDi is ready for clients",
      .ready_timeout_s = 10 + 5 * static_cast<double>(bytes >> 30)};  // RouDi writes to every page before it is ready
}

/// Throws an AdapterError if no RouDi runs, or if its largest chunks are smaller than `chunk_bytes`. In both cases
/// iceoryx would end the process.
inline void check_roudi(const Settings& settings, const std::string& adapter, std::uint64_t chunk_bytes) {
  const std::string advice =
      "start the daemon that 'middlemark-worker-" + adapter + " --companions' names, with its configuration";
  if (!roudi_runs()) throw AdapterError(adapter + ": shm: RouDi does not run", advice);
  const std::string toml = roudi_toml(adapter);
  const std::string configuration = kit::Rendezvous(settings).find(toml).value_or("");
  std::smatch size;
  if (!std::regex_search(configuration, size,
                         std::regex("^[\\s\\S]*size = ([0-9]+)"))) {  // greedy: the last pool
    throw AdapterError(adapter + ": shm: RouDi's configuration " + toml + " was not found", advice);
  }
  if (std::stoull(size[1]) < chunk_bytes) {
    throw AdapterError(adapter + ": shm: RouDi's chunks of " + size[1].str() + " bytes (" + toml +
                           ") cannot hold messages of " + std::to_string(settings.message_bytes) + " bytes",
                       advice);
  }
}

}  // namespace middlemark::iceoryx
