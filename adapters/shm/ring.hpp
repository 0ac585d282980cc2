// One publisher's ring of slots, which every subscriber reads at its own cursor. The sequence number is in the slot, in
// front of the payload, so a small message and its announcement travel in the same cache line.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include <middlemark/futex.hpp>

#include <middlemark/kit/segment.hpp>

namespace middlemark::shm {

using kit::Segment;

inline constexpr std::size_t line = 64;

/// A publisher's own message. It begins at a cache line, as slots do: at another offset the copy into the slot runs into the
/// processor's store-to-load aliasing at 4 KiB and takes a third longer.
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

/// The layout of a ring's segment. Every process computes it from the topic and the settings.
struct RingLayout {
  std::size_t message_bytes = 0;
  std::size_t subscribers = 1;
  std::size_t slots = 2;  ///< a power of two; one slot is always the publisher's to write in
  std::size_t payload_offset = 0;
  std::size_t slot_bytes = 0;
  bool varies = false;  ///< the length of the message follows the sequence number

  /// How large a ring is made beyond the depth: as many slots as fit `bytes`, but at least `least`.
  struct Roomy {
    std::size_t bytes;
    std::size_t least;
  };

  /// Makes room for at least `depth` messages; fewer when the slots would take more than `most_bytes`.
  [[nodiscard]] static RingLayout of(std::size_t message_bytes, std::size_t subscribers, std::size_t depth,
                                     const Roomy& roomy, std::size_t most_bytes, bool varies = false) noexcept {
    RingLayout layout;
    layout.message_bytes = message_bytes;
    layout.subscribers = subscribers;
    // Small messages share a line with their sequence number. Large messages begin at a line of their own.
    layout.payload_offset = message_bytes <= 1024 ? (varies ? 2 : 1) * sizeof(std::uint64_t) : line;
    layout.varies = varies;
    layout.slot_bytes = (layout.payload_offset + message_bytes + line - 1) / line * line;
    const std::size_t most = std::max<std::size_t>(2, std::bit_floor(most_bytes / layout.slot_bytes));
    const std::size_t cheap = std::bit_floor(std::max(roomy.least, roomy.bytes / layout.slot_bytes));
    layout.slots = std::min(std::bit_ceil(std::max(depth + 1, cheap)), most);
    return layout;
  }
  /// Returns how many messages may wait.
  [[nodiscard]] std::size_t depth() const noexcept { return slots - 1; }
  [[nodiscard]] std::size_t room_offset() const noexcept { return sizeof(std::uint64_t); }
  [[nodiscard]] std::size_t cursors_offset() const noexcept { return line; }
  /// Returns the offset of the first slot, at a pair of lines: processors fetch lines in pairs, and a small message
  /// needs both.
  [[nodiscard]] std::size_t slots_offset() const noexcept {
    return (line * (1 + subscribers) + 2 * line - 1) / (2 * line) * (2 * line);
  }
  [[nodiscard]] std::size_t total_bytes() const noexcept { return slots_offset() + slots * slot_bytes; }
};

/// A word in shared memory to sleep on. Ringing is a system call only while somebody sleeps.
class Bell {
 public:
  explicit Bell(std::byte* memory) noexcept : words_(std::launder(reinterpret_cast<Words*>(memory))) {}

  /// Sleeps unless `ready` returns true, at most `timeout` (> 0). May wake up early.
  template <class Ready>
  void sleep_unless(Ready&& ready, std::chrono::nanoseconds timeout) const noexcept {
    const std::uint32_t heard = words_->rings.load(std::memory_order_acquire);
    words_->sleeping.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // orders the store to `sleeping` before the check of `ready`
    if (!ready()) futex_wait(words_->rings, heard, timeout, FutexScope::shared);
    words_->sleeping.store(0, std::memory_order_relaxed);
  }

  /// Wakes the sleeper. Call after writing what its `ready` reads.
  void ring() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // orders the caller's writes before the load of `sleeping`
    if (words_->sleeping.load(std::memory_order_relaxed) == 0) return;
    // Cleared here, because until the sleeper runs each further call would be a system call. If the sleeper has returned and
    // sleeps again meanwhile, the increment and the wake-up below wake it.
    words_->sleeping.store(0, std::memory_order_relaxed);
    words_->rings.fetch_add(1, std::memory_order_release);
    futex_wake(words_->rings, 1, FutexScope::shared);
  }

 private:
  struct Words {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> sleeping;
  };
  Words* words_;
};

/// The position of the slots. A copy in a local variable stays in registers, unlike members of the ring.
struct Slots {
  std::byte* first;
  std::uint64_t mask;
  std::size_t slot_bytes;
  std::size_t payload_offset;
  std::size_t message_bytes;
  bool varies;

  [[nodiscard]] std::byte* at(std::uint64_t number) const noexcept { return first + (number & mask) * slot_bytes; }
  /// The sequence word of a slot. It is n + 1 once message number n (from 0) was written.
  [[nodiscard]] static std::atomic<std::uint64_t>& sequence(std::byte* slot) noexcept {
    return *std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(slot));
  }
  /// Returns true when the slot already holds message `number`.
  [[nodiscard]] static bool holds(std::byte* slot, std::uint64_t number) noexcept {
    return sequence(slot).load(std::memory_order_acquire) == number + 1;
  }
  [[nodiscard]] std::span<std::byte> payload(std::byte* slot) const noexcept {
    return {slot + payload_offset, message_bytes};
  }
  /// The length of the slot's message where sizes vary; written before the sequence word.
  [[nodiscard]] static std::uint64_t& length(std::byte* slot) noexcept {
    return *std::launder(reinterpret_cast<std::uint64_t*>(slot + sizeof(std::uint64_t)));
  }
};

/// A process's view of the ring; publisher and subscribers have one each.
class Ring {
 public:
  Ring(const std::string& name, const RingLayout& layout)
      : layout_(layout),
        segment_(name, layout.total_bytes()),
        slots_{segment_.memory() + layout.slots_offset(),
               layout.slots - 1,
               layout.slot_bytes,
               layout.payload_offset,
               layout.message_bytes,
               layout.varies} {}

  [[nodiscard]] std::atomic<std::uint32_t>& attached() const noexcept { return at<std::atomic<std::uint32_t>>(0); }
  /// Wakes a publisher that waits for room.
  [[nodiscard]] Bell room() const noexcept { return Bell(segment_.memory() + layout_.room_offset()); }
  /// The number of messages that subscriber `index` has finished reading.
  [[nodiscard]] std::atomic<std::uint64_t>& cursor(std::size_t index) const noexcept {
    return at<std::atomic<std::uint64_t>>(layout_.cursors_offset() + index * line);
  }
  [[nodiscard]] const Slots& slots() const noexcept { return slots_; }
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
  template <class T>
  [[nodiscard]] T& at(std::size_t offset) const noexcept {
    static_assert(T::is_always_lock_free);
    return *std::launder(reinterpret_cast<T*>(segment_.memory() + offset));
  }

  RingLayout layout_;
  Segment segment_;
  Slots slots_;
};

/// Wakes one blocked subscriber; all its publishers ring it.
class Doorbell {
 public:
  explicit Doorbell(const std::string& name) : segment_(name, line), bell_(segment_.memory()) {}

  [[nodiscard]] const Bell& bell() const noexcept { return bell_; }
  void unlink() const noexcept { segment_.unlink(); }

 private:
  Segment segment_;
  Bell bell_;
};

}  // namespace middlemark::shm
