// Messages of more than one datagram. The publisher cuts them and the subscriber reassembles them, without extra copies:
// each fragment is sent from its place in the message and received into its place. Every array is built when the endpoint
// opens; for a message only its number changes.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <middlemark/kit/memory.hpp>

namespace middlemark::udp {

/// The header of a fragment. A message that fits one datagram has none.
struct FragmentHeader {
  std::uint32_t message = 0;   ///< the publisher's count, from 1; may wrap around
  std::uint32_t bytes = 0;     ///< of the message
  std::uint32_t fragment = 0;  ///< index, from 0
  std::uint32_t flow = 0;      ///< topic and publisher, so that foreign datagrams are not taken for fragments
};
static_assert(sizeof(FragmentHeader) == 16);

inline constexpr std::size_t datagram_limit = 65'507;  ///< payload of one UDP datagram over IPv4

/// How a message is cut, computed in the same way on both ends. All fragments but the last have equal size.
struct Layout {
  std::size_t message_bytes = 0;
  std::size_t fragment_bytes = 0;
  std::size_t fragments = 1;

  /// `datagram_bytes`: the limit for one datagram, with its header.
  [[nodiscard]] static constexpr Layout of(std::size_t message_bytes, std::size_t datagram_bytes) noexcept {
    constexpr std::size_t line = 64;  // fragments begin at cache lines
    if (message_bytes <= datagram_limit) return {message_bytes, message_bytes, 1};
    const std::size_t most = (datagram_bytes - sizeof(FragmentHeader)) / line * line;
    const std::size_t fragments = (message_bytes + most - 1) / most;
    const std::size_t equal = ((message_bytes + fragments - 1) / fragments + line - 1) / line * line;
    return {message_bytes, equal, (message_bytes + equal - 1) / equal};
  }
  /// Returns the layout of another message that is not larger.
  [[nodiscard]] constexpr Layout cut(std::size_t bytes) const noexcept {
    return {bytes, fragment_bytes, (bytes + fragment_bytes - 1) / fragment_bytes};
  }
  /// Returns a layout whose last fragment has full size.
  [[nodiscard]] constexpr Layout padded() const noexcept {
    return {fragments * fragment_bytes, fragment_bytes, fragments};
  }
  [[nodiscard]] constexpr bool whole() const noexcept { return fragments == 1; }
  [[nodiscard]] constexpr std::size_t length(std::size_t fragment) const noexcept {
    return std::min(fragment_bytes, message_bytes - fragment * fragment_bytes);
  }
};

/// The datagrams of a message for sendmmsg() or recvmmsg(), each with a header and its place in the message.
class Datagrams {
 public:
  Datagrams(const Layout& layout, std::byte* message, std::uint32_t flow)
      : headers_(layout.fragments), parts_(layout.fragments * 2), datagrams_(layout.fragments) {
    for (std::size_t i = 0; i < layout.fragments; ++i) {
      headers_[i] = {0, static_cast<std::uint32_t>(layout.message_bytes), static_cast<std::uint32_t>(i), flow};
      parts_[i * 2] = {&headers_[i], sizeof(FragmentHeader)};
      parts_[i * 2 + 1] = {message + i * layout.fragment_bytes, layout.length(i)};
      datagrams_[i].msg_hdr.msg_iov = &parts_[i * 2];
      datagrams_[i].msg_hdr.msg_iovlen = 2;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return datagrams_.size(); }
  [[nodiscard]] mmsghdr& operator[](std::size_t i) noexcept { return datagrams_[i]; }
  [[nodiscard]] const FragmentHeader& header(std::size_t i) const noexcept { return headers_[i]; }
  void number(std::uint32_t message) noexcept {
    for (FragmentHeader& each : headers_) each.message = message;
  }
  /// Sets the layout of the next message.
  void cut(const Layout& layout) noexcept {
    for (std::size_t i = 0; i < layout.fragments; ++i) {
      headers_[i].bytes = static_cast<std::uint32_t>(layout.message_bytes);
      parts_[i * 2 + 1].iov_len = layout.length(i);
    }
  }

 private:
  std::vector<FragmentHeader> headers_;
  std::vector<iovec> parts_;
  std::vector<mmsghdr> datagrams_;
};

/// Reassembles the messages of one publisher. A socket delivers fragments in order, so a fragment out of order means that
/// another was lost, and with it the message; everything is dropped until the next message begins.
class Reassembly {
 public:
  /// `varies`: `layout` is that of the largest message.
  Reassembly(const Layout& layout, std::uint32_t flow, bool varies = false)
      : layout_(layout),
        cut_(layout),
        varies_(varies),
        flow_(flow),
        // Padded: when a last fragment was lost, the next message may begin in its place.
        memory_(layout.padded().message_bytes),
        datagrams_(layout.padded(), memory_.data(), flow) {}

  /// Calls recvmmsg() once and returns its result. Then ask complete().
  int receive(int fd, int flags) noexcept {
    const std::size_t first = next_;
    // Not beyond this message: the number of its fragments is known once the first has come.
    const std::size_t known = varies_ && first == 0 ? 1 : cut_.fragments;
    const auto room = static_cast<unsigned>(std::min(known - first, most_at_once));
    const int count = recvmmsg(fd, &datagrams_[first], room, flags, nullptr);
    for (int i = 0; i < count; ++i) place(first + static_cast<std::size_t>(i));
    return count;
  }

  [[nodiscard]] bool complete() const noexcept { return next_ == cut_.fragments; }
  /// The message, until the next receive().
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return memory_.span().first(cut_.message_bytes); }
  void begin_next() noexcept { next_ = 0; }

 private:
  // A larger batch delays the sender's first fragments until the last is there; a smaller one needs more calls.
  static constexpr std::size_t most_at_once = 64;

  /// Checks the datagram in `slot`, and moves it to its place if it is not there already.
  void place(std::size_t slot) noexcept {
    const FragmentHeader header = datagrams_.header(slot);
    const std::size_t length = datagrams_[slot].msg_len;
    const Layout cut = layout_.cut(header.bytes);
    const bool known = varies_ ? header.bytes <= layout_.message_bytes : header.bytes == layout_.message_bytes;
    const bool ours = length > sizeof(FragmentHeader) && header.flow == flow_ && known &&
                      header.fragment < cut.fragments &&
                      length == sizeof(FragmentHeader) + cut.length(header.fragment) &&
                      (datagrams_[slot].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    if (!ours) return;  // a foreign datagram uses up a slot: later fragments are one slot late and get moved
    if (header.fragment == 0) {
      message_ = header.message;
      cut_ = cut;
      next_ = 0;
    } else if (header.message != message_ || header.fragment != next_) {
      message_ = 0;
      next_ = 0;
      return;
    }
    if (slot != next_) move(slot);
    ++next_;
  }

  /// Moves only to earlier places (next_ <= slot), so it never overwrites a fragment that is still to be checked.
  void move(std::size_t slot) noexcept {
    std::byte* to = memory_.data() + next_ * layout_.fragment_bytes;
    std::memmove(to, memory_.data() + slot * layout_.fragment_bytes, cut_.length(next_));
  }

  const Layout layout_;
  Layout cut_;  // of the current message
  const bool varies_;
  const std::uint32_t flow_;
  const kit::Memory memory_;
  Datagrams datagrams_;
  std::uint32_t message_ = 0;  // number of the current message; 0: none
  std::size_t next_ = 0;       // the fragment that comes next
};

}  // namespace middlemark::udp
