// Tests the reception `listen`: replies that arrive on another thread, and replies that arrive within publish().
#include <middlemark/roles/ping.hpp>

#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <middlemark/roles/pong.hpp>

#include "support/trial.hpp"

namespace middlemark::listen_test {
namespace {

using test::Bytes;
using test::calibrated_clock;
using test::counting_to;
using test::PingEnd;
using test::run_ping;
using test::samples_request;
using test::Scripted;
using test::trial_settings;
using Sent = Scripted::Sent;

class ListeningPing : public testing::TestWithParam<bool> {
 protected:
  const Settings settings = trial_settings(Reception::listen);
  Scripted adapter{settings};
  void SetUp() override { adapter.listens_on_publishers_thread = GetParam(); }
};

TEST_P(ListeningPing, counts_and_keeps_all_replies) {
  adapter.on_ping = [](const Sent& sent) {
    sent.reply();
    return Published::ok;
  };
  const PingEnd end = run_ping(adapter, settings, samples_request(1000));
  EXPECT_EQ(end.result.ended, Ended::samples);
  EXPECT_EQ(end.sequences(), counting_to(1000));
  EXPECT_EQ(end.result.received, 1000U);
  EXPECT_EQ(end.result.lost + end.result.late + end.result.duplicated + end.result.reordered + end.result.damaged, 0U);
  for (const Sample& sample : end.samples) {
    ASSERT_EQ(sample.take_ns, absent_ns) << "nothing is taken under listen";
    ASSERT_NE(sample.check_ns, absent_ns);
    ASSERT_GT(sample.round_trip_ns, 0U);
  }
}

TEST_P(ListeningPing, ends_a_round_trip_with_the_reply_of_the_last_pong) {
  adapter.on_ping = [](const Sent& sent) {
    for (const unsigned source : {1U, 0U}) sent.reply(sent.answer(sent.header().from(source)));
    return Published::ok;
  };
  PingRequest request = samples_request(300);
  request.echoing = 2;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.sequences(), counting_to(300));
  EXPECT_EQ(end.result.received, 600U);
  for (const Sample& sample : end.samples) ASSERT_LE(sample.first_reply_ns, sample.round_trip_ns);
}

TEST_P(ListeningPing, counts_duplicate_damaged_and_missing_replies) {
  adapter.on_ping = [](const Sent& sent) {
    const std::uint64_t kind = sent.header().warm_up() ? 0 : sent.header().sequence() % 10;
    if (kind == 3) return Published::ok;
    if (kind == 5) {
      Bytes damaged = sent.answer(sent.header().from(0));
      damaged.back() ^= std::byte{1};
      sent.reply(damaged);
      return Published::ok;
    }
    if (kind == 7) sent.reply();
    sent.reply();
    return Published::ok;
  };
  PingRequest request = samples_request(20);
  // Long enough for replies on a busy machine, and short because two replies never arrive.
  request.reply_timeout_s = 0.5;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.sequences(), counting_to(20, {3, 5, 13, 15}));
  EXPECT_EQ(end.result.lost, 2U);
  EXPECT_EQ(end.result.damaged, 2U);
  EXPECT_EQ(end.result.duplicated, 2U);
  EXPECT_EQ(end.result.received, 18U);
}

TEST_P(ListeningPing, works_with_a_pong_that_also_listens) {
  Progress pong_progress;
  PingEnd end;
  {
    Pong<Scripted> pong(adapter, settings, {}, calibrated_clock(), pong_progress);
    std::jthread role([&pong] { pong.run(); });
    while (pong_progress.phase.load() != Phase::echoing) std::this_thread::yield();
    end = run_ping(adapter, settings, samples_request(300));
    pong_progress.stop.request();
    role.join();
    EXPECT_EQ(pong.result().received, 300U);
    EXPECT_EQ(pong.result().echoed, 300U);
  }
  EXPECT_EQ(end.sequences(), counting_to(300));
  EXPECT_EQ(end.result.received, 300U);
}

TEST(Listen, a_reply_after_its_timeout_and_before_the_next_message_is_late) {
  const Settings settings = trial_settings(Reception::listen);
  Scripted adapter(settings);
  adapter.listens_on_publishers_thread = true;
  Bytes held;
  adapter.on_ping = [&held](const Sent& sent) {
    if (!sent.header().warm_up() && sent.header().sequence() == 3) {
      held = sent.answer(sent.header().from(0));
    } else {
      sent.reply();
    }
    return Published::ok;
  };
  adapter.lends = [&] {  // called for the fourth message's memory, after the ping gave up on the third
    if (!held.empty()) adapter.deliver(settings.scope + "_pong", std::exchange(held, {}));
    return true;
  };
  PingRequest request = samples_request(10);
  request.reply_timeout_s = 0.05;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.sequences(), counting_to(10, {3}));
  EXPECT_EQ(end.result.late, 1U);
  EXPECT_EQ(end.result.received, 10U);
  EXPECT_EQ(end.result.lost, 0U);
}

INSTANTIATE_TEST_SUITE_P(Listen, ListeningPing, testing::Values(false, true), [](const auto& parameter) {
  return parameter.param ? "from_within_publish" : "from_another_thread";
});

}  // namespace
}  // namespace middlemark::listen_test
