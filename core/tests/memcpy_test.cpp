// Tests the raw transport memcpy: it makes both copies and returns each message once.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "memcpy/adapter.hpp"

namespace middlemark::memcpy_test {
namespace {

struct Seen {
  std::vector<std::vector<std::byte>> messages;
  std::vector<const std::byte*> places;
  void operator()(std::span<const std::byte> message) noexcept {
    messages.emplace_back(message.begin(), message.end());
    places.push_back(message.data());
  }
};

class Copying : public testing::TestWithParam<std::size_t> {
 protected:
  Settings settings() const {
    Settings asked;
    asked.message_bytes = GetParam();
    asked.subscribers = 0;
    return asked;
  }
  Topic topic() const { return {"any", GetParam(), 1, 1}; }
  static std::vector<std::byte> text(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 31 + seed) & 0xFF);
    return made;
  }
};

TEST_P(Copying, returns_each_message_once_and_in_separate_memory) {
  Memcpy adapter(settings());
  auto in = adapter.subscriber(topic(), 0);
  auto out = adapter.publisher(topic(), 0);
  Seen seen;
  EXPECT_EQ(in.take(seen), 0U);
  EXPECT_FALSE(in.wait(std::chrono::nanoseconds(1)));
  for (unsigned round = 0; round < 3; ++round) {
    const std::vector<std::byte> sent = text(GetParam(), round);
    const std::span<std::byte> lent = out.loan(GetParam());
    ASSERT_EQ(lent.size(), GetParam());
    std::copy(sent.begin(), sent.end(), lent.begin());
    ASSERT_EQ(out.publish(), Published::ok);
    EXPECT_TRUE(in.wait(std::chrono::nanoseconds(1)));
    std::fill(lent.begin(), lent.end(), std::byte{0});  // must not change the published message
    ASSERT_EQ(in.take(seen), 1U);
    EXPECT_EQ(seen.messages.back(), sent);
    EXPECT_NE(seen.places.back(), lent.data());
    EXPECT_EQ(in.take(seen), 0U);
  }
}

TEST_P(Copying, matches_no_peer) {
  Memcpy adapter(settings());
  EXPECT_EQ(adapter.publisher(topic(), 0).matched(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Memcpy, Copying, testing::Values(16, 17, 4096, 70'001, 1U << 20));

TEST(Memcpy, describes_itself_as_a_raw_transport_without_a_peer) {
  const Description about = Memcpy::describe();
  ASSERT_EQ(about.transports.size(), 1U);
  EXPECT_TRUE(about.is_raw_transport);
  EXPECT_TRUE(about.transports.front().alone);
  EXPECT_EQ(about.transports.front().processes, std::vector<int>{1});
}

}  // namespace
}  // namespace middlemark::memcpy_test
