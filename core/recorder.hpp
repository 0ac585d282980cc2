// Stores each sample as a raw record, in memory that was mapped and touched before the start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <middlemark/records.hpp>

namespace middlemark {

/// Returns a duration for a field of a record, limited to absent_ns - 1 (4.29 s).
[[nodiscard]] constexpr std::uint32_t clamp_ns(std::uint64_t ns) noexcept {
  return ns < absent_ns ? static_cast<std::uint32_t>(ns) : absent_ns - 1;
}

/// Memory for `records` records of `record_bytes` each, with every page faulted in, and on huge pages if possible. Maps
/// nothing for 0 records. Throws std::system_error.
class PrefaultedMemory {
 public:
  PrefaultedMemory(std::size_t records, std::size_t record_bytes);
  ~PrefaultedMemory();
  PrefaultedMemory(const PrefaultedMemory&) = delete;
  PrefaultedMemory& operator=(const PrefaultedMemory&) = delete;

  [[nodiscard]] void* address() const noexcept { return address_; }

 private:
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Writes `count` records as a NumPy .npy file (format 1.0) of the structured dtype `npy_descr`. Throws
/// std::system_error with the path, and removes a partly written file.
void write_npy_records(const std::string& path, std::string_view npy_descr, const void* records,
                       std::size_t record_bytes, std::size_t count);

/// Keeps up to `capacity` records. Construction maps and pre-faults memory and may throw std::system_error. keep()
/// neither allocates, locks nor throws, and returns false when the recorder is full. Another thread may read the kept
/// records meanwhile. `Record::npy_descr` is the record's NumPy dtype.
template <class Record>
class Recorder {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  explicit Recorder(std::size_t capacity)
      : memory_(capacity, sizeof(Record)), records_(static_cast<Record*>(memory_.address())), capacity_(capacity) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool keep(const Record& record) noexcept {
    const std::size_t at = count_.load(std::memory_order_relaxed);  // only this thread writes
    if (at == capacity_) [[unlikely]]
      return false;
    records_[at] = record;
    count_.store(at + 1, std::memory_order_release);
    return true;
  }

  [[nodiscard]] bool full() const noexcept { return size() == capacity_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<const Record> samples() const noexcept { return {records_, size()}; }
  /// Returns the records, so that the role can convert them after the measurement.
  [[nodiscard]] std::span<Record> samples() noexcept { return {records_, size()}; }

  /// Writes the samples file: see write_npy_records().
  void write_npy(const std::string& path) const {
    write_npy_records(path, Record::npy_descr, records_, sizeof(Record), size());
  }

 private:
  PrefaultedMemory memory_;
  Record* records_;
  std::size_t capacity_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace middlemark
