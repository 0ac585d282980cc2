// Sends the messages of one topic to every subscriber. Hot file: once matched, publish() and loan() do not allocate, lock or
// throw.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>

#include "fragments.hpp"

namespace middlemark::udp {

/// Returns the number by which a subscriber recognises the fragments of one publisher of one topic.
[[nodiscard]] constexpr std::uint32_t flow_number(std::string_view topic, unsigned publisher) noexcept {
  std::uint32_t hash = 0x811C9DC5U;  // FNV-1a
  for (const char letter : topic) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x01000193U;
  return hash + publisher;
}

/// Returns the name of the note with the address of a subscriber's socket. For fragmented messages a subscriber has one socket
/// per publisher, so that the fragments of one message arrive in order and in place.
[[nodiscard]] inline std::string socket_note(const Topic& topic, unsigned subscriber, const Layout& layout,
                                             unsigned publisher) {
  const std::string note = kit::subscriber_note(topic.name, subscriber);
  return layout.whole() ? note : note + ".from." + std::to_string(publisher);
}

class Publisher {
 public:
  Publisher(const Settings& settings, const Topic& topic, unsigned index, const Layout& layout)
      : settings_(settings),
        topic_(topic),
        index_(index),
        layout_(layout),
        cut_(layout),
        memory_(topic.message_bytes),
        peers_(topic.subscribers) {
    if (!layout.whole()) datagrams_.emplace(layout, memory_.data(), flow_number(topic.name, index));
  }

  [[nodiscard]] std::size_t matched() {
    std::size_t found = 0;
    for (unsigned i = 0; i < peers_.size(); ++i) {
      if (!peers_[i]) peers_[i] = reach(i);
      found += peers_[i] ? 1 : 0;
    }
    return found;
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != cut_.message_bytes) [[unlikely]] {
      cut_ = layout_.cut(bytes);
      if (datagrams_) datagrams_->cut(cut_);
    }
    return memory_.span().first(bytes);
  }

  Published publish() noexcept {
    if (datagrams_) {
      if (++message_ == 0) ++message_;
      datagrams_->number(message_);
    }
    Published outcome = Published::ok;
    for (const kit::Descriptor& peer : peers_) {
      const bool sent = datagrams_ ? send_fragments(peer.get()) : send_whole(peer.get());
      if (!sent) [[unlikely]]
        outcome = give_up();
    }
    return outcome;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// Returns a socket that is connected to a subscriber, so that the kernel does not look up the route for every
  /// message.
  [[nodiscard]] kit::Descriptor reach(unsigned subscriber) const {
    const auto note = socket_note(topic_, subscriber, layout_, index_);
    const auto found = kit::Rendezvous(settings_).find<kit::Address>(note);
    if (!found) return {};
    kit::Descriptor socket = kit::open_socket(found->storage.ss_family, SOCK_DGRAM);
    kit::bind_ipv4(socket.get(), settings_.interface);
    if (connect(socket.get(), found->get(), found->length) != 0) {
      kit::fail("connect() to subscriber " + std::to_string(subscriber) + " of " + topic_.name);
    }
    kit::set_timeout(socket.get(), SO_SNDTIMEO, settings_.write_timeout);
    return socket;
  }

  /// Sends the message as one datagram. Returns false for a failure other than ENOBUFS. ENOBUFS means that the network
  /// device had no room and has dropped the datagram; best effort allows this.
  bool send_whole(int fd) noexcept {
    while (send(fd, memory_.data(), cut_.message_bytes, 0) < 0) {
      if (errno == ENOBUFS) return true;
      if (errno != EINTR) return false;
    }
    return true;
  }

  bool send_fragments(int fd) noexcept {
    for (std::size_t done = 0; done < cut_.fragments;) {
      const int count = sendmmsg(fd, &(*datagrams_)[done], static_cast<unsigned>(cut_.fragments - done), 0);
      if (count > 0) [[likely]] {
        done += static_cast<std::size_t>(count);
      } else if (errno == ENOBUFS) {
        return true;
      } else if (errno != EINTR) {
        return false;
      }
    }
    return true;
  }

  /// Returns the result of a failed send. The rest of the message is not sent. The receiver drops the part that it has
  /// received when the next message begins.
  Published give_up() noexcept {
    if (errno == EAGAIN) return Published::timed_out;
    failure_.note("send", errno);
    return Published::failed;
  }

  const Settings settings_;
  const Topic topic_;
  const unsigned index_;
  const Layout layout_;
  Layout cut_;  // of the current message
  const kit::Memory memory_;
  std::vector<kit::Descriptor> peers_;
  std::optional<Datagrams> datagrams_;
  std::uint32_t message_ = 0;
  kit::LastSystemFailure failure_;
};

}  // namespace middlemark::udp
