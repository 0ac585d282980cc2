// Tests the null adapter, which is for tests of the core: each fault occurs exactly at the requested messages.
#include <middlemark/adapter.hpp>

#include <time.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/resources.hpp>

#include "null/adapter.hpp"
#include "support/topics.hpp"

namespace middlemark::null_script_test {
namespace {

using test::topics_of;
using Script = std::map<std::string, std::string>;
using Sequences = std::vector<std::uint64_t>;

Settings scripted(Pattern pattern, Script script, unsigned publishers = 1, unsigned subscribers = 1) {
  static int trials = 0;
  Settings settings;
  settings.pattern = pattern;
  settings.transport = "memory";
  settings.message_bytes = 64;
  settings.publishers = publishers;
  settings.subscribers = subscribers;
  settings.one_process = true;
  settings.scope = "mmtest_" + std::to_string(getpid()) + "_" + std::to_string(++trials);
  settings.native = std::move(script);
  if (pattern == Pattern::stream) settings.topics = topics_of(settings, 1);
  return settings;
}

Topic stream_of(const Settings& settings, unsigned topic = 0) {
  return {settings.scope + "_stream" + std::to_string(topic),
          settings.message_bytes,
          static_cast<unsigned>(settings.topics[topic].publishers.size()),
          static_cast<unsigned>(settings.topics[topic].subscribers.size()),
          settings.depth,
          settings.reliability};
}

template <class Outgoing>
Published publish(Outgoing& outgoing, unsigned publisher_id, std::uint64_t sequence, bool warm_up = false) {
  const Header header = Header::make(publisher_id, warm_up, sequence, 0);
  const std::span<std::byte> message = outgoing.loan(64);
  fill_payload(message, header);
  write_header(message, header);
  return outgoing.publish();
}

/// The messages of one take(), by publisher id.
struct Taken {
  std::map<unsigned, Sequences> sequences;
  Sequences damaged;
  Sequences shortened;

  void operator()(std::span<const std::byte> message) noexcept {
    const Header header = read_header(message);
    sequences[header.publisher_id()].push_back(header.sequence());
    if (message.size() != 64) {
      shortened.push_back(header.sequence());
    } else if (!payload_intact(message, header)) {
      damaged.push_back(header.sequence());
    }
  }
};

template <class Incoming>
Taken take(Incoming& incoming) {
  Taken taken;
  incoming.take(taken);
  return taken;
}

/// Sends messages 1 to 8 from one publisher. Returns the messages that each subscriber received.
std::vector<Taken> send_eight(const Settings& settings) {
  Null adapter(settings);
  std::vector<std::unique_ptr<Null::Subscriber>> subscribers;
  for (unsigned i = 0; i < settings.subscribers; ++i) {
    subscribers.emplace_back(new Null::Subscriber(adapter.subscriber(stream_of(settings), i)));
  }
  Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
  for (std::uint64_t n = 1; n <= 8; ++n) EXPECT_EQ(publish(publisher, 0, n), Published::ok);
  std::vector<Taken> taken;
  for (const auto& each : subscribers) taken.push_back(take(*each));
  return taken;
}

TEST(AScript, causes_loss_duplicates_reordering_and_damage_at_the_requested_sequences) {
  const Script script{{"lose", "2"}, {"duplicate", "3"}, {"reorder", "4"}, {"damage", "6"}, {"shorten", "7"}};
  const Taken taken = send_eight(scripted(Pattern::stream, script)).front();
  EXPECT_EQ(taken.sequences.at(0), (Sequences{1, 3, 3, 5, 4, 6, 7, 8}));
  EXPECT_EQ(taken.damaged, Sequences{6});
  EXPECT_EQ(taken.shortened, Sequences{7});
}

TEST(AScript, delays_every_message_by_nanoseconds) {
  const Settings settings = scripted(Pattern::stream, {{"every_delay_ns", "300500"}});
  Null adapter(settings);
  Null::Subscriber subscriber = adapter.subscriber(stream_of(settings), 0);
  Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
  for (std::uint64_t n = 1; n <= 8; ++n) {
    const std::uint64_t begin = monotonic_ns();
    EXPECT_EQ(publish(publisher, 0, n), Published::ok);
    EXPECT_GE(monotonic_ns() - begin, 300'500U);
  }
  EXPECT_EQ(take(subscriber).sequences.at(0).size(), 8U);
}

TEST(AScript, also_works_under_best_effort) {
  Settings settings = scripted(Pattern::stream, {{"lose", "2"}, {"duplicate", "3"}});
  settings.reliability = Reliability::best_effort;
  EXPECT_EQ(send_eight(settings).front().sequences.at(0), (Sequences{1, 3, 3, 4, 5, 6, 7, 8}));
}

TEST(AScript, for_one_subscriber_does_not_affect_the_others) {
  const Script script{{"lose", "2"}, {"damage", "5"}, {"only_subscriber", "1"}};
  const std::vector<Taken> taken = send_eight(scripted(Pattern::stream, script, 1, 3));
  EXPECT_EQ(taken[1].sequences.at(0), (Sequences{1, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(taken[1].damaged, Sequences{5});
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(taken[other].sequences.at(0), (Sequences{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_TRUE(taken[other].damaged.empty());
  }
}

TEST(AScript, for_one_publisher_uses_its_index_among_all_topics) {
  Settings settings = scripted(Pattern::stream, {{"lose", "1"}, {"only_publisher", "3"}}, 4, 2);
  settings.topics = topics_of(settings, 2);
  Null adapter(settings);
  for (const unsigned topic : {0U, 1U}) {
    Null::Subscriber subscriber = adapter.subscriber(stream_of(settings, topic), 0);
    Null::Publisher first = adapter.publisher(stream_of(settings, topic), 0);
    Null::Publisher second = adapter.publisher(stream_of(settings, topic), 1);
    publish(first, topic, 1);
    publish(second, 2 + topic, 1);
    const Taken taken = take(subscriber);
    EXPECT_TRUE(taken.sequences.contains(topic));
    EXPECT_EQ(taken.sequences.contains(2 + topic), topic == 0) << "publisher 3 is the second one of topic 1";
  }
}

TEST(AScript, never_touches_a_warm_up_message) {
  const Settings settings = scripted(Pattern::stream, {{"lose", "1"}, {"refuse", "2"}});
  Null adapter(settings);
  Null::Subscriber subscriber = adapter.subscriber(stream_of(settings), 0);
  Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
  EXPECT_EQ(publish(publisher, 0, 1, true), Published::ok);
  EXPECT_EQ(publish(publisher, 0, 2, true), Published::ok);
  EXPECT_EQ(publish(publisher, 0, 2), Published::failed);
  EXPECT_EQ(take(subscriber).sequences.at(0), (Sequences{1, 2}));
}

TEST(AScript, stalls_the_subscriber_before_the_message_is_visited) {
  const Settings settings = scripted(Pattern::stream, {{"stall", "2:30"}});
  Null adapter(settings);
  Null::Subscriber subscriber = adapter.subscriber(stream_of(settings), 0);
  Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
  for (const std::uint64_t n : {1U, 2U}) publish(publisher, 0, n);
  std::vector<std::uint64_t> at_ns;
  auto stamp = [&](std::span<const std::byte> /*message*/) noexcept { at_ns.push_back(monotonic_ns()); };
  subscriber.take(stamp);
  ASSERT_EQ(at_ns.size(), 2U);
  EXPECT_GE(at_ns[1] - at_ns[0], 30'000'000U);
}

TEST(AScript, uses_the_requested_processor_time_per_message) {
  const Settings settings = scripted(Pattern::stream, {{"burn_us", "2000"}});
  Null adapter(settings);
  Null::Subscriber subscriber = adapter.subscriber(stream_of(settings), 0);
  Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
  const auto processor_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  };
  const auto before = processor_ns();
  for (std::uint64_t n = 1; n <= 8; ++n) publish(publisher, 0, n);
  EXPECT_GE(processor_ns() - before, 16'000'000);
}

TEST(AQueue, that_is_full_blocks_a_reliable_publisher_and_drops_under_best_effort) {
  for (const Reliability reliability : {Reliability::reliable, Reliability::best_effort}) {
    Settings settings = scripted(Pattern::stream, {{"slots", "2"}});
    settings.reliability = reliability;
    settings.write_timeout = std::chrono::milliseconds(5);
    Null adapter(settings);
    Null::Subscriber subscriber = adapter.subscriber(stream_of(settings), 0);
    Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
    publish(publisher, 0, 1);
    publish(publisher, 0, 2);
    EXPECT_EQ(publish(publisher, 0, 3), reliability == Reliability::reliable ? Published::timed_out : Published::ok);
    EXPECT_EQ(take(subscriber).sequences.at(0), (Sequences{1, 2}));
  }
}

TEST(AQueue, that_is_full_drops_no_message_that_a_script_adds) {
  Settings settings = scripted(Pattern::stream, {{"slots", "1"}, {"duplicate", "1"}});
  settings.reliability = Reliability::best_effort;
  settings.write_timeout = std::chrono::milliseconds(5);
  Null adapter(settings);
  Null::Subscriber subscriber = adapter.subscriber(stream_of(settings), 0);
  Null::Publisher publisher = adapter.publisher(stream_of(settings), 0);
  EXPECT_EQ(publish(publisher, 0, 1), Published::timed_out);
  EXPECT_EQ(take(subscriber).sequences.at(0), Sequences{1});
}

TEST(AServer, answers_the_client_whose_request_it_visits) {
  for (const bool listens : {false, true}) {
    const Settings settings = scripted(Pattern::request_reply, {}, 3);
    const Topic service{settings.scope + "_service", settings.message_bytes, 3, 1};
    Null adapter(settings);
    null::Server server = adapter.server(service, 0);
    std::vector<std::unique_ptr<null::Client>> clients;
    for (unsigned i = 0; i < 3; ++i) clients.emplace_back(new null::Client(adapter.client(service, i)));
    EXPECT_EQ(server.matched(), 3U);
    auto reply = [&](std::span<const std::byte> request) noexcept {
      publish(server, 7, read_header(request).sequence());
    };
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(clients[i]->matched(), 1U);
      publish(*clients[i], i, 10 + i);
    }
    if (listens) {
      server.listen(Listener(reply));
      for (const auto& each : clients) {
        while (!each->wait(std::chrono::seconds(1))) {
        }
      }
      server.silence();
    } else {
      EXPECT_EQ(server.take(reply), 3U);
    }
    for (unsigned i = 0; i < 3; ++i)
      EXPECT_EQ(take(*clients[i]).sequences, (std::map<unsigned, Sequences>{{7, {10 + i}}}));
  }
}

TEST(AServer, applies_its_script_only_to_the_requested_client) {
  const Settings settings = scripted(Pattern::request_reply, {{"lose", "1"}, {"only_subscriber", "1"}}, 2);
  const Topic service{settings.scope + "_service", settings.message_bytes, 2, 1};
  Null adapter(settings);
  null::Server server = adapter.server(service, 0);
  null::Client well(adapter.client(service, 0));
  null::Client badly(adapter.client(service, 1));
  auto reply = [&](std::span<const std::byte> request) noexcept {
    publish(server, 0, read_header(request).sequence());
  };
  publish(well, 0, 1);
  publish(badly, 1, 1);
  EXPECT_EQ(server.take(reply), 2U);
  EXPECT_EQ(take(well).sequences.size(), 1U);
  EXPECT_EQ(take(badly).sequences.size(), 0U);
}

TEST(AScript, that_names_a_role_of_another_pattern_is_refused) {
  EXPECT_THROW(Null(scripted(Pattern::stream, {{"at", "pong"}})), AdapterError);
  EXPECT_THROW(Null(scripted(Pattern::ping_pong, {{"at", "publisher"}})), AdapterError);
  EXPECT_THROW(Null(scripted(Pattern::stream, {{"stall", "3"}})), AdapterError);
  EXPECT_THROW(Null(scripted(Pattern::stream, {{"slots", "0"}})), AdapterError);
}

std::chrono::nanoseconds time_of(auto&& call) {
  const std::uint64_t begin = monotonic_ns();
  call();
  return std::chrono::nanoseconds(monotonic_ns() - begin);
}

TEST(AScript, a_drift_makes_each_publish_slower_than_the_one_before) {
  const Settings settings = scripted(Pattern::stream, {{"drift_ns", "1000"}, {"slots", "64"}});
  Null adapter(settings);
  auto subscriber = adapter.subscriber(stream_of(settings), 0);
  auto publisher = adapter.publisher(stream_of(settings), 0);
  EXPECT_GE(time_of([&] { publish(publisher, 0, 20'000); }), std::chrono::milliseconds(20));
  EXPECT_GE(time_of([&] { publish(publisher, 0, 40'000); }), std::chrono::milliseconds(40));
}

TEST(AScript, a_leak_grows_by_its_bytes_with_each_measured_publish) {
  const Settings settings = scripted(Pattern::stream, {{"leak_bytes", "1048576"}, {"slots", "64"}});
  Null adapter(settings);
  auto subscriber = adapter.subscriber(stream_of(settings), 0);
  auto publisher = adapter.publisher(stream_of(settings), 0);
  ResourceReader reader;
  const std::uint64_t before = reader.read().private_bytes.value();
  for (std::uint64_t sequence = 1; sequence <= 8; ++sequence) publish(publisher, 0, sequence, true);
  const std::uint64_t warm = reader.read().private_bytes.value();
  EXPECT_LT(warm - before, std::uint64_t{4} << 20) << "warm-up messages leak nothing";
  for (std::uint64_t sequence = 1; sequence <= 8; ++sequence) publish(publisher, 0, sequence);
  EXPECT_GE(reader.read().private_bytes.value(), warm + (std::uint64_t{6} << 20))
      << "the kernel counts a few pages late";
}

TEST(AScript, stalls_recur_at_every_multiple_of_their_number) {
  const Settings settings =
      scripted(Pattern::stream, {{"stall_every", "3"}, {"stall_every_ms", "20"}, {"slots", "64"}});
  Null adapter(settings);
  auto subscriber = adapter.subscriber(stream_of(settings), 0);
  auto publisher = adapter.publisher(stream_of(settings), 0);
  for (std::uint64_t sequence = 1; sequence <= 7; ++sequence) publish(publisher, 0, sequence);
  Taken taken;
  EXPECT_GE(time_of([&] { subscriber.take(taken); }), std::chrono::milliseconds(40)) << "messages 3 and 6";
  EXPECT_EQ(taken.sequences[0], (Sequences{1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace middlemark::null_script_test
