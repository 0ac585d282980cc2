// The two ends of a topic, and of a service, behind the contract.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>

#include "words.hpp"
#include "zenoh_c.hpp"

namespace middlemark::zenoh {

struct FreeSender {
  void operator()(MmzSender* sender) const noexcept { mmz_sender_free(sender); }
};
struct FreeReceiver {
  void operator()(MmzReceiver* receiver) const noexcept { mmz_receiver_free(receiver); }
};
using SenderHandle = std::unique_ptr<MmzSender, FreeSender>;
using ReceiverHandle = std::unique_ptr<MmzReceiver, FreeReceiver>;

class Sender {
 public:
  Sender(SenderHandle handle, std::size_t bytes, std::chrono::nanoseconds timeout)
      : handle_(std::move(handle)), bytes_(bytes), given_up_ns_(timeout.count() / 10 * 9) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    std::byte* const memory = bytes == bytes_ ? mmz_loan(handle_.get()) : nullptr;
    return {memory, memory == nullptr ? 0 : bytes};
  }

  /// zenoh does not tell that it gave up: it closes the link (or drops the message) when the timeout is over.
  [[nodiscard]] Published publish() noexcept {
    // From then on zenoh takes every message and sends it to nobody, until the peer has connected again.
    if (gave_up_ && matched() == 0) [[unlikely]]
      return Published::failed;
    const std::int64_t begin = coarse_ns();
    if (!mmz_send(handle_.get())) [[unlikely]]
      return Published::failed;
    if (coarse_ns() - begin < given_up_ns_) [[likely]]
      return Published::ok;
    gave_up_ = true;
    return Published::timed_out;
  }

  [[nodiscard]] std::size_t matched() noexcept { return mmz_matched(handle_.get()); }

  [[nodiscard]] std::string last_error() const {
    Words words;
    mmz_error(handle_.get(), words.into());
    if (!gave_up_ || !words.said().empty()) return words.said();
    return "zenoh: a link was full for longer than the write timeout, and zenoh has closed it";
  }

 private:
  /// A few ns, and exact to a few ms: it only has to tell a second from none.
  static std::int64_t coarse_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  SenderHandle handle_;
  std::size_t bytes_;
  std::int64_t given_up_ns_;  ///< less than the timeout, for the clock is coarse
  bool gave_up_ = false;
};

class Receiver {
 public:
  explicit Receiver(ReceiverHandle handle) : handle_(std::move(handle)) {}
  ~Receiver() {
    if (listener_) silence();
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return mmz_take(handle_.get(), {call<Visitor>, &visitor});
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return mmz_wait(handle_.get(), static_cast<std::uint64_t>(timeout.count()));
  }

  void listen(Listener listener) {
    listener_.emplace(listener);
    mmz_listen(handle_.get(), {call<Listener>, &*listener_});
  }
  void silence() { mmz_silence(handle_.get()); }

  [[nodiscard]] std::size_t publishers_found() { return mmz_publishers_found(handle_.get()); }

 private:
  template <class Visitor>
  static void call(void* visitor, const std::byte* data, std::size_t bytes) noexcept {
    (*static_cast<Visitor*>(visitor))(std::span<const std::byte>(data, bytes));
  }

  std::optional<Listener> listener_;
  ReceiverHandle handle_;
};

/// A querier with its replies, or a queryable with its answers.
class Exchange {
 public:
  Exchange(SenderHandle sender, ReceiverHandle receiver, std::size_t bytes, std::chrono::nanoseconds timeout)
      : receiver_(std::move(receiver)), sender_(std::move(sender), bytes, timeout) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return sender_.loan(bytes); }
  [[nodiscard]] Published publish() noexcept { return sender_.publish(); }
  [[nodiscard]] std::size_t matched() { return sender_.matched(); }
  [[nodiscard]] std::string last_error() const { return sender_.last_error(); }
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return receiver_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return receiver_.wait(timeout); }
  void listen(Listener listener) { receiver_.listen(listener); }
  void silence() { receiver_.silence(); }

 private:
  Receiver receiver_;
  Sender sender_;
};

}  // namespace middlemark::zenoh
