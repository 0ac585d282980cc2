// Messages that are handed over by their shared pointer come back when the last subscriber has let go of them.
#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <list>

#include <boost/make_shared.hpp>

#include "message.hpp"

namespace middlemark::ros1 {

/// A ring in the order of handing over, which is about the order of coming back. It grows until `most` are out at once, so a
/// publisher allocates while its subscribers' queues fill and no more after that.
class MessagePool {
 public:
  MessagePool(std::size_t bytes, std::size_t most) : bytes_(bytes), most_(most) {
    constexpr std::size_t at_first = 2;
    while (ring_.size() < std::min(most, at_first)) add(ring_.end());
    in_hand_ = ring_.begin();
  }

  /// The one to write in.
  [[nodiscard]] const BytesPtr& in_hand() const noexcept { return *in_hand_; }

  /// Finds the one to have in hand next, which is the caller's for good after handed_over(). Waits when all are out.
  [[nodiscard]] bool find_next(std::chrono::nanoseconds timeout) {
    if (next_is_free()) return true;
    if (ring_.size() < most_) {
      next_ = add(std::next(in_hand_));
      return true;
    }
    const auto until = std::chrono::steady_clock::now() + timeout;
    do {
      const timespec pause{0, 50'000};
      nanosleep(&pause, nullptr);
      if (next_is_free()) return true;
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }
  void handed_over() noexcept { in_hand_ = next_; }

 private:
  using Ring = std::list<BytesPtr>;

  [[nodiscard]] bool next_is_free() noexcept {
    next_ = std::next(in_hand_);
    if (next_ == ring_.end()) next_ = ring_.begin();
    if (next_->use_count() != 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);  // its last reader has read
    return true;
  }

  Ring::iterator add(Ring::iterator before) {
    const auto added = ring_.insert(before, boost::make_shared<Bytes>(bytes_));
    std::memset((*added)->data.get(), 0, bytes_);  // its pages are there
    return added;
  }

  std::size_t bytes_;
  std::size_t most_;
  Ring ring_;
  Ring::iterator in_hand_;
  Ring::iterator next_;
};

}  // namespace middlemark::ros1
