// Tests messages divided into datagrams: if some are lost, no message is reassembled from parts of several messages.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/kit/socket.hpp>

#include "udp/fragments.hpp"

namespace middlemark::udp::fragments_test {
namespace {

constexpr std::uint32_t flow = 7;
constexpr Layout layout = Layout::of(100'000, 40'000);
static_assert(layout.fragments == 3);

/// Sends the fragments that a test selects. All of them fit into the socket's buffer. Each byte of message n is n.
class Fragments : public testing::Test {
 protected:
  Fragments() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) != 0) kit::fail("socketpair()");
    to_ = kit::Descriptor(ends[0]);
    from_ = kit::Descriptor(ends[1]);
  }

  void send(std::uint64_t number, const std::vector<std::size_t>& fragments) {
    std::vector<std::byte> message(layout.message_bytes, std::byte(number));
    Datagrams datagrams(layout, message.data(), flow);
    datagrams.number(static_cast<std::uint32_t>(number));
    for (const std::size_t i : fragments) ASSERT_GT(sendmsg(to_.get(), &datagrams[i].msg_hdr, MSG_DONTWAIT), 0);
  }

  /// Returns the numbers of the complete messages; 0 for a message that contains bytes of several messages.
  std::vector<unsigned> received() {
    std::vector<unsigned> numbers;
    while (reassembly_.receive(from_.get(), MSG_DONTWAIT) >= 0) {
      if (!reassembly_.complete()) continue;
      const auto message = reassembly_.message();
      const bool one = std::ranges::count(message, message.front()) == std::ssize(message);
      numbers.push_back(one ? std::to_integer<unsigned>(message.front()) : 0);
      reassembly_.begin_next();
    }
    return numbers;
  }

 private:
  kit::Descriptor to_;
  kit::Descriptor from_;
  Reassembly reassembly_{layout, flow};
};

using Numbers = std::vector<unsigned>;

TEST_F(Fragments, become_the_messages_they_were_cut_from) {
  for (const unsigned number : {1U, 2U}) {
    send(number, {0, 1, 2});
    EXPECT_EQ(received(), Numbers{number});
  }
}

TEST_F(Fragments, of_two_messages_are_never_combined) {
  send(1, {0, 1});
  send(2, {2});  // the next index, but of another message
  EXPECT_EQ(received(), Numbers{});
  send(3, {0});
  send(4, {1, 2});
  EXPECT_EQ(received(), Numbers{});
}

TEST_F(Fragments, without_the_rest_do_not_spoil_the_next_message) {
  send(1, {0, 2});
  send(2, {1});
  EXPECT_EQ(received(), Numbers{});
  send(3, {0, 1, 2});
  EXPECT_EQ(received(), Numbers{3});
}

}  // namespace
}  // namespace middlemark::udp::fragments_test
