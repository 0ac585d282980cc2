// Keeps every sample raw, in memory that was mapped and touched before the start. Exact: no histogram, no sampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace middlemark {

/// One completed round trip, as it stands in the samples file (docs/protocol.md). All times in ns.
struct Sample {
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

  std::uint64_t sequence = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t round_trip_ns = 0;
  std::uint64_t first_reply_ns = 0;
  std::uint32_t write_ns = absent;
  std::uint32_t take_ns = absent;
  std::uint32_t loan_ns = absent;
  std::uint32_t fill_ns = absent;
  std::uint32_t check_ns = absent;
  std::uint32_t replies = 0;

  /// A duration for the 4-byte fields: saturates one below `absent` (4.29 s).
  [[nodiscard]] static constexpr std::uint32_t clamp(std::uint64_t ns) noexcept {
    return ns < absent ? static_cast<std::uint32_t>(ns) : absent - 1;
  }
};
static_assert(sizeof(Sample) == 56);

/// A fixed number of samples. Construction maps and pre-faults (huge pages where there are any) and may throw
/// std::system_error; keep() neither allocates, locks nor throws, and refuses when full.
class Recorder {
 public:
  explicit Recorder(std::size_t capacity);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool keep(const Sample& sample) noexcept {
    if (count_ == capacity_) [[unlikely]]
      return false;
    samples_[count_++] = sample;
    return true;
  }

  [[nodiscard]] bool full() const noexcept { return count_ == capacity_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<const Sample> samples() const noexcept { return {samples_, count_}; }

  /// Writes a NumPy .npy file (format 1.0) with the named fields of Sample. Throws std::system_error with the path; a partly
  /// written file is removed.
  void write_npy(const std::string& path) const;

 private:
  Sample* samples_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t count_ = 0;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace middlemark
