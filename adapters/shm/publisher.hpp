// Writes the messages of one topic into a ring. Hot file: once a publisher exists, its functions do not allocate, lock or
// throw.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/message.hpp>

#include "ring.hpp"

namespace middlemark::shm {

/// Spins for at least `ns`, and at most the time of two readings of the clock longer.
inline void spin(std::uint64_t ns) noexcept {
  for (const std::uint64_t until = monotonic_ns() + ns; monotonic_ns() < until;) {
  }
}

class Publisher : kit::Pinned {
 public:
  /// `planted_delay_ns` is added to every publish(), so that `middlemark selftest` can check whether a known difference is
  /// found; normally 0.
  Publisher(const Settings& settings, const Topic& topic, const RingLayout& layout, const std::string& ring_name,
            const std::vector<std::string>& doorbells, std::uint64_t planted_delay_ns)
      : hands_over_(settings.loan),
        sleeps_(settings.reception != Reception::poll),
        blocks_when_full_(topic.reliability == Reliability::reliable),
        write_timeout_ns_(static_cast<std::uint64_t>(settings.write_timeout.count())),
        ring_(ring_name, layout),
        planted_delay_ns_(planted_delay_ns),
        full_at_(layout.depth()),
        looks_always_(planted_delay_ns != 0 || layout.varies),
        look_at_(looks_always_ ? 0 : full_at_),
        bytes_(layout.message_bytes),
        own_(hands_over_ ? 0 : layout.message_bytes) {
    // A polling subscriber never sleeps, so publish() needs neither bell nor fence.
    if (!sleeps_) return;
    for (const std::string& name : doorbells) doorbells_.push_back(std::make_unique<Doorbell>(name));
  }
  ~Publisher() { ring_.unlink(); }

  std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) [[unlikely]]  // saves a store if all sizes are equal
      bytes_ = bytes;
    return {hands_over_ ? ring_.slots().payload(ring_.slots().at(next_)).data() : own_.span().data(), bytes_};
  }

  [[gnu::always_inline]] Published publish() noexcept {
    if (next_ == look_at_ && !ready()) [[unlikely]]
      return blocks_when_full_ ? Published::timed_out : Published::ok;
    std::byte* const slot = ring_.slots().at(next_);
    if (!hands_over_) copy(ring_.slots().payload(slot), own_.span().first(bytes_));
    Slots::sequence(slot).store(++next_, std::memory_order_release);
    if (sleeps_) ring_doorbells();
    return Published::ok;
  }

  std::size_t matched() noexcept {
    const std::size_t found = ring_.attached().load(std::memory_order_acquire);
    if (found == ring_.layout().subscribers) ring_.unlink();  // no file remains if the process is killed later
    return found;
  }

 private:
  // The processor's store queue limits the rate of a flood of small messages, because stores wait in it for cache lines
  // from the other processor. Every store takes an entry, even that of a saved register or a return address. So
  // publish() calls no function in the usual case.

  /// Copies a small message in pieces of the size in which the role has just written it (see TwoWords), because a larger load
  /// would wait until all its bytes are in the cache.
  static void copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    constexpr std::size_t piece = sizeof(TwoWords);
    constexpr std::size_t in_pieces = 8 * piece;
    if (from.size() > in_pieces || from.size() % piece != 0) {
      copy_whole(to, from);
      return;
    }
    for (std::size_t at = 0; at < from.size(); at += piece) std::memcpy(to.data() + at, from.data() + at, piece);
  }
  [[gnu::noinline]] static void copy_whole(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    std::memcpy(to.data(), from.data(), from.size());
  }

  [[gnu::noinline]] void ring_doorbells() noexcept {
    for (const auto& doorbell : doorbells_) doorbell->bell().ring();
  }

  /// Returns true if the message may be written. Called if the ring may be full. With a planted delay or varying sizes
  /// it is called for every message, so that publish() need not check for these cases.
  [[gnu::noinline]] bool ready() noexcept {
    if (planted_delay_ns_ != 0) spin(planted_delay_ns_);
    if (next_ == full_at_ && !has_room() && !make_room()) return false;
    look_at_ = looks_always_ ? next_ + 1 : full_at_;
    if (ring_.slots().varies) Slots::length(ring_.slots().at(next_)) = bytes_;
    return true;
  }

  bool has_room() noexcept {
    full_at_ = ring_.slowest_cursor() + ring_.layout().depth();
    return next_ != full_at_;
  }

  /// Waits until the slowest subscriber has freed a slot. Returns false after the write timeout; with best effort
  /// returns false at once.
  bool make_room() noexcept {
    if (!blocks_when_full_) return false;
    const std::uint64_t deadline = monotonic_ns() + write_timeout_ns_;
    for (;;) {
      if (has_room()) return true;
      const std::uint64_t now = monotonic_ns();
      if (now >= deadline) return false;
      if (sleeps_) {
        ring_.room().sleep_unless([this] { return has_room(); }, std::chrono::nanoseconds(deadline - now));
      } else {
        sched_yield();
      }
    }
  }

  const bool hands_over_;
  const bool sleeps_;
  const bool blocks_when_full_;
  const std::uint64_t write_timeout_ns_;
  Ring ring_;
  std::uint64_t next_ = 0;
  const std::uint64_t planted_delay_ns_;
  std::uint64_t full_at_;  // the first sequence number that had no free slot when the cursors were last read
  const bool looks_always_;
  std::uint64_t look_at_;  // the sequence number at which ready() is called; next_ is never larger
  std::vector<std::unique_ptr<Doorbell>> doorbells_;
  std::size_t bytes_;  // of the current message
  OwnMessage own_;
};

}  // namespace middlemark::shm
