// What this process has used so far: memory, processor time, context switches, page faults, and each thread's share. Read by
// the control thread, about once a second; nothing here belongs on a hot path.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/protocol.hpp>

namespace middlemark {

/// Processor time of the threads that have ended: user and system less what the living account for, so that all of it adds up.
/// True to the duration of a reading (threads run on meanwhile), and so between two readings it may shrink by as much.
[[nodiscard]] std::uint64_t ended_threads_ns(const Resources& resources) noexcept;

/// A file of /proc, kept open: opening one costs four times what reading it does.
class ProcFile {
 public:
  /// Never fails; a file that could not be opened says so when it is read.
  ProcFile(int directory, const char* path) noexcept;
  ~ProcFile();
  ProcFile(ProcFile&& other) noexcept;
  ProcFile& operator=(ProcFile&& other) noexcept;
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  /// The present content from `offset` on, as far as it fits. Empty: the end, or an error, which errno then tells.
  [[nodiscard]] std::string_view read(std::span<char> into, std::size_t offset = 0) const noexcept;

 private:
  int descriptor_;  ///< or minus the error of opening
};

/// Reads this process. Keeps its buffers and two descriptors a thread, so that a reading costs little (2 to 3 us a thread): where
/// every processor has a role, that long a role stands still. One thread at a time; a forked child needs a reader of its own.
/// Construction and reading throw AdapterError with the path when /proc does not answer.
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
  [[nodiscard]] ThreadFiles open_thread(pid_t tid) const;
  [[nodiscard]] ThreadFiles files_of(pid_t tid);
  [[nodiscard]] static std::optional<ThreadUse> read_thread(const ThreadFiles& files);

  ProcFile status_;
  DIR* tasks_ = nullptr;
  std::vector<char> text_;
  std::vector<ThreadFiles> threads_;  ///< those that the reading before listed
};

/// How a thread of this process spent its time since it began. What is left of the wall clock, it slept.
struct ThreadTimes {
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t waiting_ns = 0;  ///< runnable, but another had the processor; a wait counts when it is over
};

/// Of the calling thread (0) or another by its id. Exact for the calling thread; another one's present wait for a processor is
/// not in it yet. nullopt: the kernel does not tell (no schedstat), or there is no such thread in this process.
[[nodiscard]] std::optional<ThreadTimes> thread_times(pid_t tid = 0) noexcept;

}  // namespace middlemark
