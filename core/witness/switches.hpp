// The kernel's record of context switches (perf_event_open) on the roles' processors, read when a ring fills and at the end.
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

/// The ring of one processor, and the events that write to it.
class Ring {
 public:
  /// For the processes `workers`. Throws std::system_error when the kernel refuses.
  Ring(WatchScope scope, int cpu, const std::vector<pid_t>& workers, std::size_t most_spells);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Readable when a good part of the ring is full.
  [[nodiscard]] int descriptor() const noexcept { return events_.front(); }
  /// Takes out what is there.
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
  std::size_t bytes_ = 0;  ///< of the data, a power of two
  std::vector<char> wrapped_;
  std::uint64_t lost_ = 0;
  std::uint64_t records_ = 0;
};

/// All processors of the roles.
class SwitchWatch {
 public:
  /// Sees as much as the kernel allows. Throws std::system_error when that is nothing.
  SwitchWatch(const std::vector<int>& cpus, const std::vector<pid_t>& workers);
  ~SwitchWatch();
  SwitchWatch(const SwitchWatch&) = delete;
  SwitchWatch& operator=(const SwitchWatch&) = delete;

  [[nodiscard]] WatchScope scope() const noexcept { return scope_; }
  /// Readable when a ring should be drained.
  [[nodiscard]] int descriptor() const noexcept { return epoll_; }
  void drain();
  /// Ends the watching; then, what was seen between two instants.
  void stop();
  [[nodiscard]] Seen seen(std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most) const;
  /// Nothing was lost and nothing left out.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::uint64_t records() const;
  [[nodiscard]] std::uint64_t lost() const;
  /// The name of a process that was seen, as it was when first seen; empty: it had gone by then, or is not told.
  [[nodiscard]] std::string name(pid_t pid) const;

 private:
  void open(WatchScope scope, const std::vector<int>& cpus, const std::vector<pid_t>& workers);
  void learn_names();

  WatchScope scope_ = WatchScope::processors;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::map<pid_t, std::string> names_;
  std::vector<std::size_t> named_;
};

}  // namespace middlemark::witness
