// Reads the kernel's records of context switches (perf_event_open) on the roles' processors. They are read when a ring
// is half full and at the end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <middlemark/protocol.hpp>
#include <middlemark/witness/occupancy.hpp>

namespace middlemark::witness {

/// The ring buffer of one processor, and the events that write to it.
class Ring {
 public:
  /// `workers` are process ids. Throws std::system_error if the kernel refuses.
  Ring(WatchScope scope, int cpu, const std::vector<pid_t>& workers, std::size_t most_spells);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Becomes readable when half of the ring is full.
  [[nodiscard]] int descriptor() const noexcept { return events_.front(); }
  /// Processes the records in the ring.
  void drain();
  void stop() noexcept;
  [[nodiscard]] Occupancy& occupancy() noexcept { return occupancy_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

 private:
  void open(pid_t pid, bool inherit);
  void unmap() noexcept;
  void take(const char* record);

  WatchScope scope_;
  int cpu_;
  Occupancy occupancy_;
  std::vector<int> events_;
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;  ///< size of the data, a power of two
  std::vector<char> wrapped_;
  std::uint64_t lost_ = 0;
  std::uint64_t records_ = 0;
};

/// Watches the context switches of all processors of the roles.
class SwitchWatch {
 public:
  /// Watches all processes on `cpus`, or only the workers if the kernel does not allow that. Throws std::system_error if
  /// it allows neither.
  SwitchWatch(const std::vector<int>& cpus, const std::vector<pid_t>& workers);
  ~SwitchWatch();
  SwitchWatch(const SwitchWatch&) = delete;
  SwitchWatch& operator=(const SwitchWatch&) = delete;

  [[nodiscard]] WatchScope scope() const noexcept { return scope_; }
  /// Becomes readable when a ring should be drained.
  [[nodiscard]] int descriptor() const noexcept { return epoll_; }
  void drain();
  /// Stops watching. After that, seen() summarises the time between two instants.
  void stop();
  [[nodiscard]] Seen seen(std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most) const;
  /// Returns whether every context switch was recorded: true if no record was lost and no spell was left out.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::uint64_t records() const;
  [[nodiscard]] std::uint64_t lost() const;
  /// Returns the name that a process had when it was first seen; empty if it had already ended or the kernel does not
  /// report it.
  [[nodiscard]] std::string name(pid_t pid) const;

 private:
  void open(WatchScope scope, const std::vector<int>& cpus, const std::vector<pid_t>& workers);
  void read_names();

  WatchScope scope_ = WatchScope::processors;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::map<pid_t, std::string> names_;
  std::vector<std::size_t> named_;
};

}  // namespace middlemark::witness
