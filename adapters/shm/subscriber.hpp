// Reads the messages of one topic from the rings of its publishers. Hot file: once a subscriber exists, its functions do not
// allocate, lock or throw.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>

#include "ring.hpp"

namespace middlemark::shm {

class Subscriber : kit::Pinned {
 public:
  static constexpr std::uint64_t most_per_take =
      64;  ///< per publisher, so that a fast publisher does not delay other publishers

  Subscriber(const Settings& settings, const Topic& topic, const RingLayout& layout,
             const std::vector<std::string>& rings, const std::string& doorbell_name, unsigned index)
      : index_(index),
        wakes_publishers_(settings.reception != Reception::poll && topic.reliability == Reliability::reliable),
        // Free slots in batches, because each update of the cursor costs a transfer between processors when the ring is
        // full.
        bound_(std::clamp<std::uint64_t>(layout.slots / 4, 1, most_per_take)),
        doorbell_(doorbell_name) {
    for (const std::string& name : rings) {
      sources_.push_back(std::make_unique<Source>(name, layout));
      sources_.back()->ring.attached().fetch_add(1, std::memory_order_acq_rel);
    }
  }
  ~Subscriber() { doorbell_.unlink(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    for (const auto& source : sources_) {
      visits += source->ring.slots().varies ? take<true>(*source, visitor) : take<false>(*source, visitor);
    }
    return visits;
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (anything()) return true;
    doorbell_.bell().sleep_unless([this] { return anything(); }, timeout);
    return anything();
  }

  void listen(Listener /*listener*/) { throw AdapterError("shm: a ring has no thread of its own to listen on"); }
  void silence() noexcept {}

 private:
  struct Source {
    Source(const std::string& name, const RingLayout& layout) : ring(name, layout) {}
    Ring ring;
    std::uint64_t next = 0;
  };

  [[nodiscard]] static bool has_next(const Source& source) noexcept {
    return Slots::holds(source.ring.slots().at(source.next), source.next);
  }

  [[nodiscard]] bool anything() const noexcept {
    for (const auto& source : sources_) {
      if (has_next(*source)) return true;
    }
    return false;
  }

  template <bool varies, class Visitor>
  std::size_t take(Source& source, Visitor& visitor) noexcept {
    const Slots slots = source.ring.slots();
    const std::uint64_t first = source.next;
    std::uint64_t next = first;
    for (const std::uint64_t end = first + bound_; next != end; ++next) {
      std::byte* const slot = slots.at(next);
      if (!Slots::holds(slot, next)) break;
      std::span<const std::byte> message = slots.payload(slot);
      if constexpr (varies) message = message.first(Slots::length(slot));
      visitor(message);
    }
    if (next == first) return 0;
    source.next = next;
    source.ring.cursor(index_).store(next, std::memory_order_release);
    if (wakes_publishers_) source.ring.room().ring();
    return next - first;
  }

  const std::size_t index_;
  const bool wakes_publishers_;
  const std::uint64_t bound_;  ///< messages per take() and publisher
  std::vector<std::unique_ptr<Source>> sources_;
  Doorbell doorbell_;
};

}  // namespace middlemark::shm
