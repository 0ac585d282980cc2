// The queue from one publisher to one subscriber, in shared memory. Publisher and subscriber may be in one process or
// in two.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>

#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/segment.hpp>

namespace middlemark::null {

class Queue : kit::Pinned {
 public:
  /// `slots`: the number of messages that may wait. Publisher and subscriber must pass the same number.
  Queue(const std::string& name, std::size_t message_bytes, std::uint64_t slots)
      : slots_(slots), slot_bytes_(slot_bytes(message_bytes)), segment_(name, header_bytes + slots * slot_bytes_) {}
  ~Queue() { segment_.unlink(); }

  [[nodiscard]] static constexpr std::size_t slot_bytes(std::size_t message_bytes) noexcept {
    return message_bytes + sizeof(std::uint64_t);
  }

  [[nodiscard]] std::atomic<std::uint64_t>& attached() const noexcept { return word(0); }

  /// Appends a message. Returns false when the queue is full.
  bool push(std::span<const std::byte> message) noexcept {
    const std::uint64_t at = word(1).load(std::memory_order_relaxed);
    if (at - word(2).load(std::memory_order_acquire) == slots_) return false;
    const std::uint64_t bytes = message.size();
    std::memcpy(slot(at), &bytes, sizeof bytes);
    std::memcpy(slot(at) + sizeof bytes, message.data(), message.size());
    word(1).store(at + 1, std::memory_order_release);
    return true;
  }

  /// Visits the messages that were in the queue at the time of the call.
  template <class Visitor>
  std::size_t drain(Visitor&& visitor) noexcept {
    const std::uint64_t first = word(2).load(std::memory_order_relaxed);
    const std::uint64_t end = word(1).load(std::memory_order_acquire);
    for (std::uint64_t at = first; at != end; ++at) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, slot(at), sizeof bytes);
      visitor(std::span<const std::byte>(slot(at) + sizeof bytes, bytes));
      word(2).store(at + 1, std::memory_order_release);
    }
    return end - first;
  }

  [[nodiscard]] bool empty() const noexcept {
    return word(1).load(std::memory_order_acquire) == word(2).load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t header_bytes = 3 * sizeof(std::uint64_t);

  [[nodiscard]] std::atomic<std::uint64_t>& word(std::size_t index) const noexcept {
    return *std::launder(
        reinterpret_cast<std::atomic<std::uint64_t>*>(segment_.memory() + index * sizeof(std::uint64_t)));
  }
  [[nodiscard]] std::byte* slot(std::uint64_t number) const noexcept {
    return segment_.memory() + header_bytes + (number % slots_) * slot_bytes_;
  }

  std::uint64_t slots_;
  std::size_t slot_bytes_;
  kit::Segment segment_;
};

}  // namespace middlemark::null
