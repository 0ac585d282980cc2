// Detects loss, duplicates and reordering of one publisher's messages at one subscriber.
#pragma once

#include <array>
#include <cstdint>

namespace middlemark {

/// Tracks sequence numbers that begin at 1 and rise by one. As in RFC 4737, a message is reordered if a message with a
/// higher number arrived before it. The tracker remembers the last `window` numbers; a message that is further behind
/// is counted as a duplicate. Neither allocates nor throws.
class SequenceTracker {
 public:
  static constexpr std::uint64_t window = 4096;

  enum class Verdict { fresh, reordered, duplicate };

  Verdict see(std::uint64_t sequence) noexcept {
    if (sequence == highest_ + 1) [[likely]] {
      advance();
      return Verdict::fresh;
    }
    if (sequence > highest_) {
      const std::uint64_t gap = sequence - highest_;
      // Mark the skipped numbers as missing, as far as they are within the window.
      const std::uint64_t first = gap >= window ? sequence - window + 1 : highest_ + 1;
      for (std::uint64_t skipped = first; skipped < sequence; ++skipped) set_missing(skipped);
      clear_missing(sequence);
      skipped_ += gap - 1;
      highest_ = sequence;
      return Verdict::fresh;
    }
    if (sequence == 0 || highest_ - sequence >= window || !missing(sequence)) {
      ++duplicated_;
      return Verdict::duplicate;
    }
    clear_missing(sequence);
    --skipped_;
    ++reordered_;
    return Verdict::reordered;
  }

  /// Same as see(highest() + 1). In this common case only one word is written.
  void advance() noexcept {
    ++highest_;
    if (holes_ != 0) [[unlikely]]
      clear_missing(highest_);  // the bit may be set for the number `window` before
  }

  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_; }
  /// The number of distinct sequence numbers seen.
  [[nodiscard]] std::uint64_t unique() const noexcept { return highest_ - skipped_; }
  [[nodiscard]] std::uint64_t duplicated() const noexcept { return duplicated_; }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_; }

 private:
  [[nodiscard]] bool missing(std::uint64_t sequence) const noexcept {
    return (missing_[sequence % window / 64] >> (sequence % 64) & 1) != 0;
  }
  void set_missing(std::uint64_t sequence) noexcept {
    if (missing(sequence)) return;
    missing_[sequence % window / 64] ^= std::uint64_t{1} << (sequence % 64);
    ++holes_;
  }
  void clear_missing(std::uint64_t sequence) noexcept {
    if (!missing(sequence)) return;
    missing_[sequence % window / 64] ^= std::uint64_t{1} << (sequence % 64);
    --holes_;
  }

  std::uint64_t highest_ = 0;
  std::uint64_t holes_ = 0;    // bits set in missing_
  std::uint64_t skipped_ = 0;  // numbers up to highest_ that were not seen
  std::uint64_t duplicated_ = 0;
  std::uint64_t reordered_ = 0;
  std::array<std::uint64_t, window / 64> missing_{};
};

}  // namespace middlemark
