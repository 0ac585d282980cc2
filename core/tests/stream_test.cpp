// Tests streams over a real adapter in one process: arrival of all messages, counts and schedules.
#include <middlemark/account.hpp>
#include <middlemark/roles/stamping.hpp>
#include <middlemark/session.hpp>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "null/adapter.hpp"
#include "shm/adapter.hpp"
#include "support/records.hpp"
#include "support/stream.hpp"
#include "tcp/adapter.hpp"
#include "udp/adapter.hpp"

namespace middlemark::stream_test {
namespace {

using test::records;
using test::Results;
using test::run_stream;
using test::StreamTrial;
using test::TemporaryFolder;

using Shape = std::tuple<Reception, unsigned, unsigned, unsigned>;

class Stream : public testing::TestWithParam<Shape> {};

TEST_P(Stream, delivers_every_message_once_and_intact_to_each_subscriber_of_its_topic) {
  const auto [reception, publishers, subscribers, topics] = GetParam();
  StreamTrial trial(reception, 200);
  trial.settings.publishers = publishers;
  trial.settings.subscribers = subscribers;
  trial.topics = topics;
  trial.publisher.samples = 300;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  ASSERT_EQ(results.publishers.size(), publishers);
  ASSERT_EQ(results.subscribers.size(), subscribers);
  for (const PublisherResult& publisher : results.publishers) {
    EXPECT_EQ(publisher.sent, 300U);
    EXPECT_EQ(publisher.ended, Ended::samples);
    EXPECT_EQ(publisher.timed_out + publisher.publish_failed, 0U);
    EXPECT_FALSE(publisher.scheduled) << "nothing was scheduled";
  }
  for (const SubscriberResult& subscriber : results.subscribers) {
    const unsigned topic = subscriber.index % topics;
    const std::uint64_t expected = 300U * ((publishers + topics - 1 - topic) / topics);
    EXPECT_EQ(subscriber.topic, topic);
    EXPECT_EQ(subscriber.received, expected);
    EXPECT_EQ(subscriber.ended, Ended::complete);
    EXPECT_EQ(subscriber.duplicated + subscriber.reordered + subscriber.damaged, 0U);
    for (unsigned publisher_id = 0; publisher_id < publishers; ++publisher_id) {
      EXPECT_EQ(subscriber.by_publisher.at(publisher_id), publisher_id % topics == topic ? 300U : 0U);
    }
    EXPECT_EQ(records<Arrival>(folder, "subscriber-" + std::to_string(subscriber.index) + ".npy").size(), expected);
  }
}

std::string name_of(const testing::TestParamInfo<Shape>& info) {
  const auto& [reception, publishers, subscribers, topics] = info.param;
  return std::string(reception == Reception::poll ? "poll" : "block") + "_" + std::to_string(publishers) + "_to_" +
         std::to_string(subscribers) + "_on_" + std::to_string(topics);
}

INSTANTIATE_TEST_SUITE_P(Shm, Stream,
                         testing::Values(Shape{Reception::poll, 1, 1, 1}, Shape{Reception::block, 1, 1, 1},
                                         Shape{Reception::block, 1, 4, 1}, Shape{Reception::block, 3, 1, 1},
                                         Shape{Reception::block, 3, 2, 1}, Shape{Reception::block, 3, 3, 2}),
                         name_of);

TEST(StampStride, is_one_until_stamps_cost_too_much) {
  EXPECT_EQ(stamp_stride(20.0, 1'000'000, 0), 1U) << "there was no warm-up message";
  EXPECT_EQ(stamp_stride(20.0, 1'000'000, 2'000), 1U) << "460 ns per message: a reading costs 4 %";
  EXPECT_EQ(stamp_stride(20.0, 1'000'000, 2'500), 31U)
      << "360 ns per message: a reading costs 6 %, and all stamps 22 %";
  EXPECT_EQ(stamp_stride(20.0, 1'000'000, 20'000), 1021U) << "10 ns per message";
  EXPECT_EQ(stamp_stride(20.0, 1'000'000, 25'000), 1021U) << "0 ns per message: the longest stride";
}

TEST(FloodedStream, times_the_first_message_of_each_stride_and_counts_them_all) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "a publisher and a polling subscriber need a processor each";
  StreamTrial trial(Reception::poll);
  trial.publisher.samples.reset();
  trial.publisher.duration_s = 0.05;
  trial.publisher.warmup_s = 0.02;
  trial.publisher.payload = Payload::filled;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  const PublisherResult& publisher = results.publishers.at(0);
  const SubscriberResult& subscriber = results.subscribers.at(0);
  EXPECT_EQ(subscriber.received, publisher.sent);
  EXPECT_EQ(subscriber.damaged, 0U);
  EXPECT_GE(publisher.last_sent_ns, publisher.first_sent_ns);
  EXPECT_GE(subscriber.last_received_ns, publisher.last_sent_ns)
      << "the last received message is the last sent message, stamped or not";
  const unsigned stride = publisher.stamped_every;
  EXPECT_EQ(publisher.writing_ns.has_value(), stride == 1);
  EXPECT_EQ(publisher.samples + publisher.in_histogram, (publisher.sent + stride - 1) / stride);
  for (const Arrival& arrival : records<Arrival>(folder, "subscriber-0.npy")) {
    EXPECT_EQ((arrival.stamp & Header::sequence_mask) % stride, 1U % stride);
    EXPECT_LT(arrival.one_way_ns, 1'000'000'000U);
  }
}

/// Writes numbers to a file as the launcher does. Returns its path.
template <class Number>
std::string written(const TemporaryFolder& folder, const char* name, const std::vector<Number>& numbers) {
  const std::string path = folder.string() + "/" + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()), std::ssize(std::as_bytes(std::span(numbers))));
  return path;
}

const std::vector<std::uint32_t> varying{16, 200'000, 17, 64, 3000, 1024, 65'507, 4097};

template <class A>
class VaryingStream : public testing::Test {};
using Varying = testing::Types<SharedMemory, Udp, Tcp>;
TYPED_TEST_SUITE(VaryingStream, Varying, );

TYPED_TEST(VaryingStream, delivers_messages_of_every_size_and_counts_their_bytes) {
  const TemporaryFolder folder;
  StreamTrial trial(Reception::block, 200'000);
  trial.settings.transport = TypeParam::describe().transports.front().name;
  trial.settings.interface = "lo";
  trial.settings.scratch = folder.string();
  trial.settings.depth = 100;
  trial.sizes_path = written(folder, "sizes", varying);
  trial.publisher.load.kind = LoadKind::rate;
  trial.publisher.load.rate_hz = 400;
  trial.publisher.samples = 3 * varying.size() + 2;
  trial.publisher.payload = Payload::filled;
  trial.publisher.warmup_s = 0.02;
  const Results results = run_stream<TypeParam>(trial, folder);
  const PublisherResult& publisher = results.publishers.at(0);
  const SubscriberResult& subscriber = results.subscribers.at(0);
  EXPECT_EQ(publisher.sent, 3 * varying.size() + 2);
  EXPECT_EQ(publisher.sent_bytes, 3 * std::accumulate(varying.begin(), varying.end(), std::uint64_t{0}) + 16 + 200'000);
  EXPECT_EQ(subscriber.received, publisher.sent);
  EXPECT_EQ(subscriber.damaged, 0U);
}

TEST(VaryingSizes, count_a_message_of_an_unexpected_size_as_damaged) {
  const TemporaryFolder folder;
  StreamTrial trial(Reception::block, 200);
  trial.sizes_path = written(folder, "sizes", std::vector<std::uint32_t>{100, 200});
  trial.settings.transport = "memory";
  trial.settings.native["shorten"] = "4";
  trial.publisher.samples = 10;
  trial.publisher.payload = Payload::filled;
  const Results results = run_stream<Null>(trial, folder);
  EXPECT_EQ(results.subscribers.at(0).received, 9U);
  EXPECT_EQ(results.subscribers.at(0).damaged, 1U);
}

TEST(VaryingSizes, are_refused_if_they_exceed_the_topics_bounds) {
  const TemporaryFolder folder;
  StreamTrial trial(Reception::block, 200);
  const auto refused = [&] { static_cast<void>(run_stream<SharedMemory>(trial, folder)); };
  for (const auto& wrong : {std::vector<std::uint32_t>{100, 201}, {15}, {}}) {
    trial.sizes_path = written(folder, "sizes", wrong);
    EXPECT_THROW(refused(), AdapterError);
  }
  trial.sizes_path = folder.string() + "/nowhere";
  EXPECT_THROW(refused(), AdapterError);
}

TEST(RecordedStream, sends_at_its_instants_lap_after_lap) {
  const TemporaryFolder folder;
  const std::vector<std::uint64_t> instants{1'000'000, 2'000'000, 30'000'000};
  StreamTrial trial(Reception::block);
  trial.publisher.load.kind = LoadKind::rate;
  trial.publisher.load.rate_hz = 60;
  trial.publisher.load.instants_path = written(folder, "instants", instants);
  trial.publisher.load.lap_ns = 50'000'000;
  trial.publisher.samples.reset();
  trial.publisher.duration_s = 0.16;
  const Results results = run_stream<SharedMemory>(trial, folder);
  const PublisherResult& publisher = results.publishers.at(0);
  EXPECT_EQ(publisher.scheduled, 11U) << "three laps, and two instants of the fourth";
  EXPECT_EQ(publisher.sent + publisher.unsent.value(), 11U);
  const auto sent = records<Sending>(folder, "publisher-0.npy");
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const double due = 5e7 * static_cast<double>(i / 3) + static_cast<double>(instants[i % 3]);
    EXPECT_NEAR(static_cast<double>(sent[i].begin_ns) - sent[i].late_ns, due, 2.0);
  }
}

TEST(PacedStream, sends_all_due_messages_and_none_before_its_instant) {
  StreamTrial trial(Reception::block);
  trial.publisher.load = {.kind = LoadKind::rate, .rate_hz = 2000};
  trial.publisher.samples.reset();
  trial.publisher.duration_s = 0.2;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  const PublisherResult& publisher = results.publishers.at(0);
  EXPECT_EQ(publisher.scheduled, 400U);
  EXPECT_EQ(publisher.sent + publisher.unsent.value(), 400U);
  const auto sent = records<Sending>(folder, "publisher-0.npy");
  ASSERT_EQ(sent.size(), publisher.sent);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    // The instants, begin - late, are half a millisecond apart. Both times are rounded to a ns.
    EXPECT_NEAR(static_cast<double>(sent[i].begin_ns) - sent[i].late_ns, 500'000.0 * static_cast<double>(i), 2.0);
  }
}

TEST(PacedStream, a_late_publisher_increases_the_latency_of_its_messages) {
  StreamTrial trial(Reception::block);
  trial.publisher.load = {.kind = LoadKind::rate, .rate_hz = 1000};
  trial.publisher.samples = 400;
  // A rate that the publisher cannot reach has the same effect as a stall: messages are sent after their instants.
  trial.publisher.load.rate_hz = 1e9;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  const PublisherResult& publisher = results.publishers.at(0);
  EXPECT_EQ(publisher.scheduled, 400U);
  EXPECT_GT(publisher.late_sends.value(), 300U) << "no publisher can send every nanosecond";
  const auto sent = records<Sending>(folder, "publisher-0.npy");
  const auto arrived = records<Arrival>(folder, "subscriber-0.npy");
  ASSERT_EQ(arrived.size(), 400U);
  for (const Arrival& arrival : arrived) {
    const std::uint64_t sequence = arrival.stamp & Header::sequence_mask;
    EXPECT_GE(arrival.one_way_ns + 1000, sent.at(sequence - 1).late_ns)
        << "the one-way time counts from the intended instant";
  }
}

TEST(PacedStream, poisson_arrivals_of_one_seed_repeat) {
  std::vector<std::vector<std::uint64_t>> instants;
  for (int repetition = 0; repetition < 2; ++repetition) {
    StreamTrial trial(Reception::block);
    trial.publisher.load = {.kind = LoadKind::rate, .rate_hz = 5000, .arrivals = Arrivals::poisson, .seed = 7};
    trial.publisher.samples = 100;
    const TemporaryFolder folder;
    static_cast<void>(run_stream<SharedMemory>(trial, folder));
    std::vector<std::uint64_t>& own = instants.emplace_back();
    for (const Sending& sent : records<Sending>(folder, "publisher-0.npy")) own.push_back(sent.begin_ns - sent.late_ns);
  }
  ASSERT_EQ(instants[0].size(), 100U);
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_NEAR(static_cast<double>(instants[0][i]), static_cast<double>(instants[1][i]), 5000);
  EXPECT_NE(instants[0][1] - instants[0][0], instants[0][2] - instants[0][1]);
}

TEST(BurstStream, pauses_between_bursts) {
  StreamTrial trial(Reception::block);
  trial.publisher.load = {.kind = LoadKind::burst, .burst = 10, .recovery_s = 0.01};
  trial.publisher.samples = 50;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  EXPECT_EQ(results.subscribers.at(0).received, 50U);
  const auto sent = records<Sending>(folder, "publisher-0.npy");
  ASSERT_EQ(sent.size(), 50U);
  for (std::size_t burst = 1; burst < 5; ++burst) {
    EXPECT_GE(sent[burst * 10].begin_ns - sent[burst * 10 - 1].begin_ns, 10'000'000U);
  }
}

TEST(Stream, messages_beyond_the_records_are_in_the_histogram) {
  StreamTrial trial(Reception::block);
  trial.publisher.samples = 500;
  trial.kept = 200;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  EXPECT_EQ(results.subscribers.at(0).received, 500U);
  EXPECT_EQ(results.subscribers.at(0).samples, 200U);
  EXPECT_EQ(results.subscribers.at(0).in_histogram, 300U);
  EXPECT_EQ(results.publishers.at(0).in_histogram, 300U);
  std::uint64_t counted = 0;
  for (const auto& bucket : records<Bucket>(folder, "subscriber-0.histogram.npy")) counted += bucket.count;
  EXPECT_EQ(counted, 300U);
  EXPECT_EQ(records<Arrival>(folder, "subscriber-0.npy").size(), 200U);
}

TEST(Stream, reports_contain_every_latency_once_while_it_runs_and_after_its_end) {
  StreamTrial trial(Reception::block);
  trial.publisher.samples = 20'000;
  trial.kept = 5'000;  // later messages are in the histogram
  const TemporaryFolder folder;
  Configuration configuration = trial.configuration(folder.string());
  configuration.latencies = true;
  AdapterSession<SharedMemory> session(configuration, test::calibrated_clock());
  ASSERT_EQ(session.waiting_for(), "");
  AccountReader reader;
  std::uint64_t counted = 0;
  std::uint64_t longest_ns = 0;
  const auto report = [&] {
    const Account account = reader.read(session);
    ASSERT_EQ(account.latencies.size(), 1U);
    EXPECT_EQ(account.latencies[0].role, RoleKind::subscriber);
    for (const auto& [lower_ns, count] : account.latencies[0].buckets) counted += count;
    longest_ns = std::max(longest_ns, account.latencies[0].max_ns);
  };
  session.start();
  while (!session.ended()) report();
  report();
  const Results results = test::sorted(session.conclude());
  EXPECT_EQ(counted, results.subscribers.at(0).received);
  const auto exact_ns = static_cast<double>(results.subscribers.at(0).one_way_max_ns.value());
  EXPECT_NEAR(static_cast<double>(longest_ns), exact_ns, 0.008 * exact_ns + 1);
}

TEST(Stream, reports_contain_no_latencies_unless_the_launcher_asks_for_them) {
  StreamTrial trial(Reception::block);
  trial.publisher.samples = 10;
  const TemporaryFolder folder;
  AdapterSession<SharedMemory> session(trial.configuration(folder.string()), test::calibrated_clock());
  AccountReader reader;
  EXPECT_TRUE(reader.read(session).latencies.empty());
}

TEST(Stream, ends_when_stopped_and_still_delivers_all_sent_messages) {
  StreamTrial trial(Reception::block);
  trial.publisher.samples = 1'000'000'000;
  const TemporaryFolder folder;
  AdapterSession<SharedMemory> session(trial.configuration(folder.string()), test::calibrated_clock());
  ASSERT_EQ(session.waiting_for(), "");
  session.start();
  while (!session.measures()) sched_yield();
  session.request_stop();
  while (!session.ended()) sched_yield();
  const Results results = test::sorted(session.conclude());
  EXPECT_EQ(results.publishers.at(0).ended, Ended::stopped);
  EXPECT_GT(results.publishers.at(0).sent, 0U);
  EXPECT_EQ(results.subscribers.at(0).received, results.publishers.at(0).sent);
}

TEST(Stream, one_way_quantiles_are_those_of_the_records) {
  StreamTrial trial(Reception::block);
  trial.publisher.load = {.kind = LoadKind::rate, .rate_hz = 10'000};
  trial.publisher.samples = 1000;
  const TemporaryFolder folder;
  const Results results = run_stream<SharedMemory>(trial, folder);
  auto arrived = records<Arrival>(folder, "subscriber-0.npy");
  ASSERT_EQ(arrived.size(), 1000U);
  std::ranges::sort(arrived, {}, &Arrival::one_way_ns);
  const auto within = [](std::uint64_t value, std::uint64_t exact) {
    EXPECT_NEAR(static_cast<double>(value), static_cast<double>(exact), 0.008 * static_cast<double>(exact) + 1);
  };
  within(results.subscribers[0].one_way_p50_ns.value(), arrived[499].one_way_ns);
  within(results.subscribers[0].one_way_p99_ns.value(), arrived[989].one_way_ns);
  EXPECT_EQ(results.subscribers[0].one_way_max_ns, arrived[999].one_way_ns);
}

}  // namespace
}  // namespace middlemark::stream_test
