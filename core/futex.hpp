// Sleeps on a 32-bit word with a timeout, within a process or (shared) across processes. std::atomic::wait has no
// timeout and does not work across processes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace middlemark {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

enum class FutexScope : int { process = FUTEX_PRIVATE_FLAG, shared = 0 };

/// Sleeps while `word` == `expected`, at most `timeout` (> 0). Returns false after the timeout. May also return true
/// before `word` has changed.
inline bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds timeout,
                       FutexScope scope) noexcept {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec span{whole.count(), static_cast<long>((timeout - whole).count())};
  const long answer = syscall(SYS_futex, &word, FUTEX_WAIT | static_cast<int>(scope), expected, &span, nullptr, 0);
  return answer == 0 || errno != ETIMEDOUT;
}

inline void futex_wake(const std::atomic<std::uint32_t>& word, int waiters, FutexScope scope) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(scope), waiters, nullptr, nullptr, 0);
}

}  // namespace middlemark
