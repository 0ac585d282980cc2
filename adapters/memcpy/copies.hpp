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

/// The memory of one message. The constructor writes to it, so that its pages exist. It begins at a cache line, because
/// at other offsets the processor's store-to-load aliasing at 4 KiB would slow copies down.
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

/// The message between publish() and take().
struct Mirror {
  explicit Mirror(std::size_t bytes) : message(bytes) {}
  Message message;
  bool holds_message = false;
};

class Publisher {
 public:
  explicit Publisher(std::shared_ptr<Mirror> mirror)
      : mirror_(std::move(mirror)), original_(mirror_->message.span().size()) {}

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return original_.span(); }
  Published publish() noexcept {
    mirror_->message.copy_from(original_);
    mirror_->holds_message = true;
    return Published::ok;
  }
  [[nodiscard]] static std::size_t matched() noexcept { return 0; }  // there is no other process

 private:
  std::shared_ptr<Mirror> mirror_;
  Message original_;
};

/// Copies each message from the mirror into a third buffer. The core checks the content of the third buffer, so it
/// detects a copy that was skipped.
class Subscriber {
 public:
  explicit Subscriber(std::shared_ptr<Mirror> mirror)
      : mirror_(std::move(mirror)), returned_(mirror_->message.span().size()) {}

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (!mirror_->holds_message) return 0;
    mirror_->holds_message = false;
    returned_.copy_from(mirror_->message);
    visitor(std::span<const std::byte>(returned_.span()));
    return 1;
  }
  bool wait(std::chrono::nanoseconds /*timeout*/) noexcept { return mirror_->holds_message; }

 private:
  std::shared_ptr<Mirror> mirror_;
  Message returned_;
};

}  // namespace middlemark::copies
