// Publisher and subscriber over TLS. They repeat the code of kit/stream.hpp, because a test for TLS in that file would
// slow plain TCP down by a branch per message. Hot file: after the handshake no function here allocates, logs or
// throws, and locks are short.
#pragma once

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/links.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/stream.hpp>

#include "tls.hpp"

namespace middlemark::tls {

/// The connections of a process, and the TLS channels over them.
struct Ways {
  kit::Links& links;
  Channels& channels;
};

/// Waits until `fd` is ready for `events`. Returns false after `timeout`.
[[nodiscard]] inline bool awaits(int fd, short events, std::chrono::nanoseconds timeout) noexcept {
  pollfd waited{fd, events, 0};
  const timespec limit = kit::as_timespec(timeout);
  return ppoll(&waited, 1, &limit, nullptr) > 0;
}

[[nodiscard]] std::size_t connected(const auto& peers) {
  return static_cast<std::size_t>(
      std::ranges::count_if(peers, [](const auto& peer) { return peer.channel != nullptr; }));
}

/// Returns the last error of the first peer that has one; empty if none has.
[[nodiscard]] std::string last_error_of(const auto& peers) {
  for (const auto& peer : peers) {
    const std::string words = peer.channel != nullptr ? peer.channel->last_error() : "";
    if (!words.empty()) return words;
  }
  return {};
}

class Publisher {
 public:
  Publisher(Ways ways, const Topic& topic, unsigned index, std::chrono::nanoseconds write_timeout)
      : ways_(ways),
        write_timeout_(write_timeout),
        prefix_(kit::frame_prefix(topic)),
        frame_(prefix_ + topic.message_bytes),
        cut_frame_(frame_),
        memory_(frame_),
        cut_memory_(frame_, false) {
    for (unsigned i = 0; i < topic.subscribers; ++i) peers_.push_back({{kit::name_hash(topic.name), index, i}});
    ways_.links.add(topic, kit::End::publisher, index);
  }

  [[nodiscard]] std::size_t matched() {
    ways_.links.advance();
    for (Peer& peer : peers_) {
      if (peer.channel != nullptr) continue;
      const int fd = ways_.links.outgoing(peer.flow);
      if (fd >= 0) peer.channel = ways_.channels.find(fd);
    }
    return connected(peers_);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (prefix_ != 0) [[unlikely]] {
      const kit::FrameLength length = bytes;
      std::memcpy(memory_.data(), &length, sizeof length);
      frame_ = prefix_ + bytes;
    }
    return memory_.span().subspan(prefix_, bytes);
  }

  /// Sends the message to all peers. A message cannot be cancelled when a peer has accepted a part of it. After the
  /// timeout publish() then returns timed_out, and the next publish() first sends the rest.
  Published publish() noexcept {
    left_ = write_timeout_;
    if (cut_) [[unlikely]]
      if (!send_rest()) return Published::timed_out;
    Published outcome = Published::ok;
    for (Peer& peer : peers_) {
      peer.sent = 0;
      peer.begun = false;
      const Published one = send(peer, memory_.span().first(frame_));
      if (one != Published::ok) [[unlikely]]
        outcome = one;
    }
    if (cut_) [[unlikely]] {
      std::swap(memory_, cut_memory_);
      cut_frame_ = frame_;
    }
    return outcome;
  }

  [[nodiscard]] std::string last_error() const { return last_error_of(peers_); }

 private:
  struct Peer {
    kit::Flow flow;
    Channel* channel = nullptr;
    std::size_t sent = 0;  // bytes sent of the current message, or of the message in cut_memory_
    bool begun = false;    // the channel has accepted a part of the remaining bytes
  };

  Published send(Peer& peer, std::span<const std::byte> message) noexcept {
    while (peer.sent < message.size()) {
      const long taken = peer.channel->write(message.data() + peer.sent, message.size() - peer.sent);
      if (taken > 0) [[likely]] {
        peer.sent += static_cast<std::size_t>(taken);
      } else if (taken < 0) {
        peer.sent = 0;
        peer.begun = false;
        return Published::failed;
      } else {
        peer.begun = true;
        const kit::Deadline deadline(left_);  // the timeout is for the whole publish(), not for each peer
        const bool room = awaits(peer.channel->fd(), POLLOUT, left_);
        left_ = deadline.left();
        if (!room) {
          cut_ = true;
          return Published::timed_out;
        }
      }
    }
    peer.begun = false;
    return Published::ok;
  }

  /// Sends the rest of the message in cut_memory_. Returns false if a peer has still not accepted all of it.
  bool send_rest() noexcept {
    cut_ = false;
    for (Peer& peer : peers_) {
      if (peer.begun) send(peer, cut_memory_.span().first(cut_frame_));
    }
    return !cut_;
  }

  const Ways ways_;
  const std::chrono::nanoseconds write_timeout_;
  const std::size_t prefix_;
  std::size_t frame_;      // bytes of the current message and its prefix
  std::size_t cut_frame_;  // bytes of the message in cut_memory_ and its prefix
  kit::Memory memory_;
  kit::Memory cut_memory_;
  std::vector<Peer> peers_;
  bool cut_ = false;                 // a peer has received only a part of the message in cut_memory_
  std::chrono::nanoseconds left_{};  // the rest of the current publish()'s write timeout
};

class Subscriber {
 public:
  static constexpr std::size_t most_per_take = 64;

  Subscriber(Ways ways, const Topic& topic, unsigned index) : ways_(ways) {
    for (unsigned i = 0; i < topic.publishers; ++i) {
      peers_.emplace_back(kit::Flow{kit::name_hash(topic.name), i, index}, kit::frame_prefix(topic),
                          topic.message_bytes);
    }
    if (peers_.size() > 1) {
      readiness_ = kit::Descriptor(epoll_create1(EPOLL_CLOEXEC));
      if (!readiness_) kit::fail("epoll_create1()");
    }
    ways_.links.add(topic, kit::End::subscriber, index);
  }

  /// Continues the handshakes, which a process that only receives needs as well. Returns the number of publishers with
  /// a finished handshake.
  [[nodiscard]] std::size_t publishers_found() {
    ways_.links.advance();
    for (Peer& peer : peers_) {
      if (peer.channel != nullptr) continue;
      const int fd = ways_.links.incoming(peer.flow);
      if (fd < 0) continue;
      peer.channel = ways_.channels.find(fd);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &peer;
      if (peer.channel != nullptr && readiness_) epoll_ctl(readiness_.get(), EPOLL_CTL_ADD, fd, &event);
    }
    return connected(peers_);
  }

  /// Reads from all publishers alternately until no message is left or most_per_take messages were visited.
  template <class Visitor>
  std::size_t take(Visitor&& visitor) noexcept {
    std::size_t visits = 0;
    if (complete_ != nullptr) {
      visitor(std::exchange(complete_, nullptr)->message());
      ++visits;
    }
    for (std::size_t before = visits;; before = visits) {
      for (Peer& peer : peers_) {
        if (!fill(peer)) continue;
        visitor(peer.message());
        ++visits;
      }
      if (visits == before || visits >= most_per_take) return visits;
    }
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    for (const kit::Deadline deadline(timeout); complete_ == nullptr;) {
      // One recv() may have read several messages. OpenSSL buffers them, and poll() does not report them.
      for (Peer& peer : peers_) {
        if (complete_ == nullptr && peer.holds_some() && fill(peer)) complete_ = &peer;
      }
      if (complete_ != nullptr) return true;
      Peer* const peer = await_any(deadline.left());
      if (peer == nullptr) return false;
      if (fill(*peer)) complete_ = peer;
    }
    return true;
  }

  [[nodiscard]] std::string last_error() const { return last_error_of(peers_); }

 private:
  struct Peer {
    Peer(const kit::Flow& flow_, std::size_t prefix_, std::size_t message_bytes)
        : flow(flow_), prefix(prefix_), memory(prefix_ + message_bytes), due(prefix_ != 0 ? prefix_ : memory.size()) {}
    [[nodiscard]] std::span<const std::byte> message() const noexcept {
      return memory.span().first(due).subspan(prefix);
    }
    [[nodiscard]] bool holds_some() const noexcept { return !gone && channel != nullptr && channel->holds_some(); }

    kit::Flow flow;
    std::size_t prefix;
    kit::Memory memory;
    std::size_t due;  // bytes to read: the whole message; if sizes vary, first the prefix, then also the message
    Channel* channel = nullptr;
    std::size_t filled = 0;  // bytes of the message being read
    bool gone = false;
  };

  /// Reads from a peer's channel. Returns true when a message is complete.
  bool fill(Peer& peer) noexcept {
    if (peer.gone || peer.channel == nullptr) return false;  // without a channel a publisher sends nothing
    if (peer.prefix != 0 && peer.filled == 0) peer.due = peer.prefix;
    for (;;) {
      const long got = peer.channel->read(peer.memory.data() + peer.filled, peer.due - peer.filled);
      if (got == 0) return false;
      if (got < 0) {  // a message that was received in part is lost
        if (readiness_) epoll_ctl(readiness_.get(), EPOLL_CTL_DEL, peer.channel->fd(), nullptr);
        peer.gone = true;
        return false;
      }
      peer.filled += static_cast<std::size_t>(got);
      if (peer.filled != peer.due) continue;
      if (peer.due == peer.prefix) {
        kit::FrameLength length = 0;
        std::memcpy(&length, peer.memory.data(), sizeof length);
        peer.due += std::min<std::size_t>(length, peer.memory.size() - peer.prefix);
        continue;
      }
      peer.filled = 0;
      return true;
    }
  }

  /// Waits until a connection has data, and returns its peer; null after `timeout`.
  Peer* await_any(std::chrono::nanoseconds timeout) noexcept {
    if (!readiness_) {
      Peer& only = peers_.front();
      return awaits(only.gone || only.channel == nullptr ? -1 : only.channel->fd(), POLLIN, timeout) ? &only : nullptr;
    }
    epoll_event event{};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    if (epoll_wait(readiness_.get(), &event, 1, static_cast<int>(milliseconds)) <= 0) return nullptr;
    return static_cast<Peer*>(event.data.ptr);
  }

  const Ways ways_;
  std::deque<Peer> peers_;     // never moves a Peer
  Peer* complete_ = nullptr;   // a peer whose whole message wait() has read
  kit::Descriptor readiness_;  // an epoll instance; empty if there is only one publisher
};

}  // namespace middlemark::tls
