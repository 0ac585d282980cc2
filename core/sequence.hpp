// Loss, duplicates and reordering of one publisher's messages at one subscriber.
#pragma once

#include <array>
#include <cstdint>

namespace middlemark {

/// Follows sequences that begin at 1 and rise by one. After RFC 4737: a message is reordered when a later one came first. A
/// message that comes more than `window` behind the latest cannot be told from a duplicate and counts as one. Neither
/// allocates nor throws.
class SequenceTracker {
 public:
  static constexpr std::uint64_t window = 4096;

  enum class Verdict { fresh, reordered, duplicate };

  Verdict see(std::uint64_t sequence) noexcept {
    if (sequence > highest_) {
      // The common case is the next one: one bit cleared, one set.
      const std::uint64_t gap = sequence - highest_;
      if (gap >= window) {
        seen_.fill(0);
      } else {
        for (std::uint64_t missing = highest_ + 1; missing < sequence; ++missing) clear(missing);
      }
      highest_ = sequence;
      mark(sequence);
      ++unique_;
      return Verdict::fresh;
    }
    if (sequence == 0 || highest_ - sequence >= window || is_marked(sequence)) {
      ++duplicated_;
      return Verdict::duplicate;
    }
    mark(sequence);
    ++unique_;
    ++reordered_;
    return Verdict::reordered;
  }

  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_; }
  /// Different sequences seen: what arrived, duplicates not counted.
  [[nodiscard]] std::uint64_t unique() const noexcept { return unique_; }
  [[nodiscard]] std::uint64_t duplicated() const noexcept { return duplicated_; }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_; }

 private:
  static constexpr std::uint64_t slot(std::uint64_t sequence) noexcept { return sequence % window; }
  void mark(std::uint64_t sequence) noexcept {
    seen_[slot(sequence) / 64] |= std::uint64_t{1} << (slot(sequence) % 64);
  }
  void clear(std::uint64_t sequence) noexcept {
    seen_[slot(sequence) / 64] &= ~(std::uint64_t{1} << (slot(sequence) % 64));
  }
  [[nodiscard]] bool is_marked(std::uint64_t sequence) const noexcept {
    return (seen_[slot(sequence) / 64] >> (slot(sequence) % 64) & 1) != 0;
  }

  std::uint64_t highest_ = 0;
  std::uint64_t unique_ = 0;
  std::uint64_t duplicated_ = 0;
  std::uint64_t reordered_ = 0;
  std::array<std::uint64_t, window / 64> seen_{};
};

}  // namespace middlemark
