// A named segment of shared memory. The process that opens it first creates it. A new segment contains zeros, and every
// structure in it must be valid when it is all zeros. So no process has to initialise the segment while others wait.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <middlemark/settings.hpp>

namespace middlemark::kit {

/// Throws an AdapterError if /dev/shm has fewer than `bytes` left. Most middlewares do not check this, and the first
/// write to a full /dev/shm ends the process with SIGBUS.
inline void require_shared_memory(std::uint64_t bytes, const std::string& what) {
  struct statvfs disk{};
  if (statvfs("/dev/shm", &disk) != 0 || bytes <= disk.f_bavail * disk.f_frsize) return;
  throw AdapterError(what + " take " + std::to_string(bytes) + " bytes of /dev/shm, which has " +
                         std::to_string(disk.f_bavail * disk.f_frsize) + " left",
                     "ask for fewer or smaller messages, or mount -o remount,size=" +
                         std::to_string((2 * bytes >> 20) + 64) + "M /dev/shm");
}

class Segment {
 public:
  Segment() = default;
  /// Maps and pre-faults the memory. `bytes` must be the same in every process. Throws an AdapterError with the path.
  Segment(const std::string& name, std::size_t bytes) : name_("/" + name), bytes_(bytes) {
    const int descriptor = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) throw error("cannot be opened");
    if (ftruncate(descriptor, static_cast<off_t>(bytes_)) != 0) {
      const AdapterError failure = error("cannot be sized");
      close(descriptor);
      unlink();
      throw failure;
    }
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (memory == MAP_FAILED) {
      const AdapterError failure = error("cannot be mapped");
      unlink();
      throw failure;
    }
    memory_ = static_cast<std::byte*>(memory);
    madvise(memory_, bytes_, MADV_HUGEPAGE);  // may fail
#ifdef MADV_POPULATE_WRITE
    if (madvise(memory_, bytes_, MADV_POPULATE_WRITE) != 0 && errno == EFAULT) {
      // Without this check the process would get a SIGBUS during the measurement.
      munmap(memory_, bytes_);
      unlink();
      throw AdapterError("/dev/shm is full: " + std::to_string(bytes_ >> 20) + " MiB for " + name_,
                         "see `df -h /dev/shm`; delete files left there, or remount it with a larger size=");
    }
#endif
  }
  ~Segment() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  Segment(Segment&& other) noexcept
      : name_(std::move(other.name_)), bytes_(other.bytes_), memory_(std::exchange(other.memory_, nullptr)) {}
  Segment& operator=(Segment&&) = delete;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }
  /// Removes the name; the memory exists until the last process unmaps it. Does nothing if the name is removed already.
  void unlink() const noexcept { shm_unlink(name_.c_str()); }

 private:
  [[nodiscard]] AdapterError error(const char* what) const {
    return AdapterError("/dev/shm" + name_ + " (" + std::to_string(bytes_) + " bytes) " + what + ": " +
                        std::strerror(errno));
  }

  std::string name_;
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace middlemark::kit
