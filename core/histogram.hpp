// A histogram of fixed size, for the values of a long trial that no longer fit into the memory for raw records.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/recorder.hpp>

namespace middlemark {

/// Log-linear buckets: one per value below 256, and 128 of equal width per octave above, so a bucket is never wider
/// than 1/128 of its lower bound. The scheme is Gil Tene's (HdrHistogram, hdrhistogram.org). 128 buckets per octave are
/// exact to between two and three decimal digits. Their counts take 57 KiB, which leaves most of the cache to the
/// measured code.
///
/// Values of 2^63 and more count as 2^63 - 1. Construction allocates and touches the memory; add() neither allocates, locks
/// nor throws. One thread writes. Another may call for_each_new() meanwhile.
class Histogram {
 public:
  static constexpr unsigned octave_bits = 7;  ///< log2 of the number of buckets per octave
  static constexpr std::uint64_t exact_below = std::uint64_t{2} << octave_bits;
  static constexpr std::uint64_t largest = (std::uint64_t{1} << 63) - 1;

  Histogram() : counts_(index_of(largest) + 1) {}

  void add(std::uint64_t value) noexcept {
    // Only one thread increments, so a load and a store suffice. They compile to plain instructions without a lock.
    const std::atomic_ref count(counts_[index_of(std::min(value, largest))]);
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    ++count_;
    max_seen_ = std::max(max_seen_, value);
  }

  /// Adds a value `count` times. No other thread may read meanwhile; this also applies to clear().
  void add(std::uint64_t value, std::uint64_t count) noexcept {
    counts_[index_of(std::min(value, largest))] += count;
    count_ += count;
    max_seen_ = std::max(max_seen_, value);
  }
  void clear() noexcept {
    std::ranges::fill(counts_, 0);
    count_ = 0;
    max_seen_ = 0;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Returns the largest value added, unrounded; 0 if there is none.
  [[nodiscard]] std::uint64_t max_seen() const noexcept { return max_seen_; }

  /// Returns the value of rank ceil(q * count) (nearest rank; q is clamped to 0..1, rank 1 is the smallest). The value
  /// is the middle of its bucket: exact below 256, off by at most 1/256 above, and never more than max_seen(). nullopt
  /// without values.
  [[nodiscard]] std::optional<std::uint64_t> quantile(double q) const noexcept {
    if (count_ == 0) return std::nullopt;
    // Round up the next smaller number: 0.07 * 100 gives 7.000000000000001, which would be rounded up to 8.
    const double exact_rank = std::ceil(std::nextafter(q * static_cast<double>(count_), 0.0));
    const std::uint64_t rank = exact_rank >= static_cast<double>(count_) ? count_
                               : exact_rank >= 1                         ? static_cast<std::uint64_t>(exact_rank)
                                                                         : 1;
    if (rank == count_) return std::min(max_seen_, largest);
    std::uint64_t below = 0;
    for (std::size_t index = 0;; ++index) {
      below += counts_[index];
      if (below >= rank) return std::min(lower_of(index) + (width_of(index) - 1) / 2, max_seen_);
    }
  }

  void merge(const Histogram& other) noexcept {
    std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(), std::plus<>());
    count_ += other.count_;
    max_seen_ = std::max(max_seen_, other.max_seen_);
  }

  /// Calls visit(lower, upper, count) for each non-empty bucket, from the lowest; upper is exclusive.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t index = 0; index < counts_.size(); ++index) {
      if (counts_[index] != 0) visit(lower_of(index), lower_of(index) + width_of(index), counts_[index]);
    }
  }

  /// Calls visit(lower, count) for each bucket with values that were added since the call with the same `seen`, which
  /// is empty at first. Allocates at the first call. The writing thread may add values meanwhile.
  template <class Visit>
  void for_each_new(std::vector<std::uint64_t>& seen, Visit&& visit) const {
    seen.resize(counts_.size());
    for (std::size_t index = 0; index < counts_.size(); ++index) {
      const std::uint64_t now = std::atomic_ref(counts_[index]).load(std::memory_order_relaxed);
      if (now != seen[index]) visit(lower_of(index), now - seen[index]);
      seen[index] = now;
    }
  }

  /// Writes the non-empty buckets: see write_npy_records(). Allocates.
  void write_npy(const std::string& path) const {
    std::vector<Bucket> buckets;
    for_each([&buckets](std::uint64_t lower, std::uint64_t upper, std::uint64_t count) {
      buckets.push_back({lower, upper, count});
    });
    write_npy_records(path, Bucket::npy_descr, buckets.data(), sizeof(Bucket), buckets.size());
  }

 private:
  static constexpr std::size_t buckets_per_octave = std::size_t{1} << octave_bits;

  /// Returns the index of a value's bucket: 128 times the number of low bits that the bucket ignores, plus the
  /// remaining leading octave_bits + 1 bits of the value.
  [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    if (value < exact_below) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(63 - std::countl_zero(value)) - octave_bits;
    return (static_cast<std::size_t>(shift) << octave_bits) + static_cast<std::size_t>(value >> shift);
  }
  [[nodiscard]] static constexpr unsigned shift_of(std::size_t index) noexcept {
    return index < exact_below ? 0 : static_cast<unsigned>((index >> octave_bits) - 1);
  }
  [[nodiscard]] static constexpr std::uint64_t lower_of(std::size_t index) noexcept {
    const unsigned shift = shift_of(index);
    return (static_cast<std::uint64_t>(index) - (std::uint64_t{shift} << octave_bits)) << shift;
  }
  [[nodiscard]] static constexpr std::uint64_t width_of(std::size_t index) noexcept {
    return std::uint64_t{1} << shift_of(index);
  }

  mutable std::vector<std::uint64_t> counts_;  // mutable, because std::atomic_ref needs a non-const object even to read
  std::uint64_t count_ = 0;
  std::uint64_t max_seen_ = 0;
};

}  // namespace middlemark
