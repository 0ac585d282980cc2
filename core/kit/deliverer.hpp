// Lets one thread at a time deliver, for middlewares that report new messages on several threads.
#pragma once

#include <atomic>

namespace middlemark::kit {

/// Counts events. An event that arrives during a delivery is left to the thread that is delivering.
class OneDeliverer {
 public:
  /// Calls `deliver_all` until no further event has arrived; `deliver_all` must visit every message that is there.
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
