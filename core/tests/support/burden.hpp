// Uses known amounts of processor time and memory, for tests of the reported resources.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace middlemark::test {

inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr std::size_t mib = std::size_t{1} << 20U;

inline std::uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Keeps the processor busy until the calling thread has used this processor time.
inline void burn(std::uint64_t processor_ns) {
  const std::uint64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + processor_ns;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until) {
    for (std::atomic<int> i = 0; i < 10'000; ++i) {
    }
  }
}

/// Anonymous memory, mapped by a system call, so that a sanitizer adds no memory of its own.
class Mapping {
 public:
  explicit Mapping(std::size_t bytes) : bytes_(bytes) {
    const long at = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    start_ = at == -1 ? nullptr : reinterpret_cast<char*>(at);
    syscall(SYS_madvise, start_, bytes, MADV_NOHUGEPAGE);  // one fault per page
  }
  ~Mapping() { unmap(); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[gnu::no_sanitize_address, gnu::no_sanitize_thread, gnu::no_sanitize_undefined]] void touch() const {
    for (std::size_t at = 0; at < bytes_; at += page) *const_cast<volatile char*>(start_ + at) = 1;
  }
  void unmap() {
    if (start_ != nullptr) syscall(SYS_munmap, start_, bytes_);
    start_ = nullptr;
  }
  [[nodiscard]] bool mapped() const { return start_ != nullptr; }
  [[nodiscard]] std::size_t pages() const { return bytes_ / page; }

 private:
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t bytes_;
  char* start_ = nullptr;
};

}  // namespace middlemark::test
