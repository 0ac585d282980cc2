// Reads the resources that this process has used so far: memory, processor time, context switches, page faults, and the
// times of each thread. The control thread calls this about once per second; not for hot paths.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <middlemark/protocol.hpp>

namespace middlemark {

/// Returns the processor time of ended threads: the process's user and system time minus the time of the living
/// threads. Threads run while the times are read, so the error is up to the duration of a reading, and the next reading
/// may return a smaller value.
[[nodiscard]] std::uint64_t ended_threads_ns(const Resources& resources) noexcept;

/// A file of /proc that stays open, because opening it takes four times as long as reading it.
class ProcFile {
 public:
  /// Never fails. If the file cannot be opened, read() reports the error.
  ProcFile(int directory, const char* path) noexcept;
  ~ProcFile();
  ProcFile(ProcFile&& other) noexcept;
  ProcFile& operator=(ProcFile&& other) noexcept;
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  /// Reads the current content from `offset` into `into`, as far as it fits, and returns the part that was read. Empty
  /// at the end of the file (errno is 0) or after an error (errno is set).
  [[nodiscard]] std::string_view read(std::span<char> into, std::size_t offset = 0) const noexcept;

 private:
  int descriptor_;  ///< if negative: -errno of the failed open
};

/// Reads the resources of this process. Keeps its buffers and two descriptors per thread, so that a reading costs only 2
/// to 3 us per thread; if every processor runs a role, one role stops for that time. Used by one thread at a time. A
/// forked child needs a reader of its own. Construction and reading throw AdapterError with the path if /proc is not
/// readable.
class ResourceReader {
 public:
  ResourceReader();
  ~ResourceReader();
  ResourceReader(const ResourceReader&) = delete;
  ResourceReader& operator=(const ResourceReader&) = delete;

  [[nodiscard]] Resources read();

 private:
  struct ThreadFiles {
    pid_t tid;
    ProcFile comm;
    ProcFile schedstat;
  };

  void read_memory(Resources& resources);
  void read_threads(Resources& resources);
  [[nodiscard]] std::optional<std::uint64_t> count_descriptors() const;
  [[nodiscard]] ThreadFiles open_thread(pid_t tid) const;
  [[nodiscard]] ThreadFiles files_of(pid_t tid);
  [[nodiscard]] static std::optional<ThreadUse> read_thread(const ThreadFiles& files);

  ProcFile status_;
  DIR* tasks_ = nullptr;
  DIR* descriptors_ = nullptr;  ///< null: not readable
  std::vector<char> text_;
  std::vector<ThreadFiles> threads_;  ///< the threads of the previous reading
};

/// How a thread has spent its time since it began. It slept for the rest of the wall-clock time.
struct ThreadTimes {
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t waiting_ns = 0;  ///< runnable without a processor; the kernel adds a wait when it ends
};

/// Returns the times of the thread `tid` (0: the calling thread). The times of another thread do not include its current
/// wait for a processor. Returns nullopt if the kernel has no schedstat or the process has no such thread.
[[nodiscard]] std::optional<ThreadTimes> thread_times(pid_t tid = 0) noexcept;

}  // namespace middlemark
