// One publisher's ring of slots, which every subscriber reads at its own cursor. The sequence number, which announces a
// message, is in the slot in front of the payload. So both move in the same cache line if the message is small.
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

/// The message that a publisher writes before it is copied into a slot. It begins at a cache line, as slots do. At another
/// offset the copy takes a third longer, because of the processor's store-to-load aliasing at 4 KiB.
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
  std::size_t slots = 2;  ///< a power of two; the publisher always writes in one of them
  std::size_t payload_offset = 0;
  std::size_t slot_bytes = 0;
  bool varies = false;  ///< sizes vary: each slot contains the message's length, after the sequence number

  /// The lower limit of a ring's size, for every depth: as many slots as fit into `bytes`, but at least `least`.
  struct Roomy {
    std::size_t bytes;
    std::size_t least;
  };

  /// Returns a layout with room for at least `depth` messages, or fewer if the slots would take more than `most_bytes`.
  [[nodiscard]] static RingLayout of(std::size_t message_bytes, std::size_t subscribers, std::size_t depth,
                                     const Roomy& roomy, std::size_t most_bytes, bool varies = false) noexcept {
    RingLayout layout;
    layout.message_bytes = message_bytes;
    layout.subscribers = subscribers;
    // A small message shares a line with its sequence number. A large message begins at the next line.
    layout.payload_offset = message_bytes <= 1024 ? (varies ? 2 : 1) * sizeof(std::uint64_t) : line;
    layout.varies = varies;
    layout.slot_bytes = (layout.payload_offset + message_bytes + line - 1) / line * line;
    const std::size_t most = std::max<std::size_t>(2, std::bit_floor(most_bytes / layout.slot_bytes));
    const std::size_t cheap = std::bit_floor(std::max(roomy.least, roomy.bytes / layout.slot_bytes));
    layout.slots = std::min(std::bit_ceil(std::max(depth + 1, cheap)), most);
    return layout;
  }
  /// Returns the number of messages that may wait.
  [[nodiscard]] std::size_t depth() const noexcept { return slots - 1; }
  [[nodiscard]] std::size_t room_offset() const noexcept { return sizeof(std::uint64_t); }
  [[nodiscard]] std::size_t cursors_offset() const noexcept { return line; }
  /// Returns the offset of the first slot, a multiple of two lines: processors fetch lines in pairs, and a small message
  /// takes a pair.
  [[nodiscard]] std::size_t slots_offset() const noexcept {
    return (line * (1 + subscribers) + 2 * line - 1) / (2 * line) * (2 * line);
  }
  [[nodiscard]] std::size_t total_bytes() const noexcept { return slots_offset() + slots * slot_bytes; }
};

/// A futex in shared memory. ring() makes a system call only while a thread sleeps.
class Bell {
 public:
  explicit Bell(std::byte* memory) noexcept : words_(std::launder(reinterpret_cast<Words*>(memory))) {}

  /// Returns at once if `ready` returns true. Otherwise sleeps until ring() is called, at most for `timeout` (> 0); may
  /// return earlier.
  template <class Ready>
  void sleep_unless(Ready&& ready, std::chrono::nanoseconds timeout) const noexcept {
    const std::uint32_t heard = words_->rings.load(std::memory_order_acquire);
    words_->sleeping.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // orders the store to `sleeping` before the check of `ready`
    if (!ready()) futex_wait(words_->rings, heard, timeout, FutexScope::shared);
    words_->sleeping.store(0, std::memory_order_relaxed);
  }

  /// Wakes the sleeping thread. Call it after the stores that make its `ready` return true.
  void ring() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // orders the caller's writes before the load of `sleeping`
    if (words_->sleeping.load(std::memory_order_relaxed) == 0) return;
    // Clears `sleeping` here, because otherwise each further ring() would be a system call until the sleeping thread runs. If
    // that thread has returned and sleeps again meanwhile, the increment and the wake-up below wake it.
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

/// The place and the size of the slots. Callers copy it to a local variable, so that its members stay in registers.
struct Slots {
  std::byte* first;
  std::uint64_t mask;
  std::size_t slot_bytes;
  std::size_t payload_offset;
  std::size_t message_bytes;
  bool varies;

  [[nodiscard]] std::byte* at(std::uint64_t number) const noexcept { return first + (number & mask) * slot_bytes; }
  /// Returns the sequence word of a slot. It is n + 1 once message number n (from 0) was written.
  [[nodiscard]] static std::atomic<std::uint64_t>& sequence(std::byte* slot) noexcept {
    return *std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(slot));
  }
  /// Returns true if message `number` has been written to the slot.
  [[nodiscard]] static bool holds(std::byte* slot, std::uint64_t number) noexcept {
    return sequence(slot).load(std::memory_order_acquire) == number + 1;
  }
  [[nodiscard]] std::span<std::byte> payload(std::byte* slot) const noexcept {
    return {slot + payload_offset, message_bytes};
  }
  /// Returns the word with the length of the slot's message, for topics whose sizes vary. Write it before the sequence word.
  [[nodiscard]] static std::uint64_t& length(std::byte* slot) noexcept {
    return *std::launder(reinterpret_cast<std::uint64_t*>(slot + sizeof(std::uint64_t)));
  }
};

/// A ring mapped by one endpoint. The publisher and each subscriber have their own.
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
  /// Returns the bell on which the publisher waits for room.
  [[nodiscard]] Bell room() const noexcept { return Bell(segment_.memory() + layout_.room_offset()); }
  /// Returns the word with the number of messages that subscriber `index` has finished reading.
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

/// The bell on which one subscriber waits. All publishers of the topic ring it.
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
