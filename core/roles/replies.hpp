// The receiving half of the ping: recognises replies, stamps the awaited replies, and counts late, duplicated, reordered
// and damaged replies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/futex.hpp>
#include <middlemark/message.hpp>
#include <middlemark/sequence.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// A visitor (poll, block) or a listener (listen), which the middleware's thread calls. Only the receiving thread
/// writes the fields of the current exchange, and the ping reads them only after completed() has returned true. If the
/// ping gives up on a reply while the receiving thread processes it, the thread completes the exchange to which the
/// reply belongs, never the next one.
class Replies {
 public:
  /// `publishers` pongs reply to each message of `message_bytes`. `check`: compare every byte with what was sent.
  /// `first_id`: the lowest publisher id of a reply; 0 for a ping, and the client's own index for a client.
  Replies(const Clock& clock, unsigned publishers, std::size_t message_bytes, bool check, unsigned first_id = 0)
      : clock_(clock),
        message_bytes_(message_bytes),
        check_(check),
        first_id_(first_id),
        answered_(publishers, no_key),
        trackers_(publishers) {}

  // ---- called by the ping

  /// Awaits the replies to `header`. Call before publishing.
  void await(const Header& header) noexcept {
    if (!header.warm_up()) sent_.store(header.sequence(), std::memory_order_relaxed);
    intended_ticks_.store(header.intended_ticks, std::memory_order_release);
    awaited_.store(key_of(header), std::memory_order_release);
  }
  /// Stops waiting. Replies to the awaited message that arrive from now on are late.
  void give_up() noexcept { awaited_.store(no_key, std::memory_order_release); }

  [[nodiscard]] bool completed() const noexcept {
    return completed_.load(std::memory_order_acquire) == awaited_.load(std::memory_order_relaxed);
  }

  /// Sleeps until the exchange is complete or `timeout` has passed. Only under `listen`.
  void sleep(std::chrono::nanoseconds timeout) noexcept {
    // Both threads use an atomic exchange, so either the receiver sees that the ping sleeps and wakes it, or the ping
    // sees that the exchange is complete.
    sleeper_.exchange(sleeping, std::memory_order_acq_rel);
    if (!completed()) futex_wait(sleeper_, sleeping, timeout, FutexScope::process);
    sleeper_.store(nobody, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t first_ticks() const noexcept { return first_ticks_; }
  [[nodiscard]] std::uint64_t last_ticks() const noexcept { return last_ticks_; }
  [[nodiscard]] std::uint64_t check_ticks() const noexcept { return check_ticks_; }
  [[nodiscard]] bool intact() const noexcept { return intact_; }
  [[nodiscard]] bool checks() const noexcept { return check_; }

  // ---- totals, read after the end

  [[nodiscard]] std::uint64_t received() const noexcept { return total(&SequenceTracker::unique); }
  [[nodiscard]] std::uint64_t duplicated() const noexcept { return total(&SequenceTracker::duplicated); }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return total(&SequenceTracker::reordered); }
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

  // ---- called by the receiving thread

  void operator()(std::span<const std::byte> message) noexcept {
    const std::uint64_t now = clock_.ticks();
    if (message.size() != message_bytes_) [[unlikely]] {
      damaged_ += is_warm_up(message) ? 0 : 1;
      return;
    }
    const Header header = read_header(message);
    const std::uint64_t key = key_of(header);
    const unsigned publisher_id = header.publisher_id() - first_id_;
    if (publisher_id >= trackers_.size()) [[unlikely]] {
      damaged_ += header.warm_up() ? 0 : 1;
      return;
    }
    if (key != awaited_.load(std::memory_order_acquire) || answered_[publisher_id] == key) [[unlikely]] {
      unawaited(header, message);
      return;
    }
    answered_[publisher_id] = key;
    if (!header.warm_up()) trackers_[publisher_id].see(header.sequence());
    if (key != current_) {
      current_ = key;
      replies_ = 0;
      first_ticks_ = now;
    }
    if (++replies_ < trackers_.size()) return;
    last_ticks_ = now;
    finish(message, header, key);
  }

 private:
  static constexpr std::uint64_t no_key = 0;  // sequence number 0 is never sent
  static constexpr std::uint64_t nothing =
      ~std::uint64_t{0};  // not a valid key, and not no_key, which give_up() stores in awaited_
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t sleeping = 1;

  static std::uint64_t key_of(const Header& header) noexcept {
    return header.stamp & (Header::warm_up_bit | Header::sequence_mask);
  }

  /// Ends a round trip that is already stamped. If there are several replies, only the last is fully checked: checking
  /// earlier ones would lengthen the round trips of the later ones, so the pongs check what they receive.
  void finish(std::span<const std::byte> message, const Header& header, std::uint64_t key) noexcept {
    intact_ = true;
    if (check_) {
      const std::uint64_t begin = clock_.ticks();
      // Compare the intended time only while the ping waits for this message. After the ping gave up,
      // intended_ticks_ may already be the time of the next message.
      intact_ = (header.intended_ticks == intended_ticks_.load(std::memory_order_acquire) ||
                 awaited_.load(std::memory_order_relaxed) != key) &&
                payload_intact(message, header);
      check_ticks_ = clock_.ticks() - begin;
      if (!intact_ && !header.warm_up()) ++damaged_;
    }
    if (awaited_.load(std::memory_order_relaxed) != key) [[unlikely]] {
      late_ += header.warm_up() ? 0 : 1;
    }
    completed_.store(key, std::memory_order_release);
    if (sleeper_.exchange(nobody, std::memory_order_acq_rel) == sleeping) futex_wake(sleeper_, 1, FutexScope::process);
  }

  void unawaited(const Header& header, std::span<const std::byte> message) noexcept {
    if (header.warm_up()) return;
    // A number that was never sent means that the header is damaged. If it were accepted, all later replies would be
    // duplicates.
    if (header.sequence() == 0 || header.sequence() > sent_.load(std::memory_order_relaxed)) {
      ++damaged_;
      return;
    }
    if (trackers_[header.publisher_id() - first_id_].see(header.sequence()) == SequenceTracker::Verdict::duplicate)
      return;
    ++late_;
    if (check_ && !payload_intact(message, header)) ++damaged_;
  }

  std::uint64_t total(std::uint64_t (SequenceTracker::*count)() const noexcept) const noexcept {
    std::uint64_t sum = 0;
    for (const SequenceTracker& tracker : trackers_) sum += (tracker.*count)();
    return sum;
  }

  Clock clock_;
  std::size_t message_bytes_;
  bool check_;
  unsigned first_id_;

  bool intact_ = true;
  std::vector<std::uint64_t> answered_;  // for each publisher: the key of its last reply in time
  std::vector<SequenceTracker> trackers_;
  std::uint64_t current_ = no_key;
  std::uint64_t replies_ = 0;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t check_ticks_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t damaged_ = 0;
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> intended_ticks_{0};
  alignas(64) std::atomic<std::uint64_t> awaited_{no_key};
  std::atomic<std::uint64_t> completed_{nothing};  // the key of the last completed exchange
  std::atomic<std::uint32_t> sleeper_{nobody};
};

}  // namespace middlemark
