// Messages of more than one datagram. The publisher cuts them into fragments and the subscriber reassembles them, without
// extra copies: each fragment is sent from its place in the message and received into its place. The arrays for sendmmsg()
// and recvmmsg() are built when the endpoint opens; usually only the message's number changes from message to message.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <middlemark/kit/memory.hpp>

namespace middlemark::udp {

/// The header of a fragment. A message that fits into one datagram has no header.
struct FragmentHeader {
  std::uint32_t message = 0;   ///< the message's number: the publisher counts from 1, and may wrap around
  std::uint32_t bytes = 0;     ///< the message's size
  std::uint32_t fragment = 0;  ///< the fragment's index in the message, from 0
  std::uint32_t flow = 0;      ///< flow_number() of topic and publisher, to recognise foreign datagrams
};
static_assert(sizeof(FragmentHeader) == 16);

inline constexpr std::size_t datagram_limit = 65'507;  ///< payload of one UDP datagram over IPv4

/// The number and the sizes of a message's fragments. All fragments have the same size; the last may be smaller.
/// Publisher and subscriber compute the same layout.
struct Layout {
  std::size_t message_bytes = 0;
  std::size_t fragment_bytes = 0;
  std::size_t fragments = 1;

  /// `datagram_bytes`: the largest datagram, including the fragment's header.
  [[nodiscard]] static constexpr Layout of(std::size_t message_bytes, std::size_t datagram_bytes) noexcept {
    constexpr std::size_t line = 64;  // fragments begin at cache lines
    if (message_bytes <= datagram_limit) return {message_bytes, message_bytes, 1};
    const std::size_t most = (datagram_bytes - sizeof(FragmentHeader)) / line * line;
    const std::size_t fragments = (message_bytes + most - 1) / most;
    const std::size_t equal = ((message_bytes + fragments - 1) / fragments + line - 1) / line * line;
    return {message_bytes, equal, (message_bytes + equal - 1) / equal};
  }
  /// Returns the layout of a smaller message, of `bytes` <= `message_bytes`, with fragments of the same size.
  [[nodiscard]] constexpr Layout cut(std::size_t bytes) const noexcept {
    return {bytes, fragment_bytes, (bytes + fragment_bytes - 1) / fragment_bytes};
  }
  /// Returns the layout with a last fragment of full size, and `message_bytes` increased accordingly.
  [[nodiscard]] constexpr Layout padded() const noexcept {
    return {fragments * fragment_bytes, fragment_bytes, fragments};
  }
  [[nodiscard]] constexpr bool whole() const noexcept { return fragments == 1; }
  [[nodiscard]] constexpr std::size_t length(std::size_t fragment) const noexcept {
    return std::min(fragment_bytes, message_bytes - fragment * fragment_bytes);
  }
};

/// The arrays for sendmmsg() or recvmmsg() of a message: for each datagram, its header and its place in the message.
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
    for (FragmentHeader& header : headers_) header.message = message;
  }
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

/// Reassembles the messages of one publisher. A socket delivers fragments in order, so a gap means that a fragment was lost.
/// Then the rest of that message is dropped.
class Reassembly {
 public:
  /// `varies`: the sizes of messages vary, and `layout` is that of the largest message.
  Reassembly(const Layout& layout, std::uint32_t flow, bool varies = false)
      : layout_(layout),
        cut_(layout),
        varies_(varies),
        flow_(flow),
        // Padded: if the last fragment is lost, the first fragment of the next message is received into its place.
        memory_(layout.padded().message_bytes),
        datagrams_(layout.padded(), memory_.data(), flow) {}

  /// Calls recvmmsg() once and returns its result. After it, complete() returns whether a message is complete.
  int receive(int fd, int flags) noexcept {
    const std::size_t first = next_;
    // Read no datagram of the next message. If sizes vary, the number of fragments is known after the first fragment.
    const std::size_t expected = varies_ && first == 0 ? 1 : cut_.fragments;
    const auto room = static_cast<unsigned>(std::min(expected - first, most_at_once));
    const int count = recvmmsg(fd, &datagrams_[first], room, flags, nullptr);
    for (int i = 0; i < count; ++i) place(first + static_cast<std::size_t>(i));
    return count;
  }

  [[nodiscard]] bool complete() const noexcept { return next_ == cut_.fragments; }
  /// Returns the complete message. It is valid until the next receive().
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return memory_.span().first(cut_.message_bytes); }
  void begin_next() noexcept { next_ = 0; }

 private:
  // With larger batches, the first fragment would be processed later, after the last of the batch has arrived. Smaller
  // batches need more calls.
  static constexpr std::size_t most_at_once = 64;

  /// Checks the datagram that was received into `slot`, and moves it to its place if that is another slot.
  void place(std::size_t slot) noexcept {
    const FragmentHeader header = datagrams_.header(slot);
    const std::size_t length = datagrams_[slot].msg_len;
    const Layout cut = layout_.cut(header.bytes);
    const bool size_fits = varies_ ? header.bytes <= layout_.message_bytes : header.bytes == layout_.message_bytes;
    const bool ours = length > sizeof(FragmentHeader) && header.flow == flow_ && size_fits &&
                      header.fragment < cut.fragments &&
                      length == sizeof(FragmentHeader) + cut.length(header.fragment) &&
                      (datagrams_[slot].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    if (!ours) return;  // a foreign datagram has used a slot, so the fragments after it must move
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

  /// Moves the fragment in `slot` to the place of fragment next_. Because next_ <= slot, this never overwrites a fragment that
  /// is still to be checked.
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
  std::uint32_t message_ = 0;  // number of the current message; 0 if there is none
  std::size_t next_ = 0;       // the fragment that comes next
};

}  // namespace middlemark::udp
