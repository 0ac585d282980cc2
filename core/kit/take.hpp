// Passes messages from a middleware to a visitor. Hot file: the code here does not allocate, lock or throw. It is
// inlined, so it costs no more than a loop in the adapter.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>

namespace middlemark::kit {

/// Visits at most `most` messages. `receive` returns a message. Its result converts to false if no message has arrived.
/// Returns the number of visits.
template <std::size_t most, class Receive, class Visit>
[[gnu::always_inline]] inline std::size_t take_up_to(const Receive& receive, const Visit& visit) noexcept {
  std::size_t visits = 0;
  for (; visits < most; ++visits) {
    const auto message = receive();
    if (!message) break;
    visit(message);
  }
  return visits;
}

/// Stores a message that a wait() has received and no take() has visited yet. `Message` is bool if the middleware
/// writes messages into memory of the adapter.
template <class Message>
class Held {
 public:
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(message_); }

  /// Stores `message`. Call only if no message is stored. Returns false if `message` is empty.
  [[nodiscard]] bool hold(Message message) noexcept {
    message_ = std::move(message);
    return static_cast<bool>(message_);
  }

  /// Visits the stored message and no other, because checking for another one may cost a system call. If no message is
  /// stored, calls take_up_to().
  template <std::size_t most, class Receive, class Visit>
  [[gnu::always_inline]] std::size_t take(const Receive& receive, const Visit& visit) noexcept {
    if (!message_) return take_up_to<most>(receive, visit);
    const Message message = std::exchange(message_, Message{});
    visit(message);
    return 1;
  }

  void drop() noexcept { message_ = Message{}; }

 private:
  Message message_{};
};

/// The receiving half of a client, for a middleware whose call blocks and returns the reply. The reply then arrives
/// during publish().
class ReplyOfCall {
 public:
  static constexpr std::size_t most_per_take = 1;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (reply_.data() == nullptr) return 0;
    visitor(std::exchange(reply_, {}));
    return 1;
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) const noexcept {
    if (reply_.data() == nullptr) nap(timeout);
    return reply_.data() != nullptr;
  }
  /// Sets the listener. publish() calls it, because no other thread receives replies.
  void listen(Listener listener) { listener_ = listener; }
  void silence() { listener_ = {}; }

 protected:
  /// Call in publish() with the reply. The memory of the reply must remain valid until the next call.
  void replied(std::span<const std::byte> reply) noexcept {
    listener_(reply);
    if (!listener_) reply_ = reply;
  }

 private:
  std::span<const std::byte> reply_;
  Listener listener_;
};

}  // namespace middlemark::kit
