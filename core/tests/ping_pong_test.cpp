// Tests ping and pong in one process, each on its own thread, over shared memory and over the null adapter's queue.
#include <middlemark/roles/ping.hpp>

#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/roles/pong.hpp>

#include "null/adapter.hpp"
#include "shm/adapter.hpp"
#include "support/trial.hpp"

namespace middlemark::ping_pong_test {
namespace {

using test::calibrated_clock;
using test::counting_to;
using test::samples_request;
using test::trial_settings;

struct TrialEnd {
  PingResult ping;
  std::vector<Sample> samples;
  std::vector<PongResult> pongs;
};

std::vector<std::uint64_t> sequences(const TrialEnd& end) {
  std::vector<std::uint64_t> found;
  for (const Sample& sample : end.samples) found.push_back(sample.sequence);
  return found;
}

/// Runs all roles of a trial in this process: opens, matches, starts, stops and closes them.
template <Adapter A>
TrialEnd run_trial(const Settings& settings, const PingRequest& request) {
  A adapter(settings);
  std::vector<std::unique_ptr<Progress>> progress;
  std::vector<std::unique_ptr<Pong<A>>> pongs;
  for (unsigned index = 0; index < settings.subscribers; ++index) {
    PongRequest pong;
    pong.index = index;
    pong.echoes = index < request.echoing;
    pong.echoing = request.echoing;
    pong.payload = request.payload;
    progress.push_back(std::make_unique<Progress>());
    pongs.push_back(std::make_unique<Pong<A>>(adapter, settings, pong, calibrated_clock(), *progress.back()));
  }
  Progress ping_progress;
  Ping<A> ping(adapter, settings, request, calibrated_clock(), ping_progress);
  EXPECT_EQ(ping.matched(), ping.expected());
  for (const auto& pong : pongs) EXPECT_EQ(pong->matched(), pong->expected());
  std::vector<std::jthread> threads;
  for (const auto& pong : pongs) threads.emplace_back([&pong] { pong->run(); });
  ping.run();
  for (const auto& each : progress) each->stop.request();
  threads.clear();
  TrialEnd end{ping.result(), {ping.recorder().samples().begin(), ping.recorder().samples().end()}, {}};
  for (const auto& pong : pongs) end.pongs.push_back(pong->result());
  return end;
}

void expect_clean(const TrialEnd& end, std::uint64_t samples, std::uint64_t echoing = 1) {
  EXPECT_EQ(end.ping.ended, Ended::samples);
  EXPECT_EQ(end.ping.sent, samples);
  EXPECT_EQ(end.ping.samples, samples);
  EXPECT_EQ(end.ping.received, samples * echoing);
  EXPECT_EQ(end.ping.lost + end.ping.late + end.ping.duplicated + end.ping.reordered + end.ping.damaged +
                end.ping.publish_failed,
            0U);
  EXPECT_EQ(sequences(end), counting_to(samples));
  for (const PongResult& pong : end.pongs) {
    EXPECT_EQ(pong.received, samples) << "pong " << pong.index;
    EXPECT_EQ(pong.echoed, pong.index < echoing ? samples : 0) << "pong " << pong.index;
    EXPECT_EQ(pong.lost + pong.duplicated + pong.reordered + pong.damaged + pong.publish_failed, 0U)
        << "pong " << pong.index;
  }
}

using Shape = std::tuple<Reception, bool, Payload, std::size_t>;

class OverSharedMemory : public testing::TestWithParam<Shape> {};

TEST_P(OverSharedMemory, every_message_returns_intact_and_once) {
  const auto [reception, loan, payload, bytes] = GetParam();
  Settings settings = trial_settings(reception, bytes);
  settings.loan = loan;
  PingRequest request = samples_request(bytes > 4096 ? 50 : 200);
  request.payload = payload;
  const TrialEnd end = run_trial<SharedMemory>(settings, request);
  expect_clean(end, *request.samples);
  for (const Sample& sample : end.samples) {
    ASSERT_LE(sample.write_ns, absent_ns - 1);
    ASSERT_LE(sample.take_ns, absent_ns - 1);
    ASSERT_GT(sample.round_trip_ns, 0U);
    ASSERT_LT(sample.round_trip_ns, 21'000'000'000U) << "a stamp went backwards";
  }
}

INSTANTIATE_TEST_SUITE_P(Shm, OverSharedMemory,
                         testing::Combine(testing::Values(Reception::poll, Reception::block), testing::Bool(),
                                          testing::Values(Payload::filled, Payload::untouched),
                                          testing::Values<std::size_t>(16, 17, 1000, 65'537)),
                         [](const auto& parameter) {
                           return std::string(std::get<0>(parameter.param) == Reception::poll ? "poll" : "block") +
                                  (std::get<1>(parameter.param) ? "_handed_over" : "_copied") +
                                  (std::get<2>(parameter.param) == Payload::filled ? "_filled_" : "_untouched_") +
                                  std::to_string(std::get<3>(parameter.param));
                         });

TEST(Shm, two_pongs_echo_and_the_last_reply_ends_each_round_trip) {
  Settings settings = trial_settings(Reception::block, 128);
  settings.subscribers = 2;
  PingRequest request = samples_request(300);
  request.echoing = 2;
  const TrialEnd end = run_trial<SharedMemory>(settings, request);
  expect_clean(end, 300, 2);
  for (const Sample& sample : end.samples) {
    ASSERT_EQ(sample.replies, 2U);
    ASSERT_LE(sample.first_reply_ns, sample.round_trip_ns);
  }
}

TEST(Shm, with_three_pongs_all_receive_and_only_the_first_echoes) {
  Settings settings = trial_settings(Reception::block, 128);
  settings.subscribers = 3;
  PingRequest request = samples_request(300);
  request.echoing = 1;
  const TrialEnd end = run_trial<SharedMemory>(settings, request);
  EXPECT_EQ(end.ping.samples, 300U);
  EXPECT_EQ(end.ping.received, 300U);
  ASSERT_EQ(end.pongs.size(), 3U);
  EXPECT_EQ(end.pongs[0].echoed, 300U);
  EXPECT_EQ(end.pongs[1].echoed + end.pongs[2].echoed, 0U);
  // The ping does not wait for pongs that do not echo, so their last messages may still be on their way at the end.
  for (const PongResult& pong : end.pongs) {
    EXPECT_EQ(pong.lost + pong.duplicated + pong.reordered + pong.damaged, 0U);
    EXPECT_LE(pong.received, 300U);
    EXPECT_GE(pong.received, 290U);
  }
}

TEST(Shm, a_warm_up_message_is_answered_and_never_counted) {
  PingRequest request = samples_request(100);
  request.warmup_s = 0.05;
  const TrialEnd end = run_trial<SharedMemory>(trial_settings(Reception::block), request);
  expect_clean(end, 100);
  EXPECT_GT(end.ping.warmup_samples, 0U);
}

TEST(Shm, round_trips_never_overlap) {
  const TrialEnd end = run_trial<SharedMemory>(trial_settings(Reception::poll), samples_request(500));
  std::uint64_t previous_end = 0;
  for (const Sample& sample : end.samples) {
    ASSERT_GE(sample.begin_ns + 1, previous_end) << sample.sequence;
    previous_end = sample.begin_ns + sample.round_trip_ns;
  }
}

class OverNull : public testing::TestWithParam<Reception> {
 protected:
  Settings settings = [] {
    Settings made = trial_settings(GetParam(), 200);
    made.transport = "memory";
    return made;
  }();
};

TEST_P(OverNull, every_message_returns_intact_and_once) {
  expect_clean(run_trial<Null>(settings, samples_request(200)), 200);
}

TEST_P(OverNull, the_ping_counts_what_the_pongs_script_does) {
  settings.native = {{"lose", "3"}, {"duplicate", "8"}, {"damage", "12"}};
  PingRequest request = samples_request(20);
  request.reply_timeout_s = 0.5;
  const TrialEnd end = run_trial<Null>(settings, request);
  EXPECT_EQ(sequences(end), counting_to(20, {3, 12}));
  EXPECT_EQ(end.ping.lost, 1U);
  EXPECT_EQ(end.ping.duplicated, 1U);
  EXPECT_EQ(end.ping.damaged, 1U);
  EXPECT_EQ(end.pongs[0].received, 20U);
  EXPECT_EQ(end.pongs[0].echoed, 20U);
}

TEST_P(OverNull, the_pong_counts_what_the_pings_script_does) {
  settings.native = {{"at", "ping"}, {"lose", "5"}, {"duplicate", "8"}};
  PingRequest request = samples_request(20);
  request.reply_timeout_s = 0.5;
  const TrialEnd end = run_trial<Null>(settings, request);
  EXPECT_EQ(sequences(end), counting_to(20, {5}));
  EXPECT_EQ(end.ping.lost, 1U);
  EXPECT_EQ(end.ping.duplicated, 1U) << "the pong answers a duplicate twice";
  EXPECT_EQ(end.pongs[0].received, 19U);
  EXPECT_EQ(end.pongs[0].lost, 1U);
  EXPECT_EQ(end.pongs[0].duplicated, 1U);
}

INSTANTIATE_TEST_SUITE_P(Null, OverNull, testing::Values(Reception::poll, Reception::block, Reception::listen),
                         [](const auto& parameter) {
                           return parameter.param == Reception::poll    ? "poll"
                                  : parameter.param == Reception::block ? "block"
                                                                        : "listen";
                         });

}  // namespace
}  // namespace middlemark::ping_pong_test
