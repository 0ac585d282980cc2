// Writes the messages of one topic into its ring. Hot file: nothing here allocates, locks or throws once it is open.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>

#include "planted_delay.hpp"
#include "ring.hpp"

namespace middlemark::shm {

class Publisher {
 public:
  Publisher(const Settings& settings, const RingLayout& layout, const std::string& ring_name,
            const std::vector<std::string>& doorbells)
      : hands_over_(settings.loan),
        sleeps_(settings.reception != Reception::poll),
        blocks_when_full_(settings.reliability == Reliability::reliable),
        write_timeout_ns_(static_cast<std::uint64_t>(settings.write_timeout.count())),
        ring_(ring_name, layout),
        planted_delay_ns_(planted_delay_ns(settings)),
        full_at_(layout.depth()),
        look_at_(planted_delay_ns_ == 0 ? full_at_ : 0),
        own_(hands_over_ ? 0 : layout.message_bytes) {
    // A polling subscriber never sleeps: no bell, and no fence for it on the way.
    if (!sleeps_) return;
    for (const std::string& name : doorbells) doorbells_.push_back(std::make_unique<Doorbell>(name));
  }
  ~Publisher() { ring_.unlink(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return hands_over_ ? ring_.payload(next_) : own_.span(); }

  Published publish() noexcept {
    if (next_ == look_at_ && !ready()) [[unlikely]]
      return blocks_when_full_ ? Published::timed_out : Published::ok;
    if (!hands_over_) std::memcpy(ring_.payload(next_).data(), own_.span().data(), own_.span().size());
    ring_.sequence(next_).store(next_ + 1, std::memory_order_release);
    ++next_;
    for (const auto& doorbell : doorbells_) doorbell->bell().ring();
    return Published::ok;
  }

  std::size_t matched() noexcept {
    const std::size_t found = ring_.attached().load(std::memory_order_acquire);
    if (found == ring_.layout().subscribers) ring_.unlink();  // nobody else will open it, and a kill leaves nothing
    return found;
  }

 private:
  /// Off the way of most messages: the ring may be full; or a delay is planted, which sends every message here, so that it
  /// costs nothing where there is none.
  bool ready() noexcept {
    if (planted_delay_ns_ != 0) spin(planted_delay_ns_);
    if (next_ == full_at_ && !has_room() && !make_room()) return false;
    look_at_ = planted_delay_ns_ == 0 ? full_at_ : next_ + 1;
    return true;
  }

  bool has_room() noexcept {
    full_at_ = ring_.slowest_cursor() + ring_.layout().depth();
    return next_ != full_at_;
  }

  /// Waits for the slowest subscriber. False: not in time, or best effort.
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
  std::uint64_t full_at_;  // the number that has no slot as far as is known
  std::uint64_t look_at_;  // the number before which to look; next_ is never beyond it
  std::vector<std::unique_ptr<Doorbell>> doorbells_;
  OwnMessage own_;
};

}  // namespace middlemark::shm
