// Keeps every sample raw, in memory that was mapped and touched before the start. Exact: no histogram, no sampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace middlemark {

/// The 4-byte fields of all records: what was not measured, and a duration, which saturates one below it (4.29 s).
inline constexpr std::uint32_t absent_ns = std::numeric_limits<std::uint32_t>::max();
[[nodiscard]] constexpr std::uint32_t clamp_ns(std::uint64_t ns) noexcept {
  return ns < absent_ns ? static_cast<std::uint32_t>(ns) : absent_ns - 1;
}

/// One completed round trip of a ping or a client, as it stands in the samples file (docs/protocol.md). All times in ns.
struct Sample {
  static constexpr std::uint32_t absent = absent_ns;
  static constexpr std::string_view npy_descr =
      "[('sequence', '<u8'), ('begin_ns', '<u8'), ('round_trip_ns', '<u8'), ('first_reply_ns', '<u8'), "
      "('write_ns', '<u4'), ('take_ns', '<u4'), ('loan_ns', '<u4'), ('fill_ns', '<u4'), ('check_ns', '<u4'), "
      "('replies', '<u4'), ('late_ns', '<u4'), ('arrived_ns', '<u4')]";

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
  std::uint32_t late_ns = 0;          ///< publish began − intended; 0 under rate max
  std::uint32_t arrived_ns = absent;  ///< the kernel received the last reply → it is in hand; see HasArrivalStamp

  [[nodiscard]] static constexpr std::uint32_t clamp(std::uint64_t ns) noexcept { return clamp_ns(ns); }
};
static_assert(sizeof(Sample) == 64);

/// One attempt of a publisher to publish; record i is of sequence i + 1.
struct Sending {
  static constexpr std::uint32_t absent = absent_ns;
  static constexpr std::string_view npy_descr = "[('begin_ns', '<u8'), ('late_ns', '<u4'), ('write_ns', '<u4')]";

  std::uint64_t begin_ns = 0;       ///< publish began, since this publisher's measuring began
  std::uint32_t late_ns = 0;        ///< publish began − intended, by clamp_ns()
  std::uint32_t write_ns = absent;  ///< publish began → returned, by clamp_ns(); absent when it failed or timed out
};
static_assert(sizeof(Sending) == 16);

/// One message that arrived at a subscriber for the first time and intact, in order of arrival.
struct Arrival {
  static constexpr std::string_view npy_descr = "[('stamp', '<u8'), ('received_ns', '<u8'), ('one_way_ns', '<u8')]";

  std::uint64_t stamp = 0;        ///< source << 48 | sequence
  std::uint64_t received_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t one_way_ns = 0;   ///< received − intended
};
static_assert(sizeof(Arrival) == 24);

/// One message that a pong or a server stamped while it answered it. The ticks are those of the clock that it shares with who
/// asked, the times differences of them in ns, by clamp_ns().
struct Answer {
  static constexpr std::uint32_t absent = absent_ns;
  static constexpr std::string_view npy_descr =
      "[('stamp', '<u8'), ('received_ticks', '<u8'), ('take_ns', '<u4'), ('copy_ns', '<u4'), ('write_ns', '<u4'), "
      "('arrived_ns', '<u4')]";

  std::uint64_t stamp = 0;  ///< source << 48 | sequence
  std::uint64_t received_ticks = 0;
  std::uint32_t take_ns = absent;     ///< the take that brought it began → in hand; absent where the middleware takes
  std::uint32_t copy_ns = absent;     ///< in hand → publish of the reply begins: memory obtained, payload copied
  std::uint32_t write_ns = absent;    ///< publish of the reply begins → returns
  std::uint32_t arrived_ns = absent;  ///< the kernel received it → in hand; absent where it does not tell
};
static_assert(sizeof(Answer) == 32);

/// Memory for `records` records of `record_bytes` each: mapped, on huge pages where there are any, and every page faulted in.
/// Throws std::system_error. None is mapped for no records.
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

/// Writes `count` records as a NumPy .npy file (format 1.0) of the structured dtype `npy_descr`. Throws std::system_error with
/// the path; a partly written file is removed.
void write_npy_records(const std::string& path, std::string_view npy_descr, const void* records,
                       std::size_t record_bytes, std::size_t count);

/// A fixed number of records (0: it is full at once). Construction maps and pre-faults and may throw std::system_error; keep()
/// neither allocates, locks nor throws, and refuses when full. `Record::npy_descr` names the fields as NumPy does.
template <class Record>
class Recorder {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  explicit Recorder(std::size_t capacity)
      : memory_(capacity, sizeof(Record)), records_(static_cast<Record*>(memory_.address())), capacity_(capacity) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool keep(const Record& record) noexcept {
    if (count_ == capacity_) [[unlikely]]
      return false;
    records_[count_++] = record;
    return true;
  }

  [[nodiscard]] bool full() const noexcept { return count_ == capacity_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<const Record> samples() const noexcept { return {records_, count_}; }
  /// For what is left to be worked out when the measuring is over.
  [[nodiscard]] std::span<Record> samples() noexcept { return {records_, count_}; }

  /// Writes the samples file: see write_npy_records().
  void write_npy(const std::string& path) const {
    write_npy_records(path, Record::npy_descr, records_, sizeof(Record), count_);
  }

 private:
  PrefaultedMemory memory_;
  Record* records_;
  std::size_t capacity_;
  std::size_t count_ = 0;
};

}  // namespace middlemark
