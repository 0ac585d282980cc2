// Tests chains: a node forwards messages, and the worker reports the end of each role.
#include <middlemark/session.hpp>

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "shm/adapter.hpp"
#include "support/records.hpp"
#include "support/stream.hpp"

namespace middlemark::forward_test {
namespace {

using test::calibrated_clock;
using test::records;
using test::StreamTrial;
using test::TemporaryFolder;

constexpr std::uint64_t messages = 200;
constexpr double work_s = 0.0005;

/// A chain camera → detector → planner, whose two topics have different sizes, depths and reliability.
Configuration chain(const TemporaryFolder& folder) {
  StreamTrial trial(Reception::block, 4096);
  trial.settings.publishers = trial.settings.subscribers = 2;
  trial.settings.topics = {{.message_bytes = 4096, .publishers = {0}, .subscribers = {0}, .depth = std::nullopt},
                           {.message_bytes = 64,
                            .publishers = {1},
                            .subscribers = {1},
                            .reliability = Reliability::best_effort,
                            .depth = 50}};
  PublisherRequest camera = trial.publisher;
  camera.samples = messages;
  camera.load = {.kind = LoadKind::rate, .rate_hz = 1000};
  camera.kept = 1000;
  camera.samples_path = folder.string() + "/camera.npy";
  SubscriberRequest detector;
  detector.kept = 1000;
  detector.samples_path = folder.string() + "/detector.npy";
  detector.forwards = {
      {.index = 1, .topic = 1, .work_s = work_s, .samples_path = folder.string() + "/found.npy", .kept = 1000}};
  SubscriberRequest planner;
  planner.index = 1;
  planner.topic = 1;
  planner.kept = 1000;
  planner.samples_path = folder.string() + "/planner.npy";
  Configuration configuration{trial.settings, {}, 10, {planner, detector, camera}, true};
  return configuration;
}

EndedEvent next_end(Session& session) {
  for (;;) {
    const std::vector<EndedEvent> ends = session.new_ends();
    EXPECT_LE(ends.size(), 1U);
    if (!ends.empty()) return ends.front();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(AChain, forwards_each_message_after_its_work_and_ends_topic_by_topic) {
  const TemporaryFolder folder;
  AdapterSession<SharedMemory> session(chain(folder), calibrated_clock());
  EXPECT_EQ(session.waiting_for(), "");
  session.start();
  const EndedEvent camera = next_end(session);
  EXPECT_EQ(camera.role, RoleKind::publisher);
  EXPECT_EQ(camera.sent, messages);
  EXPECT_FALSE(session.all_stopping());
  session.request_stop(std::vector<unsigned>{0}, camera.sent);
  const EndedEvent detector = next_end(session);
  EXPECT_EQ(detector.role, RoleKind::subscriber);
  EXPECT_EQ(detector.index, 0U);
  EXPECT_EQ(detector.forwarded, std::vector<std::uint64_t>{messages});
  session.request_stop(std::vector<unsigned>{1}, detector.forwarded.front());
  EXPECT_TRUE(session.all_stopping());
  EXPECT_EQ(next_end(session).index, 1U);
  EXPECT_TRUE(session.ended());
  const auto results = test::sorted(session.conclude());
  ASSERT_EQ(results.publishers.size(), 2U);
  EXPECT_EQ(results.publishers[1].index, 1U);
  EXPECT_EQ(results.publishers[1].topic, 1U);
  EXPECT_EQ(results.publishers[1].sent, messages);
  for (const SubscriberResult& each : results.subscribers) {
    EXPECT_EQ(each.received, messages);
    EXPECT_EQ(each.ended, Ended::complete);
    EXPECT_EQ(each.damaged + each.duplicated + each.reordered, 0U);
  }
  const auto arrived = records<Arrival>(folder, "detector.npy");
  const auto sent = records<Sending>(folder, "found.npy");
  const auto planned = records<Arrival>(folder, "planner.npy");
  ASSERT_EQ(arrived.size(), messages);
  ASSERT_EQ(sent.size(), messages);
  ASSERT_EQ(planned.size(), messages);
  for (std::size_t i = 0; i < messages; ++i) {
    EXPECT_EQ(planned[i].stamp, Header::make(1, false, i + 1, 0).stamp);
    // The planner receives the message after the detector has received it and worked. The one-way latency counts from the
    // end of the work.
    EXPECT_GE(planned[i].received_ns, arrived[i].received_ns + static_cast<std::uint64_t>(work_s * 1e9));
    EXPECT_GE(planned[i].one_way_ns + 1000, sent[i].late_ns);
  }
}

TEST(AChain, ends_when_all_its_roles_are_stopped_at_once) {
  const TemporaryFolder folder;
  Configuration configuration = chain(folder);
  std::get<PublisherRequest>(configuration.roles.back()).samples = 1'000'000;
  AdapterSession<SharedMemory> session(configuration, calibrated_clock());
  EXPECT_EQ(session.waiting_for(), "");
  session.start();
  session.request_stop();
  while (!session.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(session.conclude().size(), 4U);
}

}  // namespace
}  // namespace middlemark::forward_test
