// Tests a subscriber that receives incorrect messages, and a publisher whose middleware does not accept messages.
#include <middlemark/roles/subscriber.hpp>

#include <sched.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/roles/drain.hpp>
#include <middlemark/roles/publisher.hpp>

#include "support/stream.hpp"

namespace middlemark::subscriber_test {
namespace {

using test::Bytes;
using test::calibrated_clock;
using test::Scripted;
using Sent = Scripted::Sent;
using test::StreamTrial;
using test::topics_of;

constexpr std::size_t size = 64;

Bytes message(std::uint64_t sequence, unsigned publisher_id = 0, bool warm_up = false) {
  Bytes bytes(size);
  const Header header = Header::make(publisher_id, warm_up, sequence, calibrated_clock().ticks());
  fill_payload(bytes, header);
  write_header(bytes, header);
  return bytes;
}

/// Runs a subscriber that receives `messages` of `publishers` publishers and is then stopped.
SubscriberResult receive(const std::vector<Bytes>& messages, unsigned publishers = 1, std::uint64_t expected = 0,
                         std::uint32_t history = 0) {
  StreamTrial trial(Reception::poll, size);
  trial.settings.publishers = publishers;
  trial.settings.topics = topics_of(trial.settings, 1);
  trial.settings.topics[0].history = history;
  Scripted adapter(trial.settings);
  SubscriberRequest request;
  request.kept = 100;
  Progress progress;
  StreamSubscriber<Scripted> subscriber(adapter, trial.settings, request, calibrated_clock(), progress);
  if (history > 0) subscriber.join();
  for (const Bytes& each : messages) {
    subscriber(each);
    subscriber.after_take();
  }
  progress.expected.store(expected);
  progress.stop.request();
  subscriber.run();
  EXPECT_EQ(subscriber.recorder().size(), subscriber.result().samples);
  EXPECT_EQ(progress.history.load(), subscriber.result().history_received);
  return subscriber.result();
}

/// Returns a message of a topic's history. Number 0 is the oldest; a late joiner may receive the history without it.
Bytes published_before(std::uint64_t number) { return message(Header::history_bit | number, 0, true); }

TEST(Subscriber, that_joins_late_counts_each_required_history_message_once) {
  const SubscriberResult result = receive(
      {published_before(0), published_before(1), published_before(1), published_before(3), message(1)}, 1, 0, 3);
  EXPECT_EQ(result.history_due, 3U);
  EXPECT_EQ(result.history_received, 2U);
  EXPECT_TRUE(result.history_ns.has_value());
  EXPECT_EQ(result.received, 1U);
  EXPECT_EQ(result.duplicated + result.reordered + result.damaged, 0U);
  EXPECT_EQ(result.last_warm_up_ns, 0U);
}

TEST(Subscriber, that_joins_late_does_not_count_damaged_or_too_new_messages) {
  Bytes damaged = published_before(2);
  damaged[40] ^= std::byte{8};
  const SubscriberResult result = receive({damaged, published_before(3), message(1, 0, true)}, 1, 0, 2);
  EXPECT_EQ(result.history_received, 0U);
  EXPECT_EQ(result.history_ns, std::nullopt);
  EXPECT_EQ(result.damaged, 1U);
}

TEST(Subscriber, on_a_volatile_topic_opens_at_once_and_has_no_history) {
  const SubscriberResult result = receive({message(1)});
  EXPECT_EQ(result.history_due + result.history_received, 0U);
  EXPECT_EQ(result.history_ns, std::nullopt);
}

TEST(Subscriber, counts_each_message_once) {
  const SubscriberResult result = receive({message(1), message(2), message(2), message(3), message(1)});
  EXPECT_EQ(result.received, 3U);
  EXPECT_EQ(result.duplicated, 2U);
  EXPECT_EQ(result.samples, 3U) << "a duplicate has no latency";
}

TEST(Subscriber, distinguishes_late_from_lost_messages) {
  const SubscriberResult result = receive({message(1), message(4), message(2)});
  EXPECT_EQ(result.received, 3U);
  EXPECT_EQ(result.reordered, 1U);
}

TEST(Subscriber, finds_one_flipped_bit) {
  Bytes damaged = message(2);
  damaged[40] ^= std::byte{8};
  const SubscriberResult result = receive({message(1), damaged, message(3)});
  EXPECT_EQ(result.received, 3U);
  EXPECT_EQ(result.damaged, 1U);
  EXPECT_EQ(result.samples, 2U) << "a damaged message has no latency";
}

TEST(Subscriber, counts_short_messages_and_unknown_publishers_as_damage) {
  Bytes shortened = message(2);
  shortened.pop_back();
  const SubscriberResult result = receive({message(1), shortened, message(3, 7), message(0)});
  EXPECT_EQ(result.received, 1U);
  EXPECT_EQ(result.damaged, 3U);
}

TEST(Subscriber, counts_each_publisher_separately) {
  const SubscriberResult result = receive({message(1, 0), message(1, 1), message(2, 1), message(1, 1)}, 2);
  EXPECT_EQ(result.by_publisher, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(result.duplicated, 1U);
}

TEST(Subscriber, counts_no_warm_up_message) {
  const SubscriberResult result = receive({message(1, 0, true), message(2, 0, true), message(1)});
  EXPECT_EQ(result.received, 1U);
  EXPECT_EQ(result.duplicated + result.reordered + result.damaged, 0U);
}

TEST(Subscriber, reports_when_the_last_warm_up_message_before_the_first_measured_one_arrived) {
  const SubscriberResult result = receive({message(1, 1, true), message(1), message(2, 1, true)}, 2);
  EXPECT_GT(result.last_warm_up_ns, 0U);
  EXPECT_LE(result.last_warm_up_ns, result.first_received_ns);
  EXPECT_EQ(receive({message(1), message(2, 1, true)}, 2).last_warm_up_ns, 0U);
}

TEST(Subscriber, that_is_stopped_in_a_flood_still_stamps_the_last_message) {
  StreamTrial trial(Reception::poll, size);
  trial.settings.topics = topics_of(trial.settings, 1);
  Scripted adapter(trial.settings);
  Progress progress;
  StreamSubscriber<Scripted> subscriber(adapter, trial.settings, {}, calibrated_clock(), progress);
  for (std::uint64_t n = 1; n <= 3; ++n) {
    if (n == 3) usleep(20'000);
    Bytes bytes = message(n);
    if (n > 1) write_header(bytes, Header::make(0, false, n, Header::untimed_ticks));
    subscriber(bytes);
    subscriber.after_take();
  }
  progress.stop.request();
  subscriber.run();
  EXPECT_EQ(subscriber.result().received, 3U);
  EXPECT_GE(subscriber.result().last_received_ns, subscriber.result().first_received_ns + 20'000'000);
}

TEST(Subscriber, ends_at_once_when_all_messages_have_arrived) {
  EXPECT_EQ(receive({message(1), message(2)}, 1, 2).ended, Ended::complete);
}

TEST(Subscriber, waits_for_missing_messages_and_ends_when_none_arrives) {
  EXPECT_EQ(receive({message(1), message(2)}, 1, 3).ended, Ended::quiet);
}

TEST(Drain, gives_a_reliable_middleware_time_to_resend) {
  Drain drain(Reliability::reliable);
  const std::uint64_t begin = monotonic_ns();
  while (!drain.ended(3, 0, 0)) sched_yield();
  EXPECT_GE(monotonic_ns() - begin, Drain::quiet_reliable_ns);
}

TEST(Drain, waits_longer_for_a_middleware_that_resends_late) {
  Drain drain(Reliability::reliable, std::chrono::milliseconds(200));
  const std::uint64_t begin = monotonic_ns();
  while (!drain.ended(3, 0, 0)) sched_yield();
  EXPECT_GE(monotonic_ns() - begin, Drain::quiet_reliable_ns + 200'000'000);
}

TEST(Drain, continues_while_warm_up_messages_arrive) {
  Drain drain(Reliability::best_effort);
  std::uint64_t warm_ups = 0;
  const std::uint64_t until = monotonic_ns() + Drain::quiet_best_effort_ns + 100'000'000;
  while (monotonic_ns() < until) {
    ASSERT_EQ(drain.ended(3, 0, ++warm_ups), std::nullopt);
    sched_yield();
  }
  std::optional<Ended> why;
  while (!why) why = drain.ended(3, 0, warm_ups);
  EXPECT_EQ(why, Ended::quiet);
}

struct PublisherEnd {
  PublisherResult result;
  std::optional<ErrorEvent> failure;
  std::vector<Sending> records;
};

PublisherEnd publish(const std::function<Published(const Sent&)>& script, PublisherRequest request,
                     const Clock& clock = calibrated_clock()) {
  StreamTrial trial(Reception::poll, size);
  trial.settings.topics = topics_of(trial.settings, 1);
  Scripted adapter(trial.settings);
  adapter.on_ping = script;
  request.kept = 1000;
  Progress progress;
  StreamPublisher<Scripted> publisher(adapter, trial.settings, request, clock, progress);
  publisher.run();
  const auto kept = publisher.recorder().samples();
  return {publisher.result(), publisher.failure(), {kept.begin(), kept.end()}};
}

PublisherRequest of(std::uint64_t samples) {
  PublisherRequest request;
  request.samples = samples;
  request.warmup_s = 0;
  return request;
}

TEST(Publisher, counts_a_flood_exactly_even_if_some_publishes_time_out) {
  PublisherRequest request;
  request.duration_s = 0.05;
  request.warmup_s = 0.01;
  std::uint64_t sent = 0;
  std::uint64_t held_up = 0;
  std::uint64_t out_of_turn = 0;
  const PublisherEnd end = publish(
      [&](const Sent& message) {
        const Header header = message.header();
        if (header.warm_up()) return Published::ok;
        out_of_turn += header.sequence() != sent + held_up + 1 ? 1 : 0;
        const bool takes = header.sequence() % 100 != 0;
        ++(takes ? sent : held_up);
        return takes ? Published::ok : Published::timed_out;
      },
      request);
  EXPECT_EQ(out_of_turn, 0U);
  EXPECT_GT(sent, 100U);
  EXPECT_EQ(end.result.sent, sent);
  EXPECT_EQ(end.result.timed_out, held_up);
  EXPECT_EQ(end.result.ended, Ended::duration);
  const std::uint64_t stride = end.result.stamped_every;
  EXPECT_EQ(end.result.samples + end.result.in_histogram, (sent + held_up + stride - 1) / stride);
}

TEST(Publisher, measures_a_flood_until_its_last_message_stamped_or_not) {
  PublisherRequest request;
  request.duration_s = 0.05;
  request.warmup_s = 0.01;
  request.payload = Payload::untouched;
  std::uint64_t last_ns = 0;
  const PublisherEnd end = publish(
      [&](const Sent& message) {
        if (message.header().timed()) return Published::ok;
        if (last_ns == 0) usleep(100'000);  // longer than the duration of the measurement
        last_ns = monotonic_ns();
        return Published::ok;
      },
      request, Clock::calibrate(5, true));  // a clock with slow readings, so that most messages are unstamped
  if (end.result.stamped_every == 1) GTEST_SKIP() << "messages are so slow on this machine that all are stamped";
  EXPECT_GT(end.result.last_sent_ns, last_ns - 50'000'000);
  EXPECT_GT(end.result.measured_s, 0.1);
}

TEST(Publisher, counts_refused_and_timed_out_messages_separately) {
  const PublisherEnd end = publish(
      [](const Sent& sent) {
        const std::uint64_t sequence = sent.header().sequence();
        return sequence == 3 ? Published::timed_out : sequence == 5 ? Published::failed : Published::ok;
      },
      of(10));
  EXPECT_EQ(end.result.sent, 8U);
  EXPECT_EQ(end.result.timed_out, 1U);
  EXPECT_EQ(end.result.publish_failed, 1U);
  ASSERT_EQ(end.records.size(), 10U);
  EXPECT_EQ(end.records[2].write_ns, absent_ns);
  EXPECT_EQ(end.records[4].write_ns, absent_ns);
  EXPECT_NE(end.records[5].write_ns, absent_ns);
  EXPECT_EQ(end.result.last_error, "scripted: the publisher's words");
}

TEST(Publisher, gives_up_after_five_failed_publishes) {
  const PublisherEnd end = publish(
      [](const Sent& sent) { return sent.header().sequence() > 4 ? Published::timed_out : Published::ok; }, of(1000));
  EXPECT_EQ(end.result.ended, Ended::silent);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, ErrorCode::silent);
  EXPECT_EQ(end.result.sent, 4U);
  EXPECT_EQ(end.result.timed_out, StreamPublisher<Scripted>::fruitless_publishes);
}

TEST(Publisher, stamps_every_message_with_the_instant_it_was_sent_at) {
  std::vector<std::uint64_t> instants;
  const std::uint64_t before = calibrated_clock().ticks();
  publish(
      [&](const Sent& sent) {
        instants.push_back(sent.header().intended_ticks);
        return Published::ok;
      },
      of(20));
  ASSERT_EQ(instants.size(), 20U);
  EXPECT_GE(instants.front(), before);
  EXPECT_TRUE(std::ranges::is_sorted(instants));
}

}  // namespace
}  // namespace middlemark::subscriber_test
