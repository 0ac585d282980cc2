// Receives the messages of one topic. Hot file: once a subscriber exists, its functions do not allocate, lock, log or throw.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/kit/arrival.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/kit/receive_timeout.hpp>
#include <middlemark/kit/rendezvous.hpp>

#include "fragments.hpp"
#include "publisher.hpp"

namespace middlemark::udp {

/// A subscriber. It has one socket for all publishers if a message is one datagram, otherwise a socket per publisher.
class Subscriber {
 public:
  static constexpr unsigned most_per_take = 64;  ///< system calls per socket; each receives at most one message

  /// `buffer_bytes`: the receive buffer of each socket, as the kernel counts it.
  Subscriber(const Settings& settings, const Topic& topic, unsigned index, const Layout& layout,
             std::size_t buffer_bytes, bool timestamping)
      : stamps_arrivals_(timestamping && layout.whole()),
        varies_(topic.varies),
        memory_(layout.whole() ? topic.message_bytes : 1) {
    const unsigned sockets = layout.whole() ? 1 : topic.publishers;
    for (unsigned i = 0; i < sockets; ++i) {
      Source source;
      source.socket = kit::open_socket(AF_INET, SOCK_DGRAM);
      kit::grow_buffer(source.socket.get(), SO_RCVBUF, SO_RCVBUFFORCE, buffer_bytes);
      kit::bind_ipv4(source.socket.get(), settings.interface);
      if (stamps_arrivals_) kit::stamp_arrivals(source.socket.get());
      if (!layout.whole())
        source.fragments = std::make_unique<Reassembly>(layout, flow_number(topic.name, i), topic.varies);
      sources_.push_back(std::move(source));
    }
    if (sockets > 1) watch_all();
    for (unsigned i = 0; i < sockets; ++i) {
      kit::Rendezvous(settings).leave(socket_note(topic, index, layout, i), kit::address_of(sources_[i].socket.get()));
    }
  }

  /// After wait() has received a message over the only socket, visits that message. Otherwise reads from each socket until
  /// nothing is left, at most most_per_take times.
  template <class Visitor>
  std::size_t take(Visitor&& visitor) noexcept {
    if (complete_) {
      complete_ = false;
      visit(sources_.front(), visitor);
      return 1;
    }
    std::size_t visits = 0;
    for (Source& source : sources_) {
      for (unsigned reads = 0; reads < most_per_take && receive(source, MSG_DONTWAIT) >= 0; ++reads) {
        if (!complete_) continue;
        complete_ = false;
        visit(source, visitor);
        ++visits;
      }
    }
    return visits;
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (complete_) [[unlikely]]
      return true;
    if (readiness_) {
      std::array<epoll_event, 1> event{};
      const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
      return epoll_wait(readiness_.get(), event.data(), 1, static_cast<int>(ms)) > 0;
    }
    Source& source = sources_.front();
    const auto read = [&] { return receive(source, MSG_WAITFORONE); };
    if (!source.fragments) {
      source.timeout(source.socket.get(), timeout, read);
      return complete_;
    }
    // Read until a message is complete or the timeout has passed. If each message loses a fragment, no message is ever
    // complete.
    const std::uint64_t end = monotonic_ns() + static_cast<std::uint64_t>(timeout.count());
    while (!complete_) {
      if (source.timeout(source.socket.get(), timeout, read) < 0 || monotonic_ns() >= end) break;
    }
    return complete_;
  }

  /// Returns the arrival time of the message that was visited last, see HasArrivalStamp.
  [[nodiscard]] std::uint64_t arrived_ns() const noexcept { return arrived_ns_; }

 private:
  struct Source {
    kit::Descriptor socket;
    kit::ReceiveTimeout timeout{};
    std::unique_ptr<Reassembly> fragments;  // null: each datagram is a message
  };

  /// Receives with one system call, and sets complete_ to true if a message is now complete. Returns a negative number
  /// if nothing was received.
  ssize_t receive(Source& source, int flags) noexcept {
    if (source.fragments) {
      const int count = source.fragments->receive(source.socket.get(), flags);
      complete_ = source.fragments->complete();
      return count;
    }
    // With MSG_TRUNC recv() returns the datagram's full length; a datagram with an unexpected length is foreign.
    const int how = (flags & MSG_DONTWAIT) | MSG_TRUNC;
    const ssize_t length =
        stamps_arrivals_ ? kit::receive_stamped(source.socket.get(), memory_.data(), memory_.size(), how, arrived_ns_)
                         : recv(source.socket.get(), memory_.data(), memory_.size(), how);
    const auto most = static_cast<ssize_t>(memory_.size());
    complete_ = length == most || (varies_ && length > 0 && length < most);
    length_ = static_cast<std::size_t>(length);
    return length;
  }

  template <class Visitor>
  void visit(Source& source, Visitor& visitor) noexcept {
    if (!source.fragments) {
      visitor(std::span<const std::byte>(memory_.span().first(length_)));
      return;
    }
    visitor(source.fragments->message());
    source.fragments->begin_next();
  }

  void watch_all() {
    readiness_ = kit::Descriptor(epoll_create1(EPOLL_CLOEXEC));
    if (!readiness_) kit::fail("epoll_create1()");
    for (const Source& source : sources_) {
      epoll_event event{};
      event.events = EPOLLIN;
      if (epoll_ctl(readiness_.get(), EPOLL_CTL_ADD, source.socket.get(), &event) != 0) kit::fail("epoll_ctl()");
    }
  }

  const bool stamps_arrivals_;
  const bool varies_;
  const kit::Memory memory_;  // for a message of one datagram
  std::size_t length_ = 0;    // of the message in memory_
  std::vector<Source> sources_;
  kit::Descriptor readiness_;  // an epoll instance; empty if there is only one socket
  std::uint64_t arrived_ns_ = 0;
  bool complete_ = false;  // a complete message waits to be visited
};

}  // namespace middlemark::udp
