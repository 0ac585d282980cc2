#include <middlemark/roles/replies.hpp>

#include <chrono>
#include <cstddef>
#include <thread>

#include <gtest/gtest.h>

#include "support/trial.hpp"

namespace middlemark::replies_test {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::calibrated_clock;

constexpr std::size_t size = 64;

Header request(std::uint64_t sequence) { return Header::make(0, false, sequence, 1000 + sequence); }
Header warm_up(std::uint64_t sequence) { return Header::make(0, true, sequence, 1000 + sequence); }

Bytes reply_to(const Header& header, unsigned publisher_id = 0, std::size_t bytes = size) {
  Bytes message(bytes);
  write_header(message, header.from(publisher_id));
  fill_payload(message, header);
  return message;
}

Replies one_source(bool check = true) { return {calibrated_clock(), 1, size, check}; }

TEST(Replies, nothing_is_complete_before_the_first_message) {
  Replies replies = one_source();
  EXPECT_FALSE(replies.completed());
  replies(reply_to(request(1)));
  EXPECT_FALSE(replies.completed());
}

TEST(Replies, the_awaited_reply_completes_the_exchange_and_is_stamped_at_its_arrival) {
  Replies replies = one_source();
  replies.await(request(1));
  EXPECT_FALSE(replies.completed());
  const std::uint64_t before = calibrated_clock().ticks();
  replies(reply_to(request(1)));
  const std::uint64_t after = calibrated_clock().ticks();
  ASSERT_TRUE(replies.completed());
  EXPECT_TRUE(replies.intact());
  EXPECT_EQ(replies.first_ticks(), replies.last_ticks());
  EXPECT_LE(before, replies.last_ticks());
  EXPECT_LE(replies.last_ticks() + replies.check_ticks(), after);
  EXPECT_EQ(replies.received(), 1U);
}

TEST(Replies, the_next_exchange_waits_for_its_own_reply) {
  Replies replies = one_source();
  replies.await(request(1));
  replies(reply_to(request(1)));
  replies.await(request(2));
  EXPECT_FALSE(replies.completed());
  replies(reply_to(request(1)));
  EXPECT_FALSE(replies.completed());
  EXPECT_EQ(replies.duplicated(), 1U);
  replies(reply_to(request(2)));
  EXPECT_TRUE(replies.completed());
  EXPECT_EQ(replies.received(), 2U);
}

TEST(Replies, a_measured_message_is_not_answered_by_the_warm_up_of_the_same_sequence) {
  Replies replies = one_source();
  replies.await(warm_up(1));
  replies.await(request(1));
  replies(reply_to(warm_up(1)));
  EXPECT_FALSE(replies.completed());
  EXPECT_EQ(replies.received() + replies.late() + replies.damaged(), 0U)
      << "a late reply to a warm-up message was counted";
  replies(reply_to(request(1)));
  EXPECT_TRUE(replies.completed());
}

TEST(Replies, a_warm_up_message_completes_and_is_never_counted) {
  Replies replies = one_source();
  replies.await(warm_up(1));
  replies(reply_to(warm_up(1)));
  EXPECT_TRUE(replies.completed());
  replies(reply_to(warm_up(1)));
  EXPECT_EQ(replies.received() + replies.duplicated() + replies.late() + replies.damaged(), 0U);
}

TEST(Replies, damage_to_a_warm_up_message_is_never_counted) {
  Replies replies = one_source();
  replies.await(warm_up(1));
  Bytes damaged = reply_to(warm_up(1));
  damaged.back() ^= std::byte{1};
  replies(damaged);
  EXPECT_TRUE(replies.completed());
  EXPECT_FALSE(replies.intact());
  replies(reply_to(warm_up(1), 0, size - 1));
  replies(reply_to(warm_up(1), 7));
  EXPECT_EQ(replies.damaged(), 0U);
}

TEST(Replies, a_damaged_byte_is_found_and_counted_once) {
  Replies replies = one_source();
  replies.await(request(1));
  Bytes damaged = reply_to(request(1));
  damaged[size / 2] ^= std::byte{0x80};
  replies(damaged);
  EXPECT_TRUE(replies.completed());
  EXPECT_FALSE(replies.intact());
  EXPECT_EQ(replies.damaged(), 1U);
}

TEST(Replies, a_changed_intended_time_is_damage) {
  Replies replies = one_source();
  replies.await(request(1));
  Bytes damaged = reply_to(request(1));
  write_header(damaged, {request(1).stamp, request(1).intended_ticks + 1});
  replies(damaged);
  EXPECT_FALSE(replies.intact());
  EXPECT_EQ(replies.damaged(), 1U);
}

TEST(Replies, without_checking_the_content_is_not_read) {
  Replies replies = one_source(false);
  EXPECT_FALSE(replies.checks());
  replies.await(request(1));
  Bytes message(size);
  write_header(message, request(1));
  replies(message);
  EXPECT_TRUE(replies.completed());
  EXPECT_TRUE(replies.intact());
  EXPECT_EQ(replies.damaged(), 0U);
}

TEST(Replies, a_reply_of_another_size_is_damage_and_completes_nothing) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16}, size - 1, size + 1}) {
    Replies replies = one_source();
    replies.await(request(1));
    Bytes message = reply_to(request(1), 0, std::max(bytes, header_bytes));
    message.resize(bytes);
    replies(message);
    EXPECT_FALSE(replies.completed()) << bytes;
    EXPECT_EQ(replies.damaged(), 1U) << bytes;
    EXPECT_EQ(replies.received(), 0U) << bytes;
  }
}

TEST(Replies, a_sequence_never_sent_is_damage_and_does_not_affect_later_counts) {
  Replies replies = one_source();
  replies.await(request(1));
  replies(reply_to(request(Header::sequence_mask)));
  replies(reply_to(request(2)));
  replies(reply_to(request(0)));
  EXPECT_FALSE(replies.completed());
  EXPECT_EQ(replies.damaged(), 3U);
  EXPECT_EQ(replies.received(), 0U);
  replies(reply_to(request(1)));
  EXPECT_TRUE(replies.completed());
  EXPECT_EQ(replies.received(), 1U);
  EXPECT_EQ(replies.reordered(), 0U);
}

TEST(Replies, a_source_that_does_not_exist_is_damage) {
  Replies replies(calibrated_clock(), 2, size, true);
  replies.await(request(1));
  replies(reply_to(request(1), 2));
  replies(reply_to(request(1), 0xFFFF));
  EXPECT_EQ(replies.damaged(), 2U);
  EXPECT_FALSE(replies.completed());
}

TEST(Replies, after_giving_up_a_reply_is_late) {
  Replies replies = one_source();
  replies.await(request(1));
  replies.give_up();
  replies(reply_to(request(1)));
  EXPECT_FALSE(replies.completed());
  EXPECT_EQ(replies.late(), 1U);
  EXPECT_EQ(replies.received(), 1U) << "a late reply is received, not lost";
  replies(reply_to(request(1)));
  EXPECT_EQ(replies.late(), 1U) << "the second copy is a duplicate";
  EXPECT_EQ(replies.duplicated(), 1U);
}

TEST(Replies, a_late_reply_is_also_checked) {
  Replies replies = one_source();
  replies.await(request(1));
  replies.give_up();
  Bytes damaged = reply_to(request(1));
  damaged.back() ^= std::byte{1};
  replies(damaged);
  EXPECT_EQ(replies.late(), 1U);
  EXPECT_EQ(replies.damaged(), 1U);
}

TEST(Replies, a_late_reply_that_arrives_after_the_next_reply_is_reordered) {
  Replies replies = one_source();
  replies.await(request(1));
  replies.give_up();
  replies.await(request(2));
  replies(reply_to(request(2)));
  replies(reply_to(request(1)));
  EXPECT_EQ(replies.late(), 1U);
  EXPECT_EQ(replies.reordered(), 1U);
  EXPECT_EQ(replies.received(), 2U);
}

TEST(Replies, with_several_publishers_the_last_reply_ends_the_exchange_and_the_first_is_stamped) {
  Replies replies(calibrated_clock(), 3, size, true);
  replies.await(request(1));
  replies(reply_to(request(1), 2));
  std::this_thread::sleep_for(2ms);
  replies(reply_to(request(1), 0));
  EXPECT_FALSE(replies.completed());
  std::this_thread::sleep_for(2ms);
  replies(reply_to(request(1), 1));
  ASSERT_TRUE(replies.completed());
  EXPECT_GE(calibrated_clock().to_ns(replies.last_ticks() - replies.first_ticks()), 3'900'000U);
  EXPECT_EQ(replies.received(), 3U);
}

TEST(Replies, one_publishers_duplicate_does_not_count_for_another_publisher) {
  Replies replies(calibrated_clock(), 2, size, true);
  replies.await(request(1));
  replies(reply_to(request(1), 0));
  replies(reply_to(request(1), 0));
  EXPECT_FALSE(replies.completed());
  EXPECT_EQ(replies.duplicated(), 1U);
  replies(reply_to(request(1), 1));
  EXPECT_TRUE(replies.completed());
}

TEST(Replies, the_first_reply_belongs_to_its_own_exchange) {
  Replies replies(calibrated_clock(), 2, size, true);
  replies.await(request(1));
  replies(reply_to(request(1), 0));  // the second pong does not answer
  replies.give_up();
  replies.await(request(2));
  const std::uint64_t begin = calibrated_clock().ticks();
  replies(reply_to(request(2), 1));
  EXPECT_FALSE(replies.completed()) << "a reply to the first message was counted for the second";
  replies(reply_to(request(2), 0));
  ASSERT_TRUE(replies.completed());
  EXPECT_GE(replies.first_ticks(), begin);
}

TEST(Replies, with_several_publishers_the_last_reply_is_checked) {
  Replies replies(calibrated_clock(), 2, size, true);
  replies.await(request(1));
  replies(reply_to(request(1), 0));
  Bytes damaged = reply_to(request(1), 1);
  damaged.back() ^= std::byte{1};
  replies(damaged);
  EXPECT_TRUE(replies.completed());
  EXPECT_FALSE(replies.intact());
  EXPECT_EQ(replies.damaged(), 1U);
}

TEST(Replies, a_sleeper_is_woken_by_the_reply) {
  Replies replies = one_source();
  replies.await(request(1));
  std::thread receiver([&replies] {
    std::this_thread::sleep_for(10ms);
    replies(reply_to(request(1)));
  });
  while (!replies.completed()) replies.sleep(1h);
  EXPECT_TRUE(replies.intact());
  receiver.join();
}

TEST(Replies, a_sleeper_without_a_reply_wakes_after_its_timeout) {
  Replies replies = one_source();
  replies.await(request(1));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 10ms) replies.sleep(10ms);
  EXPECT_FALSE(replies.completed());
}

TEST(Replies, a_reply_before_the_sleep_prevents_it) {
  Replies replies = one_source();
  replies.await(request(1));
  replies(reply_to(request(1)));
  replies.sleep(1h);
  EXPECT_TRUE(replies.completed());
}

// The receiving thread checks a large message while the ping gives up on it. The thread then completes this exchange,
// and the next exchange must not count as answered.
TEST(Replies, a_reply_still_being_checked_when_the_ping_gives_up_does_not_complete_the_next_exchange) {
  constexpr std::size_t large = std::size_t{48} << 20;
  const Bytes first = reply_to(request(1), 0, large);
  for (int attempt = 0; attempt < 4; ++attempt) {
    Replies replies(calibrated_clock(), 1, large, true);
    replies.await(request(1));
    std::thread receiver([&] { replies(first); });
    std::this_thread::sleep_for(std::chrono::microseconds(500 << attempt));
    replies.give_up();
    replies.await(request(2));
    receiver.join();
    ASSERT_FALSE(replies.completed()) << "the first reply ended the second exchange, attempt " << attempt;
    replies.sleep(1ms);
    ASSERT_FALSE(replies.completed());
  }
}

}  // namespace
}  // namespace middlemark::replies_test
