// Publishers of topics: output ports that connect to the subscribers' input ports.
#pragma once

#include <yarp/os/Network.h>
#include <yarp/os/Port.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/futex.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/rendezvous.hpp>

#include "network.hpp"
#include "octets.hpp"
#include "options.hpp"

namespace middlemark::yarp {

/// Connects a publisher's port to the ports of subscribers, or a client's port to the server's port, when these appear.
class Connections {
 public:
  Connections(const Settings& settings, const Topic& topic, std::string from, std::string carrier)
      : attendance_(settings, topic), topic_(topic.name), from_(std::move(from)), carrier_(std::move(carrier)) {}

  /// Connects to the subscribers that have appeared, and returns the number of connections.
  [[nodiscard]] unsigned made() {
    const auto present = static_cast<unsigned>(attendance_.count());
    while (made_ < present && connect(made_)) ++made_;
    return made_;
  }
  [[nodiscard]] bool connect(unsigned index) const {
    constexpr bool quiet = true;
    return ::yarp::os::NetworkBase::connect(from_, subscriber_port(topic_, index), carrier_, quiet);
  }

 private:
  kit::Attendance attendance_;
  const std::string topic_;
  const std::string from_;
  const std::string carrier_;
  unsigned made_ = 0;
};

/// A publisher. Without native.unbuffered it works like BufferedPort::writeStrict(): publish() waits until the threads
/// of all connections have sent the previous message. Unlike writeStrict(), it waits at most for the write timeout.
class Publisher : public kit::Attempts {
 public:
  Publisher(const Settings& settings, const Options& options, const Topic& topic, unsigned index)
      : unbuffered_(options.unbuffered),
        strict_(topic.reliability == Reliability::reliable),
        timeout_(settings.write_timeout),
        used_(options.carrier == local ? 3 : 2),
        connections_(settings, topic, publisher_port(topic.name, index), options.carrier),
        output_(options.stays_open()) {
    for (std::size_t made = 0; made < used_; ++made) output_->buffers[made].emplace(*output_, topic.message_bytes);
    const std::string name = publisher_port(topic.name, index);
    output_->port.setInputMode(false);
    output_->port.enableBackgroundWrite(!unbuffered_);
    if (unbuffered_) output_->port.setTimeout(std::chrono::duration<float>(timeout_).count());
    open(output_->port, name);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return output_->buffers[in_hand_]->resized(bytes);
  }

  [[nodiscard]] Published publish() noexcept {
    Buffer& message = *output_->buffers[in_hand_];
    if (unbuffered_) return write_through(message);
    if (!sent()) return strict_ ? Published::timed_out : Published::ok;
    output_->sending.store(1);
    in_hand_ = (in_hand_ + 1) % used_;
    const bool done = attempt("yarp::os::Port::write", [&] {
      if (!output_->port.write(message)) throw std::runtime_error("the port is closed");
    });
    return done ? Published::ok : Published::failed;
  }

  [[nodiscard]] std::size_t matched() { return connections_.made(); }

 private:
  struct Output;

  struct Buffer final : Octets {
    Buffer(Output& output, std::size_t bytes) : Octets(bytes), owner(output) {}

    void onCompletion() const override {
      owner.sending.store(0);
      futex_wake(owner.sending, 1, FutexScope::process);
    }

    Output& owner;
  };

  struct Output {
    std::atomic<std::uint32_t> sending{0};  ///< 1 while YARP's threads send a buffer
    std::array<std::optional<Buffer>, 3> buffers;
    ::yarp::os::Port port;  // closed before its buffers are destroyed
  };

  /// Writes the message on this thread. YARP closes a connection whose reader takes longer than the write timeout.
  [[nodiscard]] Published write_through(const Buffer& message) noexcept {
    const kit::Deadline deadline(timeout_);
    const bool done = attempt("yarp::os::Port::write", [&] {
      if (!output_->port.write(message))
        throw std::runtime_error("YARP closed a connection, as it does after the write timeout");
    });
    return done ? Published::ok : deadline.passed() ? Published::timed_out : Published::failed;
  }

  /// Waits until every connection has sent the previous message. Returns false after the write timeout.
  [[nodiscard]] bool sent() noexcept {
    std::atomic<std::uint32_t>& sending = output_->sending;
    if (sending.load() == 0) return true;
    for (const kit::Deadline deadline(timeout_); sending.load() != 0;) {
      const auto left = deadline.left();
      if (left.count() == 0) return false;
      futex_wait(sending, 1, left, FutexScope::process);
    }
    return true;
  }

  const bool unbuffered_;
  const bool strict_;
  const std::chrono::nanoseconds timeout_;
  const std::size_t used_;  ///< the number of buffers; with `local` a subscriber may read the one before the last
  Connections connections_;
  std::size_t in_hand_ = 0;
  Lasting<Output> output_;
};

}  // namespace middlemark::yarp
