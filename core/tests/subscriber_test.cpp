// What a subscriber makes of messages as they should not be, and a publisher of a middleware that does not take them.
#include <middlemark/roles/subscriber.hpp>

#include <sched.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/roles/drain.hpp>
#include <middlemark/roles/publisher.hpp>

#include "support/stream.hpp"

namespace middlemark {
namespace {

using test::Bytes;
using test::calibrated_clock;
using test::Scripted;
using Sent = Scripted::Sent;
using test::StreamTrial;

constexpr std::size_t size = 64;

Bytes message(std::uint64_t sequence, unsigned source = 0, bool rehearsal = false) {
  Bytes bytes(size);
  const Header header = Header::make(source, rehearsal, sequence, calibrated_clock().ticks());
  fill_payload(bytes, header);
  write_header(bytes, header);
  return bytes;
}

/// A subscriber of `publishers` publishers that is handed `messages` and then stopped.
RoleResult receive(const std::vector<Bytes>& messages, unsigned publishers = 1, std::uint64_t expected = 0) {
  StreamTrial trial(Reception::poll, size);
  trial.settings.publishers = publishers;
  Scripted adapter(trial.settings);
  SubscriberRequest request;
  request.kept = 100;
  Progress progress;
  StreamSubscriber<Scripted> subscriber(adapter, trial.settings, request, calibrated_clock(), progress);
  for (const Bytes& each : messages) {
    subscriber(each);
    subscriber.taken();
  }
  progress.expected.store(expected);
  progress.stop.request();
  subscriber.run();
  EXPECT_EQ(subscriber.recorder().size(), subscriber.result().samples);
  return subscriber.result();
}

TEST(Subscriber, counts_each_message_once) {
  const RoleResult result = receive({message(1), message(2), message(2), message(3), message(1)});
  EXPECT_EQ(result.received, 3U);
  EXPECT_EQ(result.duplicated, 2U);
  EXPECT_EQ(result.samples, 3U) << "a duplicate has no latency";
}

TEST(Subscriber, tells_a_late_message_from_a_lost_one) {
  const RoleResult result = receive({message(1), message(4), message(2)});
  EXPECT_EQ(result.received, 3U);
  EXPECT_EQ(result.reordered, 1U);
}

TEST(Subscriber, finds_one_flipped_bit) {
  Bytes damaged = message(2);
  damaged[40] ^= std::byte{8};
  const RoleResult result = receive({message(1), damaged, message(3)});
  EXPECT_EQ(result.received, 3U);
  EXPECT_EQ(result.damaged, 1U);
  EXPECT_EQ(result.samples, 2U) << "what is damaged has no latency";
}

TEST(Subscriber, finds_a_message_cut_short_or_of_nobody) {
  Bytes shortened = message(2);
  shortened.pop_back();
  const RoleResult result = receive({message(1), shortened, message(3, 7), message(0)});
  EXPECT_EQ(result.received, 1U);
  EXPECT_EQ(result.damaged, 3U);
}

TEST(Subscriber, keeps_its_publishers_apart) {
  const RoleResult result = receive({message(1, 0), message(1, 1), message(2, 1), message(1, 1)}, 2);
  EXPECT_EQ(result.by_source, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(result.duplicated, 1U);
}

TEST(Subscriber, counts_no_rehearsal) {
  const RoleResult result = receive({message(1, 0, true), message(2, 0, true), message(1)});
  EXPECT_EQ(result.received, 1U);
  EXPECT_EQ(result.duplicated + result.reordered + result.damaged, 0U);
}

TEST(Subscriber, ends_at_once_when_everything_has_come) {
  EXPECT_EQ(receive({message(1), message(2)}, 1, 2).ended, "complete");
}

TEST(Subscriber, waits_for_what_may_still_come_and_ends_when_nothing_does) {
  EXPECT_EQ(receive({message(1), message(2)}, 1, 3).ended, "quiet");
}

TEST(Drain, the_warm_up_that_is_still_coming_is_a_sign_of_life) {
  Drain drain(Reliability::best_effort);
  std::uint64_t rehearsed = 0;
  const std::uint64_t until = monotonic_ns() + Drain::quiet_best_effort_ns + 100'000'000;
  while (monotonic_ns() < until) {
    ASSERT_EQ(drain.ended(3, 0, ++rehearsed), nullptr);
    sched_yield();
  }
  const char* why = nullptr;
  while (why == nullptr) why = drain.ended(3, 0, rehearsed);
  EXPECT_STREQ(why, "quiet");
}

struct PublisherEnd {
  RoleResult result;
  std::vector<Sending> records;
};

PublisherEnd publish(const std::function<Published(const Sent&)>& script, PublisherRequest request) {
  StreamTrial trial(Reception::poll, size);
  Scripted adapter(trial.settings);
  adapter.on_ping = script;
  request.kept = 1000;
  Progress progress;
  StreamPublisher<Scripted> publisher(adapter, trial.settings, request, calibrated_clock(), progress);
  publisher.run();
  const auto kept = publisher.recorder().samples();
  return {publisher.result(), {kept.begin(), kept.end()}};
}

PublisherRequest of(std::uint64_t samples) {
  PublisherRequest request;
  request.samples = samples;
  request.warmup_s = 0;
  return request;
}

TEST(Publisher, counts_a_flood_exactly_also_when_some_of_it_is_held_up) {
  PublisherRequest request;
  request.duration_s = 0.05;
  request.warmup_s = 0.01;
  std::uint64_t sent = 0;
  std::uint64_t held_up = 0;
  std::uint64_t out_of_turn = 0;
  const PublisherEnd end = publish(
      [&](const Sent& message) {
        const Header header = message.header();
        if (header.rehearsal()) return Published::ok;
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
  EXPECT_EQ(end.result.ended, "duration");
  const std::uint64_t stride = end.result.stamped_every;
  EXPECT_EQ(end.result.samples + end.result.in_histogram, (sent + held_up + stride - 1) / stride);
}

TEST(Publisher, what_was_refused_or_held_up_is_neither_sent_nor_forgotten) {
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

TEST(Publisher, gives_up_when_nobody_takes_any_more) {
  const PublisherEnd end = publish(
      [](const Sent& sent) { return sent.header().sequence() > 4 ? Published::timed_out : Published::ok; }, of(1000));
  EXPECT_EQ(end.result.ended, "silent");
  EXPECT_EQ(end.result.error_code, "silent");
  EXPECT_EQ(end.result.sent, 4U);
  EXPECT_EQ(end.result.timed_out, StreamPublisher<Scripted>::fruitless_publishes);
}

TEST(Publisher, every_message_carries_the_instant_it_was_sent_at) {
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
}  // namespace middlemark
