// Lets only one thread at a time deliver messages, for middlewares that report new messages on several threads.
#pragma once

#include <atomic>

namespace middlemark::kit {

/// Counts events. If an event arrives during a delivery, the thread that is delivering also handles this event.
class OneDeliverer {
 public:
  /// Call for each event. Calls `deliver_all`, which must visit every message that has arrived, until no further event
  /// has arrived. Returns at once if another thread is delivering.
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
