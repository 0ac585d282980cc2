// One publisher's ring of slots, read by every subscriber at its own cursor. The sequence stands in the slot itself, in front
// of the payload: a small message and the news of it travel in the same cache line.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "shared_memory/segment.hpp"

namespace middlemark::shm {

using shared_memory::Segment;

inline constexpr std::size_t line = 64;

/// A publisher's own message, at the beginning of a cache line like the slots: at another offset the copy into the slot runs into
/// the processor's store-to-load aliasing at 4 KiB and takes a third longer.
class OwnMessage {
 public:
  explicit OwnMessage(std::size_t bytes) : bytes_(bytes), memory_(new(std::align_val_t{line}) std::byte[bytes]()) {}
  [[nodiscard]] std::span<std::byte> span() noexcept { return {memory_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{line}); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

/// Where things are in a ring's segment. The same on every side, from the topic alone.
struct RingLayout {
  std::size_t message_bytes = 0;
  std::size_t subscribers = 1;
  std::size_t slots = 2;  ///< a power of two; one slot is always the publisher's to write in
  std::size_t payload_offset = 0;
  std::size_t slot_bytes = 0;

  static constexpr std::size_t most_bytes = std::size_t{1} << 29;
  static constexpr std::size_t cheap_bytes = 8192;

  /// At least `depth` messages may wait; fewer when they would take more than 512 MiB. A small message gets more slots than
  /// that: the publisher looks at the subscribers' cursors, another transfer between the processors, only once a round.
  [[nodiscard]] static RingLayout of(std::size_t message_bytes, std::size_t subscribers, std::size_t depth) noexcept {
    RingLayout layout;
    layout.message_bytes = message_bytes;
    layout.subscribers = subscribers;
    // Small: sequence and message share a line. Large: the message begins at a line of its own.
    layout.payload_offset = message_bytes <= 1024 ? sizeof(std::uint64_t) : line;
    layout.slot_bytes = (layout.payload_offset + message_bytes + line - 1) / line * line;
    const std::size_t most = std::max<std::size_t>(2, std::bit_floor(most_bytes / layout.slot_bytes));
    const std::size_t cheap = std::bit_floor(std::max<std::size_t>(2, cheap_bytes / layout.slot_bytes));
    layout.slots = std::min(std::bit_ceil(std::max(depth + 1, cheap)), most);
    return layout;
  }
  [[nodiscard]] std::size_t cursors_offset() const noexcept { return line; }
  [[nodiscard]] std::size_t slots_offset() const noexcept { return line * (1 + subscribers); }
  [[nodiscard]] std::size_t total_bytes() const noexcept { return slots_offset() + slots * slot_bytes; }
};

/// A view of the ring; publisher and subscribers each have their own.
class Ring {
 public:
  Ring(const std::string& name, const RingLayout& layout)
      : layout_(layout), mask_(layout.slots - 1), segment_(name, layout.total_bytes()) {}

  [[nodiscard]] std::atomic<std::uint32_t>& attached() const noexcept { return at<std::atomic<std::uint32_t>>(0); }
  /// Messages subscriber `index` is done with.
  [[nodiscard]] std::atomic<std::uint64_t>& cursor(std::size_t index) const noexcept {
    return at<std::atomic<std::uint64_t>>(layout_.cursors_offset() + index * line);
  }
  /// Message number n (from 0) is there when its slot's sequence is n + 1.
  [[nodiscard]] std::atomic<std::uint64_t>& sequence(std::uint64_t number) const noexcept {
    return at<std::atomic<std::uint64_t>>(slot_offset(number));
  }
  [[nodiscard]] std::span<std::byte> payload(std::uint64_t number) const noexcept {
    return {segment_.memory() + slot_offset(number) + layout_.payload_offset, layout_.message_bytes};
  }
  [[nodiscard]] std::uint64_t slowest_cursor() const noexcept {
    std::uint64_t slowest = cursor(0).load(std::memory_order_acquire);
    for (std::size_t i = 1; i < layout_.subscribers; ++i) {
      slowest = std::min(slowest, cursor(i).load(std::memory_order_acquire));
    }
    return slowest;
  }
  [[nodiscard]] const RingLayout& layout() const noexcept { return layout_; }
  void unlink() const noexcept { segment_.unlink(); }

 private:
  [[nodiscard]] std::size_t slot_offset(std::uint64_t number) const noexcept {
    return layout_.slots_offset() + (number & mask_) * layout_.slot_bytes;
  }
  template <class T>
  [[nodiscard]] T& at(std::size_t offset) const noexcept {
    static_assert(T::is_always_lock_free);
    return *std::launder(reinterpret_cast<T*>(segment_.memory() + offset));
  }

  RingLayout layout_;
  std::uint64_t mask_;
  Segment segment_;
};

/// What wakes one blocked subscriber, whichever of its publishers has something.
class Doorbell {
 public:
  explicit Doorbell(const std::string& name) : segment_(name, line) {}

  [[nodiscard]] std::atomic<std::uint32_t>& rings() const noexcept { return word(0); }
  [[nodiscard]] std::atomic<std::uint32_t>& sleeping() const noexcept { return word(sizeof(std::uint32_t)); }
  void unlink() const noexcept { segment_.unlink(); }

 private:
  [[nodiscard]] std::atomic<std::uint32_t>& word(std::size_t offset) const noexcept {
    return *std::launder(reinterpret_cast<std::atomic<std::uint32_t>*>(segment_.memory() + offset));
  }
  Segment segment_;
};

}  // namespace middlemark::shm
