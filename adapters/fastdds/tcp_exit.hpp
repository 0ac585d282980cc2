// How a process of a trial ends over TCP: without taking Fast DDS down, and without any of its threads seeing a peer go.
//
// Fast DDS 2.9 can do neither safely. Deleting a participant frees a receiver as soon as one of the threads that read
// its connections says that it is done with it, for they share one flag: with two peers or more another thread still
// writes to it. And when a connection ends, the thread that reads it takes the socket while a thread that sends may be
// replacing it by a new one, without a lock. Both corrupt the heap.
//
// Nothing of a TCP participant outlives its process, so the kernel may have it. Each process halts all its threads but
// this one, and ends when those of every other process have been halted too.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace middlemark::fastdds {

/// What this process must know at its end. Each process holds a lock on a file of its own until its threads are halted;
/// the kernel lets go of the lock of one that died.
struct TcpExit {
  int own = -1;
  std::vector<std::string> others;
};

/// Set when the process takes its place among those of the trial; it outlives the adapter.
inline std::optional<TcpExit>& tcp_exit() {
  static std::optional<TcpExit> one;
  return one;
}

using Deadline = std::chrono::steady_clock::time_point;

/// A while; false after the deadline.
[[nodiscard]] inline bool pause_until(Deadline deadline) noexcept {
  const timespec pause{0, 200'000};
  nanosleep(&pause, nullptr);
  return std::chrono::steady_clock::now() < deadline;
}

/// Has every other thread sleep for good, wherever it is. It may hold any lock, malloc's too: after this, system calls
/// only.
inline void halt_other_threads(Deadline deadline) noexcept {
  static std::atomic<int> halted{0};
  static_assert(std::atomic<int>::is_always_lock_free);
  struct sigaction action{};
  action.sa_handler = [](int) {
    halted.fetch_add(1);
    for (;;) pause();
  };
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);

  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  for (;;) {
    const int before = halted.load();  // read first: a thread that was not halted by now may have started another
    int others = 0;
    alignas(dirent64) char entries[4096];
    lseek(tasks, 0, SEEK_SET);
    for (ssize_t size = 0; (size = getdents64(tasks, entries, sizeof entries)) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto& entry = *reinterpret_cast<const dirent64*>(entries + at);
        at += entry.d_reclen;
        const pid_t thread = std::atoi(entry.d_name);
        if (thread == 0 || thread == gettid()) continue;  // 0: "." and ".."
        ++others;
        tgkill(getpid(), thread, SIGUSR1);
      }
    }
    if (others == before || !pause_until(deadline)) break;
  }
  ::close(tasks);
}

/// Until the process that holds this lock has halted its threads or is gone.
inline void await_halted(const std::string& path, Deadline deadline) noexcept {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;  // nobody took that place
  while (flock(file, LOCK_SH | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
    if (!pause_until(deadline)) break;
  }
  ::close(file);
}

/// The end of main(). Over TCP it does not return: destructors of static objects must not meet Fast DDS's threads either.
[[nodiscard]] inline int leave(int status) {
  if (!tcp_exit()) return status;
  std::fflush(nullptr);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);  // the launcher waits for three
  halt_other_threads(deadline);
  ::close(tcp_exit()->own);
  for (const std::string& other : tcp_exit()->others) await_halted(other, deadline);
  _exit(status);
}

}  // namespace middlemark::fastdds
