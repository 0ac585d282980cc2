// Tests which messages a pong stamps, and the times in its stamps.
#include <middlemark/roles/answers.hpp>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/realtime.hpp>
#include <middlemark/roles/pong.hpp>

#include "support/trial.hpp"

namespace middlemark::answers_test {
namespace {

using test::Bytes;
using test::calibrated_clock;
using test::Scripted;
using test::trial_settings;

constexpr std::size_t room = AnswerStamps::most_kept;

TEST(AnswerStride, is_one_while_the_stamps_cost_less_than_a_four_hundredth_of_the_time) {
  EXPECT_EQ(answer_stride(24, 10'000, {}, room), 1U);
  EXPECT_EQ(answer_stride(26, 10'000, {}, room), 3U);
}

TEST(AnswerStride, keeps_the_cost_below_a_four_hundredth_of_the_time_up_to_the_longest_stride) {
  EXPECT_EQ(answer_stride(60, 600, {}, room), 61U);
  EXPECT_EQ(answer_stride(600, 600, {}, room), answer_strides.back());
}

TEST(AnswerStride, is_one_before_any_time_is_known) { EXPECT_EQ(answer_stride(1e9, 0, {}, room), 1U); }

TEST(AnswerStride, grows_when_the_expected_messages_would_not_fit) {
  const AnswersDue messages{1'000'000, std::nullopt};
  EXPECT_EQ(answer_stride(1, 10'000, messages, 1000), 1101U);
  const AnswersDue time{std::nullopt, 10.0};  // 10 s with a message every 10 µs: also a million messages
  EXPECT_EQ(answer_stride(1, 10'000, time, 1000), 1101U);
  EXPECT_EQ(answer_stride(1, 10'000, time, 10'000'000), 1U);
}

TEST(TypicalTime, follows_typical_values_and_ignores_stalls) {
  TypicalTime typical;
  EXPECT_EQ(typical.ns(), 0);
  typical.add(5'000'000);  // begin with a stall
  for (unsigned n = 0; n < 1000; ++n) typical.add(n % 4 == 0 ? 5'000'000 : 160);
  EXPECT_GT(typical.ns(), 100);
  EXPECT_LT(typical.ns(), 260);
  for (unsigned n = 0; n < 100; ++n) typical.add(40'000);
  EXPECT_GT(typical.ns(), 30'000);
  EXPECT_LT(typical.ns(), 50'000);
}

Bytes message(std::uint64_t sequence, bool warm_up = false) {
  Bytes bytes(64);
  write_header(bytes, Header::make(0, warm_up, sequence, 5000 + sequence));
  return bytes;
}

struct Stamped {
  std::vector<Answer> answers;
  PongResult result;

  [[nodiscard]] std::vector<std::uint64_t> sequences() const {
    std::vector<std::uint64_t> found;
    for (const Answer& answer : answers) found.push_back(answer.stamp & Header::sequence_mask);
    return found;
  }
};

void spin(std::uint64_t us) {
  const std::uint64_t end = monotonic_ns() + us * 1000;
  while (monotonic_ns() < end) {
  }
}

PongRequest stamping() {
  PongRequest request;
  request.payload = Payload::untouched;
  request.samples_path = "/nowhere/pong.npy";  // this test writes no file
  return request;
}

/// Serves `requests` on this thread. A final warm-up message, which is not counted, stops the pong.
Stamped serve(Scripted& adapter, const Settings& settings, const PongRequest& request,
              const std::vector<Bytes>& requests) {
  Progress progress;
  const auto inner = adapter.on_pong;
  adapter.on_pong = [&](const Scripted::Sent& sent) {
    if (sent.header().sequence() == 999'999) {
      progress.stop.request();
      return Published::ok;
    }
    return inner(sent);
  };
  Pong<Scripted> pong(adapter, settings, request, calibrated_clock(), progress);
  for (const Bytes& bytes : requests) adapter.deliver(settings.scope + "_ping", bytes);
  adapter.deliver(settings.scope + "_ping", message(999'999, true));
  pong.run();
  const auto kept = pong.recorder().samples();
  return {{kept.begin(), kept.end()}, pong.result()};
}

TEST(AnswerStamps, separate_the_copying_from_the_publishing_of_a_reply) {
  const Settings settings = trial_settings(Reception::poll);
  for (const bool in_publish : {true, false}) {
    Scripted adapter(settings);
    if (in_publish) {
      adapter.on_pong = [](const Scripted::Sent&) { return spin(3000), Published::ok; };
    } else {
      adapter.lends = [] { return spin(3000), true; };
    }
    const Stamped stamped = serve(adapter, settings, stamping(), {message(1), message(2), message(3)});
    EXPECT_EQ(stamped.sequences(), (std::vector<std::uint64_t>{1, 2, 3})) << "slow messages are all stamped";
    EXPECT_EQ(stamped.result.stamped, 3U);
    for (const Answer& answer : stamped.answers) {
      EXPECT_GE(in_publish ? answer.write_ns : answer.copy_ns, 3'000'000U);
      EXPECT_LT(in_publish ? answer.copy_ns : answer.write_ns, 3'000'000U);
      EXPECT_EQ(answer.arrived_ns, absent_ns) << "no kernel received the message";
    }
    EXPECT_GE(calibrated_clock().to_ns(stamped.answers[1].received_ticks - stamped.answers[0].received_ticks),
              3'000'000U);
  }
}

TEST(AnswerStamps, have_a_take_time_for_the_first_message_of_a_take_only) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_pong = [](const Scripted::Sent&) { return spin(1000), Published::ok; };
  const Stamped stamped = serve(adapter, settings, stamping(), {message(1), message(2)});
  ASSERT_EQ(stamped.answers.size(), 2U);
  EXPECT_NE(stamped.answers[0].take_ns, absent_ns);
  EXPECT_EQ(stamped.answers[1].take_ns, absent_ns);
}

TEST(AnswerStamps, are_not_kept_for_warm_ups_and_unanswered_messages) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_pong = [](const Scripted::Sent& sent) {
    spin(1000);
    return sent.header().sequence() == 2 ? Published::failed : Published::ok;
  };
  Bytes shorter = message(4);
  shorter.pop_back();
  const Stamped stamped =
      serve(adapter, settings, stamping(), {message(1, true), message(1), message(2), message(3), shorter, message(5)});
  EXPECT_EQ(stamped.sequences(), (std::vector<std::uint64_t>{1, 3, 5}));
  for (const Answer& answer : stamped.answers) EXPECT_EQ(answer.take_ns, absent_ns) << "all messages came in one take";
}

TEST(AnswerStamps, are_not_taken_unless_requested) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  PongRequest request = stamping();
  request.samples_path.clear();
  const Stamped stamped = serve(adapter, settings, request, {message(1), message(2)});
  EXPECT_TRUE(stamped.answers.empty());
  EXPECT_EQ(stamped.result.stamped, 0U);
  EXPECT_EQ(stamped.result.echoed, 2U);
}

TEST(AnswerStamps, become_sparse_when_the_expected_messages_would_not_fit) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_pong = [](const Scripted::Sent&) { return spin(500), Published::ok; };
  PongRequest request = stamping();
  // There are 3.5 messages per record, or 3.85 with the reserve of 10 %. Rounded down, this is the odd stride 3.
  request.samples = 7 * room / 2;
  std::vector<Bytes> requests;
  for (std::uint64_t n = 1; n <= 20; ++n) requests.push_back(message(n));
  const Stamped stamped = serve(adapter, settings, request, requests);
  EXPECT_EQ(stamped.sequences(), (std::vector<std::uint64_t>{1, 2, 5, 8, 11, 14, 17, 20}))
      << "message 2 is stamped because no time is known after message 1";
}

TEST(AnswerStamps, have_no_take_time_under_listen) {
  const Settings settings = trial_settings(Reception::listen);
  Scripted adapter(settings);
  Progress progress;
  Pong<Scripted> pong(adapter, settings, stamping(), calibrated_clock(), progress);
  std::jthread role([&pong] { pong.run(); });
  adapter.deliver(settings.scope + "_ping", message(1));
  while (progress.received.load() == 0) std::this_thread::yield();
  progress.stop.request();
  role.join();
  ASSERT_EQ(pong.recorder().size(), 1U);
  EXPECT_EQ(pong.recorder().samples()[0].take_ns, absent_ns);
}

TEST(SinceRealtime, is_the_time_between_a_realtime_instant_and_a_clock_reading) {
  const Clock& clock = calibrated_clock();
  const std::uint64_t instant = realtime_ns();
  spin(2000);
  const std::uint64_t at = clock.ticks();
  const std::uint32_t since = since_realtime_ns(clock, instant, at);
  EXPECT_GE(since, 1'990'000U);
  EXPECT_LT(since, 1'000'000'000U);
}

TEST(SinceRealtime, is_absent_without_an_instant_and_for_a_later_instant) {
  const Clock& clock = calibrated_clock();
  const std::uint64_t at = clock.ticks();
  EXPECT_EQ(since_realtime_ns(clock, 0, at), absent_ns);
  spin(1000);
  EXPECT_EQ(since_realtime_ns(clock, realtime_ns(), at), absent_ns);
  EXPECT_EQ(since_realtime_ns(clock, realtime_ns() + 10'000'000'000U, at), absent_ns);
}

}  // namespace
}  // namespace middlemark::answers_test
