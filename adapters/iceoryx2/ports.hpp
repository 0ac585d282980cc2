// The ends of a topic or service: the C interface behind the contract's Publisher, Subscriber and Exchange.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <middlemark/adapter.hpp>

#include "abi.hpp"

namespace middlemark::iceoryx2 {

/// An object of the C interface; `Drop` takes it back.
template <class Port, void (*Drop)(Port*)>
struct Dropping {
  void operator()(Port* port) const noexcept { Drop(port); }
};
template <class Port, void (*Drop)(Port*)>
using Owned = std::unique_ptr<Port, Dropping<Port, Drop>>;

/// Calls `make` with room for an error, and throws that.
template <class Make>
auto* made(const std::string& what, Make make) {
  std::array<char, 512> text{};
  const ErrorText error{text.data(), text.size()};
  auto* const object = make(&error);
  if (object == nullptr) {
    throw AdapterError("iceoryx2: " + what + " cannot be made: " + text.data(),
                       "is there room in /dev/shm and may it be written? 'df -h /dev/shm'");
  }
  return object;
}

template <class Port>
std::string failure_of(std::size_t (*failure)(Port*, char*, std::size_t), Port* port) {
  std::array<char, 256> text{};
  return std::string(text.data(), failure(port, text.data(), text.size()));
}

[[nodiscard]] inline std::uint64_t nanoseconds_of(std::chrono::nanoseconds span) noexcept {
  return span.count() < 0 ? 0 : static_cast<std::uint64_t>(span.count());
}

[[nodiscard]] inline Published published(Sent sent) noexcept {
  switch (sent) {
    case Sent::ok:
      return Published::ok;
    case Sent::timed_out:
      return Published::timed_out;
    case Sent::failed:
      break;
  }
  return Published::failed;
}

[[nodiscard]] inline std::span<std::byte> span_of(std::byte* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return {};
  return {memory, bytes};
}

template <class Visitor>
void visit(void* visitor, const std::byte* bytes, std::size_t count) noexcept {
  (*static_cast<Visitor*>(visitor))(std::span(bytes, count));
}

/// So many visits end a take(), however fast messages come: the role looks for its stop between two of them.
inline constexpr std::size_t most_at_once = 1024;

/// iceoryx2 has no thread of its own to call back on; the transport does not list "listen".
[[noreturn]] inline void refuse_to_listen() { throw AdapterError("iceoryx2: shm: cannot do listen"); }

class Publisher {
 public:
  Publisher(Trial* trial, const Ends& ends, unsigned index)
      : port_(made("a publisher of " + std::string(ends.name),
                   [&](const ErrorText* error) { return mm_iox2_publisher(trial, &ends, index, error); })),
        bytes_(ends.bytes) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    return span_of(mm_iox2_publisher_loan(port_.get()), bytes);
  }
  [[nodiscard]] Published publish() noexcept { return published(mm_iox2_publisher_publish(port_.get())); }
  [[nodiscard]] std::size_t matched() { return mm_iox2_publisher_matched(port_.get()); }
  [[nodiscard]] std::string last_error() const { return failure_of(&mm_iox2_publisher_failure, port_.get()); }

 private:
  Owned<PublisherPort, mm_iox2_publisher_drop> port_;
  std::size_t bytes_;
};

class Subscriber {
 public:
  Subscriber(Trial* trial, const Ends& ends, unsigned index)
      : port_(made("a subscriber of " + std::string(ends.name),
                   [&](const ErrorText* error) { return mm_iox2_subscriber(trial, &ends, index, error); })) {}

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return mm_iox2_subscriber_take(port_.get(), most_at_once, &visitor, &visit<Visitor>);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return mm_iox2_subscriber_wait(port_.get(), nanoseconds_of(timeout));
  }
  void listen(Listener /*listener*/) { refuse_to_listen(); }
  void silence() {}
  [[nodiscard]] std::size_t publishers_found() { return mm_iox2_subscriber_publishers(port_.get()); }
  [[nodiscard]] std::string last_error() const { return failure_of(&mm_iox2_subscriber_failure, port_.get()); }

 private:
  Owned<SubscriberPort, mm_iox2_subscriber_drop> port_;
};

class Client {
 public:
  Client(Trial* trial, const Ends& ends, unsigned index)
      : port_(made("a client of " + std::string(ends.name),
                   [&](const ErrorText* error) { return mm_iox2_client(trial, &ends, index, error); })),
        bytes_(ends.bytes) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    return span_of(mm_iox2_client_loan(port_.get()), bytes);
  }
  [[nodiscard]] Published publish() noexcept { return published(mm_iox2_client_publish(port_.get())); }
  [[nodiscard]] std::size_t matched() { return mm_iox2_client_matched(port_.get()); }
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return mm_iox2_client_take(port_.get(), most_at_once, &visitor, &visit<Visitor>);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return mm_iox2_client_wait(port_.get(), nanoseconds_of(timeout));
  }
  void listen(Listener /*listener*/) { refuse_to_listen(); }
  void silence() {}
  [[nodiscard]] std::string last_error() const { return failure_of(&mm_iox2_client_failure, port_.get()); }

 private:
  Owned<ClientPort, mm_iox2_client_drop> port_;
  std::size_t bytes_;
};

class Server {
 public:
  Server(Trial* trial, const Ends& ends, unsigned index)
      : port_(made("a server of " + std::string(ends.name),
                   [&](const ErrorText* error) { return mm_iox2_server(trial, &ends, index, error); })),
        bytes_(ends.bytes) {}

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    return span_of(mm_iox2_server_loan(port_.get()), bytes);
  }
  [[nodiscard]] Published publish() noexcept { return published(mm_iox2_server_publish(port_.get())); }
  [[nodiscard]] std::size_t matched() { return mm_iox2_server_matched(port_.get()); }
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return mm_iox2_server_take(port_.get(), most_at_once, &visitor, &visit<Visitor>);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return mm_iox2_server_wait(port_.get(), nanoseconds_of(timeout));
  }
  void listen(Listener /*listener*/) { refuse_to_listen(); }
  void silence() {}
  [[nodiscard]] std::string last_error() const {
    const std::string answering = failure_of(&mm_iox2_server_failure, port_.get());
    return answering.empty() ? failure_of(&mm_iox2_server_receive_failure, port_.get()) : answering;
  }

 private:
  Owned<ServerPort, mm_iox2_server_drop> port_;
  std::size_t bytes_;
};

}  // namespace middlemark::iceoryx2
