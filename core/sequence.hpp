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
    if (sequence == highest_ + 1) [[likely]] {
      advance();
      return Verdict::fresh;
    }
    if (sequence > highest_) {
      const std::uint64_t gap = sequence - highest_;
      // What is a window behind falls out of it; what was skipped is missing.
      const std::uint64_t first = gap >= window ? sequence - window + 1 : highest_ + 1;
      for (std::uint64_t each = first; each < sequence; ++each) miss(each);
      find(sequence);
      skipped_ += gap - 1;
      highest_ = sequence;
      return Verdict::fresh;
    }
    if (sequence == 0 || highest_ - sequence >= window || !missing(sequence)) {
      ++duplicated_;
      return Verdict::duplicate;
    }
    find(sequence);
    --skipped_;
    ++reordered_;
    return Verdict::reordered;
  }

  /// see(highest() + 1): the common case, which writes one word.
  void advance() noexcept {
    ++highest_;
    if (holes_ != 0) [[unlikely]]
      find(highest_);  // what stood in its place is a window behind
  }

  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_; }
  /// Different sequences seen: what arrived, duplicates not counted.
  [[nodiscard]] std::uint64_t unique() const noexcept { return highest_ - skipped_; }
  [[nodiscard]] std::uint64_t duplicated() const noexcept { return duplicated_; }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_; }

 private:
  [[nodiscard]] bool missing(std::uint64_t sequence) const noexcept {
    return (missing_[sequence % window / 64] >> (sequence % 64) & 1) != 0;
  }
  void miss(std::uint64_t sequence) noexcept {
    if (missing(sequence)) return;
    missing_[sequence % window / 64] ^= std::uint64_t{1} << (sequence % 64);
    ++holes_;
  }
  void find(std::uint64_t sequence) noexcept {
    if (!missing(sequence)) return;
    missing_[sequence % window / 64] ^= std::uint64_t{1} << (sequence % 64);
    --holes_;
  }

  std::uint64_t highest_ = 0;
  std::uint64_t holes_ = 0;    // set in missing_
  std::uint64_t skipped_ = 0;  // up to highest_, not seen
  std::uint64_t duplicated_ = 0;
  std::uint64_t reordered_ = 0;
  std::array<std::uint64_t, window / 64> missing_{};
};

}  // namespace middlemark
