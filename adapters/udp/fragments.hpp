// Messages of more than one datagram: cut by the publisher, put together again by the subscriber, without a copy on
// either side: each fragment is sent from and received into its place. Every array is built when the endpoint opens; a
// message changes only its number.
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

/// In front of each fragment, and only there: a message that fits one datagram carries nothing of ours.
struct FragmentHeader {
  std::uint32_t message = 0;   ///< the publisher's count, from 1; so much later another of that number is no matter
  std::uint32_t bytes = 0;     ///< of the message
  std::uint32_t fragment = 0;  ///< from 0
  std::uint32_t flow = 0;      ///< topic and publisher: a stranger's datagram is not taken for a fragment
};
static_assert(sizeof(FragmentHeader) == 16);

inline constexpr std::size_t datagram_limit = 65'507;  ///< what IPv4 carries in one UDP datagram

/// How a message is cut; both ends compute the same. Fragments are equal but for the last.
struct Layout {
  std::size_t message_bytes = 0;
  std::size_t fragment_bytes = 0;
  std::size_t fragments = 1;

  /// `datagram_bytes`: the most one datagram may have, the header included.
  [[nodiscard]] static constexpr Layout of(std::size_t message_bytes, std::size_t datagram_bytes) noexcept {
    constexpr std::size_t line = 64;  // fragments begin on cache lines
    if (message_bytes <= datagram_limit) return {message_bytes, message_bytes, 1};
    const std::size_t most = (datagram_bytes - sizeof(FragmentHeader)) / line * line;
    const std::size_t fragments = (message_bytes + most - 1) / most;
    const std::size_t equal = ((message_bytes + fragments - 1) / fragments + line - 1) / line * line;
    return {message_bytes, equal, (message_bytes + equal - 1) / equal};
  }
  /// Of a message that is shorter, or as long.
  [[nodiscard]] constexpr Layout cut(std::size_t bytes) const noexcept {
    return {bytes, fragment_bytes, (bytes + fragment_bytes - 1) / fragment_bytes};
  }
  /// The same with room for a full fragment in the last place.
  [[nodiscard]] constexpr Layout padded() const noexcept {
    return {fragments * fragment_bytes, fragment_bytes, fragments};
  }
  [[nodiscard]] constexpr bool whole() const noexcept { return fragments == 1; }
  [[nodiscard]] constexpr std::size_t length(std::size_t fragment) const noexcept {
    return std::min(fragment_bytes, message_bytes - fragment * fragment_bytes);
  }
};

/// A datagram for each fragment, ready for sendmmsg() or recvmmsg(): a header of its own and its place in the message.
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
  /// The next message is cut so.
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

/// Puts the messages of one publisher together. Fragments come in order over one socket, so one that is out of turn
/// means that another was lost, and with it the message: what follows is dropped until a message begins.
class Reassembly {
 public:
  /// `varies`: `layout` is that of the largest message.
  Reassembly(const Layout& layout, std::uint32_t flow, bool varies = false)
      : layout_(layout),
        cut_(layout),
        varies_(varies),
        flow_(flow),
        // Padded, because a message may begin in the place of the last fragment of one before, when that was lost.
        memory_(layout.padded().message_bytes),
        datagrams_(layout.padded(), memory_.data(), flow) {}

  /// Calls recvmmsg() once. Returns what it returned; complete() tells whether the message is.
  int receive(int fd, int flags) noexcept {
    const std::size_t first = next_;
    // Not beyond the message: how many it has is known once its first is there.
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
  // More would keep the sender's first fragments waiting for the last of a batch; fewer would be more calls.
  static constexpr std::size_t most_at_once = 64;

  /// The datagram that was received into `slot` is, as a rule, the fragment of that place.
  void place(std::size_t slot) noexcept {
    const FragmentHeader header = datagrams_.header(slot);
    const std::size_t length = datagrams_[slot].msg_len;
    const Layout cut = layout_.cut(header.bytes);
    const bool known = varies_ ? header.bytes <= layout_.message_bytes : header.bytes == layout_.message_bytes;
    const bool ours = length > sizeof(FragmentHeader) && header.flow == flow_ && known &&
                      header.fragment < cut.fragments &&
                      length == sizeof(FragmentHeader) + cut.length(header.fragment) &&
                      (datagrams_[slot].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    if (!ours) return;  // It took a slot, so what follows lies one place late and is moved.
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

  /// Never to a later place (next_ <= slot), so nothing that is still to be looked at is overwritten.
  void move(std::size_t slot) noexcept {
    std::byte* to = memory_.data() + next_ * layout_.fragment_bytes;
    std::memmove(to, memory_.data() + slot * layout_.fragment_bytes, cut_.length(next_));
  }

  const Layout layout_;
  Layout cut_;  // of the message that is being put together
  const bool varies_;
  const std::uint32_t flow_;
  const kit::Memory memory_;
  Datagrams datagrams_;
  std::uint32_t message_ = 0;  // being put together; 0: none
  std::size_t next_ = 0;       // the fragment it needs
};

}  // namespace middlemark::udp
