// Tests that a ping always ends, for every reason for which it can end.
#include <middlemark/roles/ping.hpp>

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/sanitizers.hpp"
#include "support/trial.hpp"

namespace middlemark::ping_ends_test {
namespace {

using test::counting_to;
using test::PingEnd;
using test::run_ping;
using test::samples_request;
using test::Scripted;
using test::trial_settings;
using Sent = Scripted::Sent;

Published answered(const Sent& sent) {
  sent.reply();
  return Published::ok;
}

PingRequest duration_request(double seconds) {
  PingRequest request = samples_request(0);
  request.samples.reset();
  request.duration_s = seconds;
  return request;
}

class Silence : public testing::TestWithParam<Reception> {};

TEST_P(Silence, from_the_beginning_ends_the_warm_up_with_an_error) {
  const Settings settings = trial_settings(GetParam());
  Scripted adapter(settings);
  std::uint64_t published = 0;
  adapter.on_ping = [&published](const Sent&) { return ++published, Published::ok; };
  PingRequest request = samples_request(10);
  request.reply_timeout_s = 0.002;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.ended, Ended::silent);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, ErrorCode::silent);
  EXPECT_EQ(end.failure->text, "ping: 16 messages in a row brought no reply from all 1 pongs (0 samples before)");
  EXPECT_EQ(published, 16U);
  EXPECT_EQ(end.result.samples, 0U);
  EXPECT_EQ(end.result.sent, 0U);
  EXPECT_EQ(end.result.lost, 0U);
  EXPECT_EQ(end.result.first_begin_ns, 0U) << "nothing was measured";
}

TEST_P(Silence, of_a_peer_that_stops_answering_ends_the_measurement_and_keeps_the_samples) {
  const Settings settings = trial_settings(GetParam());
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) {
    if (!sent.header().warm_up() && sent.header().sequence() > 5) return Published::ok;
    return answered(sent);
  };
  PingRequest request = samples_request(1000);
  request.reply_timeout_s = 0.02;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.ended, Ended::silent);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, ErrorCode::silent);
  // It may be fewer than 5: if the ping loses its processor for 20 ms, the reply timeout, it counts the reply as late.
  EXPECT_LE(end.result.samples, 5U);
  EXPECT_EQ(end.result.samples, end.samples.size());
  EXPECT_GE(end.result.sent, 21U - 5U);
  EXPECT_LE(end.result.sent, 21U);
  EXPECT_EQ(end.result.lost + end.result.received, end.result.sent);
}

INSTANTIATE_TEST_SUITE_P(Ping, Silence, testing::Values(Reception::poll, Reception::block, Reception::listen),
                         [](const auto& parameter) {
                           return parameter.param == Reception::poll    ? "poll"
                                  : parameter.param == Reception::block ? "block"
                                                                        : "listen";
                         });

TEST(PingEnds, one_of_several_pongs_that_never_answers_is_silence) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = answered;
  PingRequest request = samples_request(10);
  request.reply_timeout_s = 0.002;
  request.echoing = 2;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.failure->text, "ping: 16 messages in a row brought no reply from all 2 pongs (0 samples before)");
}

TEST(PingEnds, a_publish_that_always_fails_is_silence_after_sixteen_tries) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) { return sent.header().warm_up() ? answered(sent) : Published::failed; };
  const auto begin = std::chrono::steady_clock::now();
  const PingEnd end = run_ping(adapter, settings, samples_request(1000));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
  EXPECT_EQ(end.result.ended, Ended::silent);
  EXPECT_EQ(end.result.publish_failed, 16U);
  EXPECT_EQ(end.result.last_error, "scripted: the publisher's words");
}

TEST(PingEnds, occasional_answers_are_not_silence) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) {
    if (!sent.header().warm_up() && sent.header().sequence() % 16 != 0) return Published::ok;
    return answered(sent);
  };
  PingRequest request = samples_request(64);
  request.reply_timeout_s = 0.001;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.ended, Ended::samples);
  EXPECT_EQ(end.result.samples, 4U);
  EXPECT_EQ(end.result.lost, 60U);
}

TEST(PingEnds, a_stop_ends_it_after_the_message_under_way) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  Progress progress;
  adapter.on_ping = [&progress](const Sent& sent) {
    if (!sent.header().warm_up() && sent.header().sequence() == 7) progress.stop.request();
    return answered(sent);
  };
  const PingEnd end = run_ping(adapter, settings, samples_request(1000), progress);
  EXPECT_EQ(end.result.ended, Ended::stopped);
  EXPECT_EQ(end.sequences(), counting_to(7));
  EXPECT_FALSE(end.failure);
}

TEST(PingEnds, a_stop_during_the_warm_up_ends_it_without_samples) {
  const Settings settings = trial_settings(Reception::block);
  Scripted adapter(settings);
  Progress progress;
  adapter.on_ping = [&progress](const Sent& sent) {
    if (sent.header().sequence() == 3) progress.stop.request();
    return answered(sent);
  };
  PingRequest request = samples_request(10);
  request.warmup_s = 30;
  const PingEnd end = run_ping(adapter, settings, request, progress);
  EXPECT_EQ(end.result.ended, Ended::stopped);
  EXPECT_EQ(end.result.sent, 0U);
  EXPECT_EQ(end.result.samples, 0U);
  EXPECT_EQ(end.result.warmup_samples, 3U);
}

TEST(PingEnds, a_duration_is_used_completely) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = answered;
  const PingEnd end = run_ping(adapter, settings, duration_request(0.05));
  EXPECT_EQ(end.result.ended, Ended::duration);
  EXPECT_GE(end.result.measured_s, 0.0499);
  EXPECT_EQ(end.result.samples, end.result.sent);
  EXPECT_GT(end.result.samples, 10U);
  EXPECT_LE(static_cast<double>(end.samples.back().begin_ns), end.result.measured_s * 1e9);
}

TEST(PingEnds, messages_due_but_not_sent_are_counted) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) {
    if (!sent.header().warm_up()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return answered(sent);
  };
  PingRequest request = duration_request(0.05);
  request.load = {.kind = LoadKind::rate, .rate_hz = 1000};
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.sent, 1U);
  EXPECT_EQ(end.result.scheduled, 50U);
  EXPECT_EQ(end.result.unsent, 49U);
}

TEST(PingEnds, the_limit_holds_for_any_number_of_samples) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = answered;
  PingRequest request = samples_request(2'000'000);
  request.limit_s = 0.05;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.ended, Ended::limit);
  EXPECT_GE(end.result.measured_s, 0.0499);
  EXPECT_LT(end.result.samples, 2'000'000U);
}

TEST(PingEnds, the_limit_holds_with_a_peer_that_rarely_answers) {
  const Settings settings = trial_settings(Reception::block);
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) {
    if (!sent.header().warm_up() && sent.header().sequence() % 4 != 0) return Published::ok;
    return answered(sent);
  };
  PingRequest request = samples_request(100'000);
  request.reply_timeout_s = 0.01;
  request.limit_s = 0.1;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.ended, Ended::limit);
  EXPECT_GT(end.result.lost, 0U);
}

TEST(PingEnds, round_trips_after_the_recorder_is_full_are_counted_in_a_histogram) {
  // For a duration below 500 ns the recorder has room for one sample. A second round trip begins only if the first one
  // takes less than the duration. So the test makes many attempts.
  const Settings settings = trial_settings(Reception::block, 16);
  for (int attempt = 0; attempt < 2000; ++attempt) {
    Scripted adapter(settings);
    adapter.listens_on_publishers_thread = false;
    adapter.on_ping = answered;
    PingRequest request = duration_request(499e-9);
    request.payload = Payload::untouched;
    const PingEnd end = run_ping(adapter, settings, request);
    ASSERT_EQ(end.result.ended, Ended::duration);
    ASSERT_LE(end.samples.size(), 1U);
    ASSERT_EQ(end.result.sent, end.result.samples + end.result.in_histogram);
    if (end.result.in_histogram == 0) continue;
    EXPECT_EQ(end.result.samples, 1U);
    EXPECT_EQ(end.result.lost, 0U);
    return;
  }
  GTEST_SKIP() << "no round trip took less than 499 ns in 2,000 tries: the machine is too slow, or this is a build "
                  "with a sanitizer";
}

TEST(PingEnds, no_samples_at_all_are_done_at_once) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = answered;
  const PingEnd end = run_ping(adapter, settings, samples_request(0));
  EXPECT_EQ(end.result.ended, Ended::samples);
  EXPECT_EQ(end.result.sent, 0U);
}

TEST(PingEnds, progress_shows_the_phase_and_the_samples) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  Progress progress;
  std::uint64_t wrong = 0;
  adapter.on_ping = [&](const Sent& sent) {
    const Header header = sent.header();
    wrong += progress.phase.load() != (header.warm_up() ? Phase::warm_up : Phase::measuring) ? 1 : 0;
    wrong += !header.warm_up() && progress.samples.load() != header.sequence() - 1 ? 1 : 0;
    return answered(sent);
  };
  EXPECT_EQ(progress.phase.load(), Phase::waiting);
  run_ping(adapter, settings, samples_request(25), progress);
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(progress.samples.load(), 25U);
}

TEST(RecorderCapacity, is_the_requested_number_within_the_memory_limit) {
  EXPECT_EQ(recorder_capacity(samples_request(1000), Reception::poll, 1 << 20), 1000U);
  EXPECT_EQ(recorder_capacity(samples_request(1'000'000'000), Reception::poll, 6400), 100U);
}

TEST(RecorderCapacity, covers_the_duration) {
  EXPECT_EQ(recorder_capacity(duration_request(1), Reception::poll, std::size_t{1} << 40), 6'666'667U);
  EXPECT_EQ(recorder_capacity(duration_request(1), Reception::poll, std::size_t{1} << 40, true), 16'666'667U);
  EXPECT_EQ(recorder_capacity(duration_request(1), Reception::block, std::size_t{1} << 40), 2'000'001U);
  EXPECT_EQ(recorder_capacity(duration_request(1), Reception::listen, std::size_t{1} << 40), 2'000'001U);
  EXPECT_EQ(recorder_capacity(duration_request(1e9), Reception::poll, 6400), 100U);
}

struct Says {
  std::string words;
  [[nodiscard]] std::string last_error() const { return words; }
};

TEST(LastError, comes_from_the_publisher_or_else_from_the_subscriber) {
  const Says nothing{};
  const Says sender{"not sent"};
  const Says receiver{"not received"};
  EXPECT_EQ(last_error_of(receiver, &sender), "not sent");
  EXPECT_EQ(last_error_of(receiver, &nothing), "not received");
}

}  // namespace
}  // namespace middlemark::ping_ends_test
