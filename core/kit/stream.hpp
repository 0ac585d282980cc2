// Publisher and subscriber over stream connections. If all messages of a topic have one size, there is no framing;
// otherwise the length is sent before each message. Hot file: once the connections are made, the code here does not
// allocate, lock, log or throw.
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/arrival.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/links.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/receive_timeout.hpp>
#include <middlemark/kit/socket.hpp>

namespace middlemark::kit {

// Values of a descriptor without a connection.
inline constexpr int unmatched = -1;
inline constexpr int gone = -2;

/// The length that is sent before each message if sizes vary.
using FrameLength = std::uint64_t;
[[nodiscard]] inline std::size_t frame_prefix(const Topic& topic) noexcept {
  return topic.varies ? sizeof(FrameLength) : 0;
}

/// Writes every message to each subscriber's connection. If the timeout interrupts a message, its sent part remains in
/// the stream. publish() then returns timed_out, and the next publish() first sends the rest, so the interrupted
/// message arrives late but in full.
class StreamPublisher {
 public:
  /// `chunk_bytes`: the largest number of bytes per send(). The adapters' comments give the reasons for their values.
  StreamPublisher(Links& links, const Topic& topic, unsigned index, std::size_t chunk_bytes)
      : links_(links),
        chunk_bytes_(chunk_bytes),
        prefix_(frame_prefix(topic)),
        frame_(prefix_ + topic.message_bytes),
        cut_frame_(frame_),
        memory_(frame_),
        cut_memory_(frame_, false) {
    for (unsigned i = 0; i < topic.subscribers; ++i) peers_.push_back({{name_hash(topic.name), index, i}});
    links_.add(topic, End::publisher, index);
  }

  [[nodiscard]] std::size_t matched() {
    links_.advance();
    for (Peer& peer : peers_) {
      if (peer.fd == unmatched) peer.fd = links_.outgoing(peer.flow);
    }
    return static_cast<std::size_t>(
        std::ranges::count_if(peers_, [](const Peer& peer) { return peer.fd != unmatched; }));
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (prefix_ != 0) [[unlikely]] {
      const FrameLength length = bytes;
      std::memcpy(memory_.data(), &length, sizeof length);
      frame_ = prefix_ + bytes;
    }
    return memory_.span().subspan(prefix_, bytes);
  }

  Published publish() noexcept {
    patience_ = 0;
    if (cut_) [[unlikely]]
      if (!send_rest()) return Published::timed_out;
    Published outcome = Published::ok;
    for (Peer& peer : peers_) {
      peer.sent = 0;
      const Published one = send(peer, memory_.span().first(frame_));
      if (one != Published::ok) [[unlikely]]
        outcome = one;
    }
    // The rest of the interrupted message is still to be sent, so the next loan() must use the other memory.
    if (cut_) [[unlikely]] {
      std::swap(memory_, cut_memory_);
      cut_frame_ = frame_;
    }
    return outcome;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  struct Peer {
    Flow flow;
    int fd = unmatched;
    std::size_t sent = 0;  // bytes sent of the current or the interrupted message
  };

  Published send(Peer& peer, std::span<const std::byte> message) noexcept {
    while (peer.sent < message.size()) {
      const std::size_t bytes = std::min(chunk_bytes_, message.size() - peer.sent);
      const ssize_t sent = ::send(peer.fd, message.data() + peer.sent, bytes, MSG_NOSIGNAL | patience_);
      if (sent >= 0) [[likely]] {
        peer.sent += static_cast<std::size_t>(sent);
      } else if (errno == EAGAIN) {
        patience_ = MSG_DONTWAIT;  // the timeout is for the whole publish(): do not wait for further peers
        if (peer.sent != 0) cut_ = true;
        return Published::timed_out;
      } else if (errno != EINTR) {
        failure_.note("send", errno);
        if (peer.fd != unmatched) peer.fd = gone;
        peer.sent = 0;
        return Published::failed;
      }
    }
    return Published::ok;
  }

  /// Sends the rest of the interrupted message. Returns false if a peer still does not accept all of it.
  bool send_rest() noexcept {
    cut_ = false;
    for (Peer& peer : peers_) {
      if (peer.sent != 0) send(peer, cut_memory_.span().first(cut_frame_));
    }
    return !cut_;
  }

  Links& links_;
  const std::size_t chunk_bytes_;
  const std::size_t prefix_;
  std::size_t frame_;      // bytes of the current message, including the length before it
  std::size_t cut_frame_;  // bytes of the interrupted message
  Memory memory_;
  Memory cut_memory_;
  std::vector<Peer> peers_;
  bool cut_ = false;  // a peer has received only a part of the message in cut_memory_
  int patience_ = 0;  // flags of send(): MSG_DONTWAIT once a peer has used up the timeout of this publish()
  LastSystemFailure failure_;
};

/// Reads each publisher's connection into its own buffer, so that a partly received message delays no other publisher.
class StreamSubscriber {
 public:
  static constexpr std::size_t most_per_take = 64;

  /// `stamped`: the kernel stamps arrivals on the connections.
  StreamSubscriber(Links& links, const Topic& topic, unsigned index, bool stamped = false)
      : links_(links), stamped_(stamped) {
    for (unsigned i = 0; i < topic.publishers; ++i) {
      const bool touched = topic.message_bytes * topic.publishers <= most_touched_bytes;
      peers_.emplace_back(Flow{name_hash(topic.name), i, index}, frame_prefix(topic), topic.message_bytes, touched);
    }
    missing_ = peers_.size();
    if (peers_.size() > 1) {
      readiness_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
      if (!readiness_) fail("epoll_create1()");
    }
    links_.add(topic, End::subscriber, index);
  }

  /// After a wait() that returned true: visits the message that the wait() has read, and one message of every other
  /// publisher whose connection was readable. Without such a wait(), reads from all publishers in turn until no message
  /// is left or most_per_take messages were visited.
  template <class Visitor>
  std::size_t take(Visitor&& visitor) noexcept {
    if (complete_ != nullptr) {
      visit(*std::exchange(complete_, nullptr), visitor);
      return 1 + take_seen(visitor);
    }
    if (missing_ != 0) [[unlikely]]
      adopt();
    std::size_t visits = 0;
    for (std::size_t before = visits;; before = visits) {
      for (Peer& peer : peers_) visits += take_one(peer, visitor);
      if (visits == before || visits >= most_per_take) return visits;
    }
  }

  bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (complete_ != nullptr) [[unlikely]]
      return true;
    if (missing_ != 0) [[unlikely]]
      if (!adopt()) return wait_for_connection(timeout);
    Peer* const peer = readiness_ ? wait_for_any(timeout) : &peers_.front();
    if (peer == nullptr) return false;
    if (peer->fd < 0) [[unlikely]] {
      poll(nullptr, 0, milliseconds(timeout));  // the only publisher is gone: sleep, because the caller would spin
      return false;
    }
    const ssize_t got = peer->timeout(peer->fd, timeout, [&] { return read(*peer, MSG_WAITALL); });
    if (account(*peer, got)) complete_ = peer;
    return complete_ != nullptr;
  }

  /// Returns when the last packet of the message visited last arrived: see HasArrivalStamp.
  [[nodiscard]] std::uint64_t arrived_ns() const noexcept { return arrived_ns_; }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  static constexpr std::size_t most_touched_bytes = std::size_t{256} << 20;  // larger buffers are not pre-faulted

  struct Peer {
    Peer(const Flow& flow_, std::size_t prefix_, std::size_t message_bytes, bool touched)
        : flow(flow_),
          prefix(prefix_),
          memory(prefix + message_bytes, touched),
          due(prefix != 0 ? prefix : memory.size()) {}
    [[nodiscard]] std::span<const std::byte> message() const noexcept {
      return memory.span().first(due).subspan(prefix);
    }

    Flow flow;
    std::size_t prefix;
    Memory memory;
    std::size_t due;  // bytes to read; if sizes vary, first only the prefix, then the prefix and the message
    int fd = unmatched;
    std::size_t filled = 0;  // bytes of the message being read
    std::uint64_t arrived_ns = 0;
    ReceiveTimeout timeout{};
  };

  ssize_t read(Peer& peer, int flags) noexcept {
    std::byte* const to = peer.memory.data() + peer.filled;
    if (peer.prefix != 0 && peer.filled == 0) [[unlikely]]
      peer.due = peer.prefix;
    const std::size_t room = peer.due - peer.filled;
    return stamped_ ? receive_stamped(peer.fd, to, room, flags, peer.arrived_ns) : recv(peer.fd, to, room, flags);
  }

  template <class Visitor>
  void visit(const Peer& peer, Visitor& visitor) noexcept {
    arrived_ns_ = peer.arrived_ns;
    visitor(peer.message());
  }

  /// Adds the result `got` of a receive call to the message being read. Returns true if that message is complete.
  bool account(Peer& peer, ssize_t got) noexcept {
    if (got > 0) [[likely]] {
      peer.filled += static_cast<std::size_t>(got);
      if (peer.filled != peer.due) return false;
      if (peer.due == peer.prefix) [[unlikely]] {
        FrameLength length = 0;
        std::memcpy(&length, peer.memory.data(), sizeof length);
        peer.due += std::min<std::size_t>(length, peer.memory.size() - peer.prefix);
        return false;
      }
      peer.filled = 0;
      return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    // The publisher is gone. A partly received message is lost.
    if (got < 0) failure_.note("recv", errno);
    if (readiness_) epoll_ctl(readiness_.get(), EPOLL_CTL_DEL, peer.fd, nullptr);
    peer.fd = gone;
    return false;
  }

  template <class Visitor>
  std::size_t take_one(Peer& peer, Visitor& visitor) noexcept {
    if (peer.fd < 0) return 0;
    for (;;) {
      const ssize_t got = read(peer, MSG_DONTWAIT);
      if (account(peer, got)) {
        visit(peer, visitor);
        return 1;
      }
      if (got <= 0) return 0;
    }
  }

  template <class Visitor>
  std::size_t take_seen(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    while (seen_ > 0) visits += take_one(*static_cast<Peer*>(events_[--seen_].data.ptr), visitor);
    return visits;
  }

  /// With several publishers: returns a publisher whose connection is readable, or nullptr after the timeout.
  Peer* wait_for_any(std::chrono::nanoseconds timeout) noexcept {
    const int count =
        epoll_wait(readiness_.get(), events_.data(), static_cast<int>(events_.size()), milliseconds(timeout));
    if (count <= 0) return nullptr;
    seen_ = static_cast<std::size_t>(count) - 1;
    return static_cast<Peer*>(events_[seen_].data.ptr);
  }

  /// Takes over the connections that have been accepted. Returns true if no connection is missing. Only processes that
  /// do not publish need this, at the start.
  bool adopt() noexcept {
    links_.accept();
    for (Peer& peer : peers_) {
      if (peer.fd != unmatched) continue;
      peer.fd = links_.incoming(peer.flow);
      if (peer.fd == unmatched) continue;
      --missing_;
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &peer;
      if (readiness_) epoll_ctl(readiness_.get(), EPOLL_CTL_ADD, peer.fd, &event);
    }
    return missing_ == 0;
  }

  /// While connections are missing: sleeps until a peer connects or an existing connection is readable. The caller finds
  /// out which by calling take().
  bool wait_for_connection(std::chrono::nanoseconds timeout) noexcept {
    std::array<pollfd, 2> either{};
    either[0] = {links_.listener(), POLLIN, 0};
    either[1] = {readiness_.get(), POLLIN, 0};
    // Sleep briefly, because poll() does not report a connection whose Hello is still under way.
    poll(either.data(), readiness_ ? 2 : 1, std::min(milliseconds(timeout), 5));
    return true;
  }

  static int milliseconds(std::chrono::nanoseconds timeout) noexcept {
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
  }

  Links& links_;
  std::deque<Peer> peers_;    // a deque, because epoll keeps the address of each Peer
  std::size_t missing_ = 0;   // connections that are not made yet
  Peer* complete_ = nullptr;  // the peer from which wait() has read a whole message
  Descriptor readiness_;      // epoll; only with several publishers
  std::array<epoll_event, 16> events_{};
  std::size_t seen_ = 0;  // number of events_ whose peers have not been read yet
  const bool stamped_;
  std::uint64_t arrived_ns_ = 0;
  LastSystemFailure failure_;
};

}  // namespace middlemark::kit
