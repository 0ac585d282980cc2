// Copies a message out and back. Hot file: after construction nothing here allocates, locks or throws.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include <middlemark/adapter.hpp>

namespace middlemark::copies {

/// Memory of one message, written once so that its pages exist. Every message begins at a cache line: copies between
/// different offsets run into the processor's store-to-load aliasing at 4 KiB.
class Message {
 public:
  explicit Message(std::size_t bytes) : bytes_(bytes), memory_(new(std::align_val_t{line}) std::byte[bytes]()) {}
  [[nodiscard]] std::span<std::byte> span() noexcept { return {memory_.get(), bytes_}; }
  /// Calls memcpy(). The asm statement keeps the compiler from merging or removing copies.
  void copy_from(Message& other) noexcept {
    std::memcpy(memory_.get(), other.memory_.get(), bytes_);
    asm volatile("" : : "r"(memory_.get()) : "memory");
  }

 private:
  static constexpr std::size_t line = 64;
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{line}); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

/// The message after the way out and before the way back.
struct Mirror {
  explicit Mirror(std::size_t bytes) : message(bytes) {}
  Message message;
  bool holds_one = false;
};

/// Copies the message out.
class Publisher {
 public:
  explicit Publisher(std::shared_ptr<Mirror> mirror)
      : mirror_(std::move(mirror)), own_(mirror_->message.span().size()) {}

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return own_.span(); }
  Published publish() noexcept {
    mirror_->message.copy_from(own_);
    mirror_->holds_one = true;
    return Published::ok;
  }
  [[nodiscard]] static std::size_t matched() noexcept { return 0; }  // no other process takes part

 private:
  std::shared_ptr<Mirror> mirror_;
  Message own_;
};

/// Copies the message back, into a third message: the core's check of the content then finds a copy that was skipped.
class Subscriber {
 public:
  explicit Subscriber(std::shared_ptr<Mirror> mirror)
      : mirror_(std::move(mirror)), back_(mirror_->message.span().size()) {}

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (!mirror_->holds_one) return 0;
    mirror_->holds_one = false;
    back_.copy_from(mirror_->message);
    visitor(std::span<const std::byte>(back_.span()));
    return 1;
  }
  bool wait(std::chrono::nanoseconds /*timeout*/) noexcept { return mirror_->holds_one; }

 private:
  std::shared_ptr<Mirror> mirror_;
  Message back_;
};

}  // namespace middlemark::copies
