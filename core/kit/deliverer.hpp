// One deliverer at a time, where a middleware tells on several threads that messages have come.
#pragma once

#include <atomic>

namespace middlemark::kit {

/// Calls for events: an event that comes while messages are being delivered is left to the thread that delivers them.
class OneDeliverer {
 public:
  /// Calls `deliver_all` until no event has come meanwhile; it must visit all that is there.
  template <class DeliverAll>
  [[gnu::always_inline]] void operator()(DeliverAll&& deliver_all) noexcept {
    unsigned events = 1;
    if (events_.fetch_add(events) != 0) return;
    do {
      deliver_all();
      events = events_.fetch_sub(events) - events;
    } while (events != 0);
  }

  [[nodiscard]] bool under_way() const noexcept { return events_.load() != 0; }

 private:
  std::atomic<unsigned> events_{0};
};

}  // namespace middlemark::kit
