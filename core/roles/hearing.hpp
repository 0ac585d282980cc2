// Counts and records the messages that a participant of a crowd receives on one topic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/records.hpp>
#include <middlemark/sequence.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Counts and records the messages of one subscribed topic, which has one publisher. One thread at a time visits it.
class Hearing {
 public:
  Hearing(const Topic& topic, unsigned publisher_id, std::uint64_t messages, bool checks, const Clock& clock)
      : message_bytes_(topic.message_bytes), publisher_id_(publisher_id), checks_(checks), clock_(clock) {
    arrivals_.resize(messages);  // touches the memory before the start
    arrivals_.clear();
  }

  void operator()(std::span<const std::byte> message) noexcept {
    const std::uint64_t now = clock_.ticks();
    if (message.size() != message_bytes_) return count(damaged_);
    const Header header = read_header(message);
    if (header.publisher_id() != publisher_id_) return count(damaged_);
    if (first_ticks_.load(std::memory_order_relaxed) == 0) first_ticks_.store(now, std::memory_order_release);
    if (!heard_again_.load(std::memory_order_relaxed)) heard_again_.store(true, std::memory_order_release);
    if (header.warm_up()) return;
    const SequenceTracker::Verdict verdict = tracker_.see(header.sequence());
    if (verdict == SequenceTracker::Verdict::duplicate) return count(duplicated_);
    if (verdict == SequenceTracker::Verdict::reordered) count(reordered_);
    if (checks_ && !payload_intact(message, header)) {
      count(damaged_);
    } else if (arrivals_.size() < arrivals_.capacity()) {
      arrivals_.push_back({header.stamp, now, now > header.intended_ticks ? now - header.intended_ticks : 0});
    }
    count(received_);
  }

  /// True when a message has arrived. Any thread may call this and the counts below.
  [[nodiscard]] bool heard() const noexcept { return first_ticks_.load(std::memory_order_acquire) != 0; }
  /// Forgets for heard_again() what has arrived. Any thread may call this.
  void listen_again() noexcept { heard_again_.store(false, std::memory_order_release); }
  /// True when a message has arrived since listen_again().
  [[nodiscard]] bool heard_again() const noexcept { return heard_again_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t first_ticks() const noexcept { return first_ticks_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t duplicated() const noexcept { return duplicated_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_.load(std::memory_order_relaxed); }
  /// The records, with times in ticks. Call after the reception has ended.
  [[nodiscard]] std::span<const Arrival> arrivals() const noexcept { return arrivals_; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return arrivals_.capacity() * sizeof(Arrival); }

 private:
  static void count(std::atomic<std::uint64_t>& number) noexcept {
    number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  const std::size_t message_bytes_;
  const unsigned publisher_id_;
  const bool checks_;
  const Clock clock_;
  SequenceTracker tracker_;
  std::vector<Arrival> arrivals_;
  std::atomic<std::uint64_t> first_ticks_{0};
  std::atomic<bool> heard_again_{false};
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> duplicated_{0};
  std::atomic<std::uint64_t> reordered_{0};
  std::atomic<std::uint64_t> damaged_{0};
};

}  // namespace middlemark
