// RouDi, iceoryx's daemon: the pools it is started with, and whether one runs. Cyclone's shared memory is iceoryx's.
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
#include <regex>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// Messages read by one dds_takecdr at most: each keeps its chunk until all have been visited.
inline constexpr std::uint32_t chunks_taken_at_once = 8;

/// iceoryx's limit is 256 chunks held by a reader; one is kept for the message on its way into a full history.
inline constexpr std::uint32_t iceoryx_most_depth = 255;

/// The one memory pool of a trial: all of its messages have the same size.
struct Pool {
  std::uint64_t chunk_bytes = 0;
  std::uint64_t chunks = 0;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return chunk_bytes * chunks; }
};

/// iceoryx's ChunkHeader (40 bytes), Cyclone's own (some 70) and their alignment, with room for the next patch release.
inline constexpr std::uint64_t chunk_overhead_bytes = 256;
inline constexpr std::uint64_t chunk_alignment = 32;  // RouDi refuses other sizes

/// Chunks that the ends of one topic can hold at once, when each reader keeps `depth` messages.
[[nodiscard]] constexpr std::uint64_t chunks_held(std::uint64_t publishers, std::uint64_t subscribers,
                                                  std::uint64_t depth) {
  const std::uint64_t writer = 2;  // the one being filled, and the one sent last
  const std::uint64_t reader =
      2 * depth + 1 + std::min<std::uint64_t>(depth, chunks_taken_at_once);  // queue, history, on the way, taken
  return publishers * writer + subscribers * reader;
}

[[nodiscard]] inline Pool pool_for(const Settings& settings) {
  constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;
  const auto chunks_at = [&settings](std::uint64_t depth) {
    const std::uint64_t publishers = settings.publishers;
    const std::uint64_t subscribers = settings.subscribers;
    switch (settings.pattern) {
      case Pattern::ping_pong:  // one topic there, one back
        return chunks_held(1, subscribers, depth) + chunks_held(subscribers, 1, depth * subscribers);
      case Pattern::request_reply:
        return chunks_held(publishers, 1, depth * publishers) + chunks_held(1, publishers, depth);
      case Pattern::stream:  // the publishers of a topic, rounded up: they are dealt out over the topics
        return chunks_held(publishers, subscribers, depth * ((publishers + settings.topics - 1) / settings.topics));
    }
    return std::uint64_t{0};
  };
  Pool pool;
  pool.chunk_bytes =
      (settings.message_bytes + chunk_overhead_bytes + chunk_alignment - 1) / chunk_alignment * chunk_alignment;
  // Deep histories of large messages are seldom full: the memory is bounded, but never below what a depth of 1 needs.
  pool.chunks = std::max(chunks_at(1), std::min(chunks_at(settings.depth.value_or(1)), most_bytes / pool.chunk_bytes));
  return pool;
}

[[nodiscard]] inline std::string roudi_toml(const Pool& pool) {
  return "[general]\nversion = 1\n\n[[segment]]\n\n[[segment.mempool]]\nsize = " + std::to_string(pool.chunk_bytes) +
         "\ncount = " + std::to_string(pool.chunks) + "\n";
}

[[nodiscard]] inline std::filesystem::path roudi_toml_path(const Settings& settings) {
  return std::filesystem::path(settings.scratch) / "cyclonedds-roudi.toml";
}

/// Name under /dev/shm of the segment that holds the messages: iceoryx calls it by the group that may write to it, here
/// this process's. (iceoryx_mgmt holds queues and indices, never a message.)
[[nodiscard]] inline std::string data_segment() {
  const group* entry = getgrgid(getegid());
  return entry != nullptr ? entry->gr_name : std::to_string(getegid());
}

/// What is left by a killed RouDi, a killed worker, or a RouDi that outlived a killed worker (it aborts when it is
/// stopped).
[[nodiscard]] inline std::vector<std::string> roudi_residue() {
  return {"/dev/shm/iceoryx_mgmt", "/dev/shm/" + data_segment(), "/tmp/roudi",
          "/tmp/roudi.lock",       "/tmp/iox-unique-roudi.lock", "/tmp/iceoryx_rt_*"};
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

[[nodiscard]] inline std::string find_roudi() {
  const char* search = std::getenv("PATH");
  std::string folders = search != nullptr ? search : "/usr/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string candidate = folders.substr(at, end - at) + "/iox-roudi";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  throw AdapterError("cyclonedds: shm: iox-roudi, the daemon its shared memory needs, is not on the PATH",
                     "Debian, Ubuntu: apt install iceoryx");
}

/// Writes the configuration and says how to start RouDi with it.
[[nodiscard]] inline Companion roudi(const Settings& settings) {
  if (roudi_runs()) {
    throw AdapterError("cyclonedds: shm: a RouDi already runs on this machine, and there can be only one",
                       std::string("stop it ('fuser ") + roudi_lock_path + "' shows its process) and run again");
  }
  const std::string program = find_roudi();
  const Pool pool = pool_for(settings);
  struct statvfs space{};
  constexpr std::uint64_t management_bytes = std::uint64_t{128} << 20;
  if (statvfs("/dev/shm", &space) == 0 && pool.bytes() + management_bytes > space.f_bavail * space.f_frsize) {
    throw AdapterError("cyclonedds: shm: " + std::to_string(pool.chunks) + " chunks of " +
                           std::to_string(pool.chunk_bytes) + " bytes do not fit into /dev/shm",
                       "ask for fewer subscribers or smaller messages, or 'mount -o remount,size=" +
                           std::to_string((pool.bytes() >> 30) + 2) + "G /dev/shm'");
  }
  const std::filesystem::path path = roudi_toml_path(settings);
  std::ofstream file(path, std::ios::trunc);
  file << roudi_toml(pool);
  if (!file.flush()) throw AdapterError("cyclonedds: shm: " + path.string() + " cannot be written");
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
inline void check_roudi(const Settings& settings) {
  const std::string advice =
      "start the daemon that 'middlemark-worker-cyclonedds --companions' names, with its configuration";
  if (!roudi_runs()) throw AdapterError("cyclonedds: shm: RouDi does not run", advice);
  const std::filesystem::path path = roudi_toml_path(settings);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::smatch size;
  if (!std::regex_search(text, size, std::regex("size = ([0-9]+)"))) {
    throw AdapterError("cyclonedds: shm: " + path.string() + ", RouDi's configuration, is not there", advice);
  }
  if (std::stoull(size[1]) < pool_for(settings).chunk_bytes) {
    throw AdapterError("cyclonedds: shm: RouDi's chunks of " + size[1].str() + " bytes (" + path.string() +
                           ") cannot hold messages of " + std::to_string(settings.message_bytes) + " bytes",
                       advice);
  }
}

}  // namespace middlemark::cyclonedds
