// Tests the answers and counts of a pong. It runs on this thread: all messages are queued, and the last one stops it.
#include <middlemark/roles/pong.hpp>

#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/trial.hpp"

namespace middlemark::pong_test {
namespace {

using test::Bytes;
using test::calibrated_clock;
using test::Scripted;
using test::trial_settings;
using Sent = Scripted::Sent;

constexpr std::size_t size = 64;

Bytes message(std::uint64_t sequence, bool warm_up = false) {
  const Header header = Header::make(0, warm_up, sequence, 5000 + sequence);
  Bytes bytes(size);
  write_header(bytes, header);
  fill_payload(bytes, header);
  return bytes;
}

std::vector<Bytes> messages(std::initializer_list<std::uint64_t> sequences) {
  std::vector<Bytes> list;
  for (const std::uint64_t sequence : sequences) list.push_back(message(sequence));
  return list;
}

struct PongEnd {
  PongResult result;
  std::vector<Bytes> replies;
};

/// Serves `requests` in polling mode. A final warm-up message, which is not counted, stops the pong.
PongEnd serve(Scripted& adapter, const Settings& settings, const PongRequest& request,
              const std::vector<Bytes>& requests) {
  constexpr std::uint64_t final_warm_up = 999'999;
  PongEnd end;
  Progress progress;
  const auto inner = adapter.on_pong;
  adapter.on_pong = [&](const Sent& sent) {
    if (sent.header().warm_up() && sent.header().sequence() == final_warm_up) {
      progress.stop.request();
      return Published::ok;
    }
    end.replies.push_back(sent.message);
    return inner(sent);
  };
  Pong<Scripted> pong(adapter, settings, request, calibrated_clock(), progress);
  for (const Bytes& bytes : requests) adapter.deliver(settings.scope + "_ping", bytes);
  adapter.deliver(settings.scope + "_ping", message(final_warm_up, true));
  if (request.echoes) {
    pong.run();
  } else {  // the last message gets no reply: wait until the queue must be empty, then stop
    std::jthread role([&pong] { pong.run(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    progress.stop.request();
  }
  end.result = pong.result();
  return end;
}

PongEnd serve(const std::vector<Bytes>& requests, const PongRequest& request = {}, unsigned subscribers = 1) {
  Settings settings = trial_settings(Reception::poll, size);
  settings.subscribers = subscribers;
  Scripted adapter(settings);
  return serve(adapter, settings, request, requests);
}

TEST(Pong, answers_every_message_with_a_copy) {
  const PongEnd end = serve(messages({1, 2, 3}));
  ASSERT_EQ(end.replies.size(), 3U);
  for (std::uint64_t n = 1; n <= 3; ++n) EXPECT_EQ(end.replies[n - 1], message(n));
  EXPECT_EQ(end.result.ended, Ended::stopped);
  EXPECT_EQ(end.result.received, 3U);
  EXPECT_EQ(end.result.echoed, 3U);
  EXPECT_EQ(end.result.lost + end.result.duplicated + end.result.reordered + end.result.damaged, 0U);
}

TEST(Pong, signs_its_replies_with_its_own_index) {
  PongRequest request;
  request.index = 3;
  const PongEnd end = serve(messages({1}), request, 4);
  ASSERT_EQ(end.replies.size(), 1U);
  EXPECT_EQ(read_header(end.replies[0]).publisher_id(), 3U);
  EXPECT_EQ(read_header(end.replies[0]).intended_ticks, 5001U);
  EXPECT_EQ(end.result.index, 3U);
}

TEST(Pong, copies_a_damaged_request_unchanged) {
  Bytes damaged = message(1);
  damaged[40] ^= std::byte{4};
  const PongEnd end = serve({damaged});
  ASSERT_EQ(end.replies.size(), 1U);
  EXPECT_EQ(end.replies[0], damaged);
  EXPECT_EQ(end.result.damaged, 0U) << "the ping's check covers both directions";
}

TEST(Pong, answers_warm_ups_without_counting_them) {
  const PongEnd end = serve({message(1, true), message(2, true), message(1), message(3, true)});
  EXPECT_EQ(end.replies.size(), 4U);
  EXPECT_TRUE(read_header(end.replies[0]).warm_up());
  EXPECT_EQ(end.result.received, 1U);
  EXPECT_EQ(end.result.echoed, 1U);
}

TEST(Pong, copies_only_the_header_of_an_untouched_payload) {
  PongRequest request;
  request.payload = Payload::untouched;
  const PongEnd end = serve(messages({1, 2}), request);
  ASSERT_EQ(end.replies.size(), 2U);
  EXPECT_EQ(read_header(end.replies[1]).sequence(), 2U);
  EXPECT_TRUE(
      std::all_of(end.replies[1].begin() + 16, end.replies[1].end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Pong, counts_requests_that_were_lost_duplicated_and_reordered) {
  const PongEnd end = serve(messages({1, 2, 5, 5, 4, 8, 1}));
  EXPECT_EQ(end.result.received, 5U);
  EXPECT_EQ(end.result.lost, 3U) << "3, 6 and 7";
  EXPECT_EQ(end.result.duplicated, 2U);
  EXPECT_EQ(end.result.reordered, 1U);
  EXPECT_EQ(end.result.echoed, 7U) << "a duplicate is answered like any message";
}

TEST(Pong, a_message_of_another_size_is_damaged_and_gets_no_answer) {
  Bytes shorter = message(2);
  shorter.pop_back();
  Bytes longer = message(3);
  longer.push_back(std::byte{0});
  const PongEnd end = serve({message(1), shorter, longer, Bytes(3), Bytes(), message(4)});
  EXPECT_EQ(end.replies.size(), 2U);
  EXPECT_EQ(end.result.damaged, 4U);
  EXPECT_EQ(end.result.received, 2U);
}

TEST(Pong, a_warm_up_message_of_another_size_is_never_counted) {
  Bytes shorter = message(2, true);
  shorter.pop_back();
  const PongEnd end = serve({shorter, message(1)});
  EXPECT_EQ(end.result.damaged, 0U);
  EXPECT_EQ(end.replies.size(), 1U);
}

TEST(Pong, an_implausible_sequence_is_damage_and_does_not_affect_later_counts) {
  const PongEnd end = serve(messages({1, 0, Header::sequence_mask, 2'000'000'000, 2}));
  EXPECT_EQ(end.result.damaged, 3U);
  EXPECT_EQ(end.result.received, 2U);
  EXPECT_EQ(end.result.lost, 0U);
  EXPECT_EQ(end.result.reordered, 0U);
}

TEST(Pong, without_echo_checks_every_byte_and_has_no_publisher) {
  Settings settings = trial_settings(Reception::poll, size);
  settings.subscribers = 2;
  Scripted adapter(settings);
  PongRequest request;
  request.index = 1;
  request.echoes = false;
  Bytes damaged = message(2);
  damaged.back() ^= std::byte{1};
  Bytes damaged_warm_up = message(9, true);
  damaged_warm_up.back() ^= std::byte{1};
  const PongEnd end = serve(adapter, settings, request, {message(1), damaged, damaged_warm_up, message(3)});
  EXPECT_EQ(end.replies.size(), 0U);
  EXPECT_EQ(end.result.received, 3U);
  EXPECT_EQ(end.result.echoed, 0U);
  EXPECT_EQ(end.result.damaged, 1U);
  Progress progress;
  Pong<Scripted> pong(adapter, settings, request, calibrated_clock(), progress);
  EXPECT_EQ(pong.expected(), 0U);
  EXPECT_EQ(pong.matched(), 0U);
}

TEST(Pong, checks_the_requests_if_there_are_several_pongs) {
  Bytes damaged = message(2);
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(serve({message(1), damaged}, {}, 2).result.damaged, 1U);
  PongRequest untouched;
  untouched.payload = Payload::untouched;
  EXPECT_EQ(serve({message(1), damaged}, untouched, 2).result.damaged, 0U);
}

TEST(Pong, a_reply_that_could_not_be_published_is_counted) {
  for (const Published outcome : {Published::failed, Published::timed_out}) {
    const Settings settings = trial_settings(Reception::poll, size);
    Scripted adapter(settings);
    adapter.on_pong = [outcome](const Sent& sent) { return sent.header().sequence() == 2 ? outcome : Published::ok; };
    const PongEnd end = serve(adapter, settings, {}, messages({1, 2, 3}));
    EXPECT_EQ(end.result.publish_failed, 1U);
    EXPECT_EQ(end.result.echoed, 2U);
    EXPECT_EQ(end.result.received, 3U);
    EXPECT_EQ(end.result.last_error, "scripted: the publisher's words");
  }
}

TEST(Pong, a_failed_loan_loses_the_reply) {
  const Settings settings = trial_settings(Reception::poll, size);
  Scripted adapter(settings);
  std::uint64_t loans = 0;
  adapter.lends = [&loans] { return ++loans != 2; };
  const PongEnd end = serve(adapter, settings, {}, messages({1, 2, 3}));
  EXPECT_EQ(end.result.publish_failed, 1U);
  EXPECT_EQ(end.result.echoed, 2U);
  EXPECT_EQ(end.replies.size(), 2U);
}

class IdlePong : public testing::TestWithParam<Reception> {};

TEST_P(IdlePong, is_in_its_loop_until_it_is_stopped) {
  const Settings settings = trial_settings(GetParam(), size);
  Scripted adapter(settings);
  Progress progress;
  Pong<Scripted> pong(adapter, settings, {}, calibrated_clock(), progress);
  EXPECT_EQ(progress.phase.load(), Phase::waiting);
  std::thread role([&pong] { pong.run(); });
  while (progress.phase.load() != Phase::echoing) std::this_thread::yield();
  progress.stop.request();
  role.join();
  EXPECT_EQ(pong.result().ended, Ended::stopped);
  EXPECT_EQ(pong.result().received, 0U);
  EXPECT_EQ(pong.result().lost, 0U);
}

INSTANTIATE_TEST_SUITE_P(Pong, IdlePong, testing::Values(Reception::poll, Reception::block, Reception::listen),
                         [](const auto& parameter) {
                           return parameter.param == Reception::poll    ? "poll"
                                  : parameter.param == Reception::block ? "block"
                                                                        : "listen";
                         });

}  // namespace
}  // namespace middlemark::pong_test
