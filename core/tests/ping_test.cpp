// Tests the counts and records of a ping. A script answers within publish(), so all counts are exact.
#include <middlemark/roles/ping.hpp>

#include <gtest/gtest.h>

#include "support/trial.hpp"

namespace middlemark::ping_test {
namespace {

using test::Bytes;
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

/// Returns a script that answers every message, except that it calls `odd` for the measured message number `sequence`.
template <class Odd>
Scripted::Script except(std::uint64_t sequence, Odd odd) {
  return [sequence, odd](const Sent& sent) {
    if (!sent.header().warm_up() && sent.header().sequence() == sequence) return odd(sent);
    return answered(sent);
  };
}

/// Returns a request with a short timeout, for messages that are never answered. Replies to other messages are not
/// late, because a polling ping calls take() once more before it gives up.
PingRequest impatient(std::uint64_t samples) {
  PingRequest request = samples_request(samples);
  request.reply_timeout_s = 0.05;
  return request;
}

struct Ending {
  std::uint64_t samples, sent, received, lost, late, duplicated, reordered, damaged, publish_failed;
  bool operator==(const Ending&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Ending& e) {
  return out << "samples " << e.samples << " sent " << e.sent << " received " << e.received << " lost " << e.lost
             << " late " << e.late << " duplicated " << e.duplicated << " reordered " << e.reordered << " damaged "
             << e.damaged << " publish_failed " << e.publish_failed;
}
Ending counts(const PingResult& r) {
  return {r.samples, r.sent, r.received, r.lost, r.late, r.duplicated, r.reordered, r.damaged, r.publish_failed};
}

class Receiving : public testing::TestWithParam<Reception> {};

TEST_P(Receiving, every_answered_message_is_a_sample) {
  const Settings settings = trial_settings(GetParam());
  Scripted adapter(settings);
  adapter.on_ping = answered;
  const PingEnd end = run_ping(adapter, settings, samples_request(500));
  EXPECT_EQ(counts(end.result), (Ending{500, 500, 500, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(end.sequences(), counting_to(500));
  EXPECT_EQ(end.result.ended, Ended::samples);
  EXPECT_FALSE(end.failure);
  EXPECT_GE(end.result.warmup_samples, 1U);
  EXPECT_GT(end.result.first_begin_ns, 0U);
  std::uint64_t previous = 0;
  for (const Sample& sample : end.samples) {
    ASSERT_GE(sample.begin_ns, previous);
    ASSERT_EQ(sample.first_reply_ns, sample.round_trip_ns);
    ASSERT_GT(sample.round_trip_ns, 0U);
    ASSERT_EQ(sample.replies, 1U);
    previous = sample.begin_ns + sample.round_trip_ns;
  }
  EXPECT_LE(static_cast<double>(previous), end.result.measured_s * 1e9 + 1000);
}

INSTANTIATE_TEST_SUITE_P(Ping, Receiving, testing::Values(Reception::poll, Reception::block),
                         [](const auto& parameter) { return parameter.param == Reception::poll ? "poll" : "block"; });

TEST(Ping, warm_up_messages_are_never_samples) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  std::uint64_t warm_ups = 0;
  std::uint64_t warm_ups_after_the_start = 0;
  std::uint64_t measured = 0;
  adapter.on_ping = [&](const Sent& sent) {
    (sent.header().warm_up() ? warm_ups : measured) += 1;
    warm_ups_after_the_start += sent.header().warm_up() && measured > 0 ? 1 : 0;
    return answered(sent);
  };
  PingRequest request = samples_request(50);
  request.warmup_s = 0.03;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(end.result.warmup_samples, warm_ups);
  EXPECT_GT(warm_ups, 1U);
  EXPECT_EQ(warm_ups_after_the_start, 0U);
  EXPECT_EQ(measured, 50U);
  EXPECT_EQ(end.sequences(), counting_to(50));
}

TEST(Ping, losses_and_damage_in_the_warm_up_are_not_counted) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) {
    const Header header = sent.header();
    if (!header.warm_up()) return answered(sent);
    if (header.sequence() == 2) return Published::ok;  // lost
    if (header.sequence() == 3) return Published::timed_out;
    if (header.sequence() == 4) {
      Bytes damaged = sent.answer(header.from(0));
      damaged.back() ^= std::byte{1};
      sent.reply(damaged);
      sent.reply(damaged);
      return Published::ok;
    }
    if (header.sequence() == 5) sent.reply(Bytes(sent.message.begin(), sent.message.end() - 1));
    return answered(sent);
  };
  PingRequest request = samples_request(20);
  request.warmup_s = 0.2;
  request.reply_timeout_s = 0.01;
  EXPECT_EQ(counts(run_ping(adapter, settings, request).result), (Ending{20, 20, 20, 0, 0, 0, 0, 0, 0}));
}

TEST(Ping, every_message_is_filled_and_carries_its_intended_time) {
  const Settings settings = trial_settings(Reception::poll, 333);
  Scripted adapter(settings);
  std::uint64_t wrong = 0;
  std::uint64_t previous = 0;
  adapter.on_ping = [&](const Sent& sent) {
    const Header header = sent.header();
    wrong += sent.message.size() != 333 || !payload_intact(sent.message, header) || header.publisher_id() != 0 ? 1 : 0;
    wrong += header.intended_ticks <= previous || header.intended_ticks > test::calibrated_clock().ticks() ? 1 : 0;
    previous = header.intended_ticks;
    return answered(sent);
  };
  EXPECT_EQ(run_ping(adapter, settings, samples_request(100)).result.samples, 100U);
  EXPECT_EQ(wrong, 0U);
}

TEST(Ping, an_untouched_payload_is_neither_written_nor_checked) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  std::uint64_t written = 0;
  adapter.on_ping = [&](const Sent& sent) {
    for (std::size_t i = header_bytes; i < sent.message.size(); ++i) written += sent.message[i] != std::byte{0} ? 1 : 0;
    Bytes other = sent.answer(sent.header().from(0));
    other.back() = std::byte{0x77};
    sent.reply(other);
    return Published::ok;
  };
  PingRequest request = samples_request(20);
  request.payload = Payload::untouched;
  const PingEnd end = run_ping(adapter, settings, request);
  EXPECT_EQ(counts(end.result), (Ending{20, 20, 20, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(written, 0U);
}

TEST(Ping, times_that_were_not_measured_are_absent) {
  for (const bool loan : {false, true}) {
    for (const Payload payload : {Payload::filled, Payload::untouched}) {
      Settings settings = trial_settings(Reception::block);
      settings.loan = loan;
      Scripted adapter(settings);
      adapter.on_ping = answered;
      PingRequest request = samples_request(10);
      request.payload = payload;
      for (const Sample& sample : run_ping(adapter, settings, request).samples) {
        EXPECT_NE(sample.write_ns, absent_ns);
        EXPECT_NE(sample.take_ns, absent_ns);
        EXPECT_EQ(sample.loan_ns != absent_ns, loan);
        EXPECT_EQ(sample.fill_ns != absent_ns, payload == Payload::filled);
        EXPECT_EQ(sample.check_ns != absent_ns, payload == Payload::filled);
      }
    }
  }
}

TEST(Ping, the_round_trip_begins_when_publish_begins) {
  Settings settings = trial_settings(Reception::poll);
  settings.loan = true;
  Scripted adapter(settings);
  adapter.lends = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return true;
  };
  adapter.on_ping = [](const Sent& sent) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return answered(sent);
  };
  std::uint64_t shortest = ~std::uint64_t{0};
  for (const Sample& sample : run_ping(adapter, settings, samples_request(10)).samples) {
    EXPECT_GE(sample.loan_ns, 2'900'000U);
    EXPECT_GE(sample.write_ns, 1'900'000U);
    EXPECT_GE(sample.round_trip_ns, sample.write_ns) << "the reply was taken after publish had returned";
    EXPECT_LE(sample.take_ns, sample.round_trip_ns - sample.write_ns);
    shortest = std::min(shortest, sample.round_trip_ns - sample.write_ns);
  }
  EXPECT_LT(shortest, 2'900'000U) << "the round trips include the loan";
}

TEST(Ping, filling_comes_before_the_round_trip_and_has_its_own_time) {
  const Settings settings = trial_settings(Reception::poll, std::size_t{4} << 20);
  Scripted adapter(settings);
  adapter.on_ping = answered;
  for (const Sample& sample : run_ping(adapter, settings, samples_request(5)).samples) {
    EXPECT_GT(sample.fill_ns, 10'000U) << "4 MiB cannot be written in 10 us";
    EXPECT_GT(sample.check_ns, 10'000U);
  }
}

TEST(Ping, a_lost_reply_is_counted_and_leaves_a_gap) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = except(3, [](const Sent&) { return Published::ok; });
  const PingEnd end = run_ping(adapter, settings, impatient(10));
  EXPECT_EQ(counts(end.result), (Ending{9, 10, 9, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(end.sequences(), counting_to(10, {3}));
}

TEST(Ping, a_late_reply_is_neither_a_sample_nor_lost) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  Bytes held;
  adapter.on_ping = [&](const Sent& sent) {
    const Header header = sent.header();
    if (!header.warm_up() && header.sequence() == 3) {
      held = sent.answer(header.from(0));
      return Published::ok;
    }
    if (!header.warm_up() && header.sequence() == 5) sent.reply(held);
    return answered(sent);
  };
  const PingEnd end = run_ping(adapter, settings, impatient(10));
  EXPECT_EQ(counts(end.result), (Ending{9, 10, 10, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(end.sequences(), counting_to(10, {3}));
}

TEST(Ping, a_duplicate_is_counted_and_changes_no_sample) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = except(4, [](const Sent& sent) {
    sent.reply();
    return answered(sent);
  });
  const PingEnd end = run_ping(adapter, settings, samples_request(10));
  EXPECT_EQ(counts(end.result), (Ending{10, 10, 10, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(end.sequences(), counting_to(10));
}

TEST(Ping, a_damaged_reply_is_received_but_is_no_sample) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = except(4, [](const Sent& sent) {
    Bytes damaged = sent.answer(sent.header().from(0));
    damaged.back() ^= std::byte{1};
    sent.reply(damaged);
    return Published::ok;
  });
  const PingEnd end = run_ping(adapter, settings, samples_request(10));
  EXPECT_EQ(counts(end.result), (Ending{9, 10, 10, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(end.sequences(), counting_to(10, {4}));
}

TEST(Ping, a_shortened_reply_is_damaged_and_completes_nothing) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = except(4, [](const Sent& sent) {
    sent.reply(Bytes(sent.message.begin(), sent.message.end() - 1));
    return Published::ok;
  });
  EXPECT_EQ(counts(run_ping(adapter, settings, impatient(10)).result), (Ending{9, 10, 9, 1, 0, 0, 0, 1, 0}));
}

TEST(Ping, a_reply_to_a_message_never_sent_is_damaged) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = except(4, [](const Sent& sent) {
    sent.reply(sent.answer(Header::make(0, false, 1'000'000, 0)));
    sent.reply(sent.answer(Header::make(0, false, 5, 0)));
    sent.reply(sent.answer(Header::make(0, false, 0, 0)));
    sent.reply(sent.answer(sent.header().from(1)));
    return answered(sent);
  });
  const PingEnd end = run_ping(adapter, settings, samples_request(10));
  EXPECT_EQ(counts(end.result), (Ending{10, 10, 10, 0, 0, 0, 0, 4, 0}));
}

Published answered_by_three(const Sent& sent) {
  for (const unsigned source : {2U, 0U, 1U}) sent.reply(sent.answer(sent.header().from(source)));
  return Published::ok;
}

PingRequest of_three(PingRequest request) {
  request.echoing = 3;
  return request;
}

TEST(Ping, with_several_pongs_all_replies_count_and_the_last_ends_the_round_trip) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = answered_by_three;
  const PingEnd end = run_ping(adapter, settings, of_three(samples_request(50)));
  EXPECT_EQ(counts(end.result), (Ending{50, 50, 150, 0, 0, 0, 0, 0, 0}));
  bool ever_apart = false;
  for (const Sample& sample : end.samples) {
    EXPECT_EQ(sample.replies, 3U);
    EXPECT_LE(sample.first_reply_ns, sample.round_trip_ns);
    ever_apart = ever_apart || sample.first_reply_ns < sample.round_trip_ns;
  }
  EXPECT_TRUE(ever_apart);
}

TEST(Ping, a_round_trip_without_all_replies_is_no_sample) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = [](const Sent& sent) {
    if (sent.header().warm_up() || sent.header().sequence() != 7) return answered_by_three(sent);
    for (const unsigned source : {0U, 2U}) sent.reply(sent.answer(sent.header().from(source)));
    return Published::ok;
  };
  const PingEnd end = run_ping(adapter, settings, of_three(impatient(10)));
  EXPECT_EQ(counts(end.result), (Ending{9, 10, 29, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(end.sequences(), counting_to(10, {7}));
}

TEST(Ping, a_publish_that_fails_or_times_out_is_counted_and_its_message_is_no_sample) {
  for (const Published outcome : {Published::failed, Published::timed_out}) {
    const Settings settings = trial_settings(Reception::poll);
    Scripted adapter(settings);
    adapter.on_ping = except(6, [outcome](const Sent&) { return outcome; });
    const PingEnd end = run_ping(adapter, settings, samples_request(10));
    EXPECT_EQ(end.result.publish_failed, 1U);
    EXPECT_EQ(end.result.samples, 9U);
    EXPECT_EQ(end.result.received, 9U);
    EXPECT_EQ(end.sequences(), counting_to(10, {6}));
    EXPECT_EQ(end.result.last_error, "scripted: the publisher's words");
  }
}

TEST(Ping, a_reply_to_a_message_whose_publish_failed_is_not_a_round_trip) {
  const Settings settings = trial_settings(Reception::poll);
  Scripted adapter(settings);
  adapter.on_ping = except(6, [](const Sent& sent) {
    sent.reply();
    return Published::failed;
  });
  const PingEnd end = run_ping(adapter, settings, samples_request(10));
  EXPECT_EQ(end.sequences(), counting_to(10, {6}));
  EXPECT_EQ(end.result.late, 1U);
}

TEST(Ping, a_failed_loan_loses_the_message) {
  Settings settings = trial_settings(Reception::poll);
  settings.loan = true;
  Scripted adapter(settings);
  adapter.on_ping = answered;
  std::uint64_t loans = 0;
  adapter.lends = [&loans] { return ++loans != 5; };  // the first loan is for the warm-up
  const PingEnd end = run_ping(adapter, settings, samples_request(10));
  EXPECT_EQ(end.result.publish_failed, 1U);
  EXPECT_EQ(end.result.samples, 9U);
  EXPECT_EQ(end.sequences(), counting_to(10, {4}));
}

}  // namespace
}  // namespace middlemark::ping_test
