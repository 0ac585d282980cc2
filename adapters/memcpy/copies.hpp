// The memory that a message is copied out into and back from, and the two ends that do it. Hot file: nothing here allocates,
// locks or throws once it is open.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include <middlemark/adapter.hpp>

namespace middlemark::copies {

/// A message of its own, written once so that its pages are there. All begin at a cache line: at unlike offsets copies run into
/// the processor's store-to-load aliasing at 4 KiB.
class Message {
 public:
  explicit Message(std::size_t bytes) : bytes_(bytes), memory_(new(std::align_val_t{line}) std::byte[bytes]()) {}
  [[nodiscard]] std::span<std::byte> span() noexcept { return {memory_.get(), bytes_}; }
  /// Plain memcpy. The compiler must neither join two of them nor leave one out that nobody seems to read.
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

/// Where a message is between its way out and its way back.
struct Mirror {
  explicit Mirror(std::size_t bytes) : message(bytes) {}
  Message message;
  bool holds_one = false;
};

/// The way out.
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
  [[nodiscard]] static std::size_t matched() noexcept { return 0; }  // nobody else takes part

 private:
  std::shared_ptr<Mirror> mirror_;
  Message own_;
};

/// The way back: into a third message, so that a copy that was left out would be found by its content.
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
