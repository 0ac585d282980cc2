// What the machine grants against what a trial needs: refused where it would crash, noted where it would only be slow.
#pragma once

#include <sys/statvfs.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "options.hpp"

namespace middlemark::fastdds {

/// Bytes of /dev/shm that one process of the trial takes.
[[nodiscard]] inline std::uint64_t shared_memory_bytes(const Settings& settings, const Options& options) {
  switch (options.carrier) {
    case Carrier::shm:
      return options.segment;
    case Carrier::data_sharing:
      return options.segment + options.pool_bytes(settings);
    default:
      return 0;
  }
}

/// A full /dev/shm is no error to Fast DDS but a SIGBUS at the first touch.
inline void check_shared_memory(const Settings& settings, const Options& options) {
  if (options.carrier == Carrier::data_sharing && options.pool_bytes(settings) > 4095ULL * mib) {
    throw AdapterError("fastdds: data-sharing: a history of " + std::to_string(options.pool_bytes(settings)) +
                           " bytes is beyond the 4 GiB of Fast DDS's pool",
                       "lower the depth or the size");
  }
  const std::uint64_t needed = shared_memory_bytes(settings, options);
  struct statvfs disk{};
  if (needed == 0 || statvfs("/dev/shm", &disk) != 0) return;
  const std::uint64_t available = disk.f_bavail * disk.f_frsize;
  if (needed > available) {
    throw AdapterError("fastdds: " + settings.transport + ": /dev/shm has " + std::to_string(available) +
                           " bytes left, each process of this trial needs " + std::to_string(needed),
                       "mount -o remount,size=" + std::to_string(2 * needed / mib + 64) + "M /dev/shm");
  }
}

/// The number in a file under /proc/sys; 0 when it cannot be read.
[[nodiscard]] inline std::uint64_t kernel_limit(const char* path) {
  std::uint64_t value = 0;
  std::ifstream(path) >> value;
  return value;
}

[[nodiscard]] inline std::vector<std::string> notes(const Settings& settings, const Options& options) {
  std::vector<std::string> all;
  const std::uint64_t granted = kernel_limit("/proc/sys/net/core/rmem_max");
  if (options.carrier == Carrier::udp && granted != 0 && options.socket_buffer > granted) {
    all.push_back(
        "the kernel grants receive buffers of " + std::to_string(granted) + " bytes where " +
        std::to_string(options.socket_buffer) +
        " were asked for: what does not fit is dropped and, if reliable, sent again; sysctl -w net.core.rmem_max=" +
        std::to_string(options.socket_buffer));
  }
  const std::uint32_t publishers = publishers_of_a_topic(settings);
  if (!settings.depth) {
    all.push_back("keep-all is bounded to " + std::to_string(options.writer_samples) + " messages at a writer and " +
                  std::to_string(options.reader_samples) + " at a reader");
  } else if (publishers > 1) {
    all.push_back("the depth counts per publisher: a reader that has " + std::to_string(publishers) +
                  " of them keeps " + std::to_string(std::uint64_t{*settings.depth} * publishers) + " messages");
  }
  return all;
}

}  // namespace middlemark::fastdds
