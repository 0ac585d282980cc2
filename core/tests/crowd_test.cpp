// Tests crowds of the null adapter: who hears whom, the phases, and what a participant counts.
#include <middlemark/crowd.hpp>

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "null/adapter.hpp"
#include "support/stream.hpp"

namespace middlemark::crowd_test {
namespace {

using test::calibrated_clock;
using test::TemporaryFolder;

constexpr std::uint64_t messages = 3;

void nap() {
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
}

struct Trial {
  TemporaryFolder folder;
  Settings settings = test::trial_settings(Reception::block);
  bool storms = false;

  Trial(unsigned participants, unsigned topics, Subscribe subscribe) {
    settings.pattern = Pattern::crowd;
    settings.transport = "memory";
    settings.one_process = false;
    settings.depth = 1;
    settings.participants = participants;
    settings.topics_each = topics;
    settings.subscribe = subscribe;
    settings.participants_per_process = participants;
    settings.workers = participants;
  }

  [[nodiscard]] Configuration configuration() const {
    Configuration made;
    made.settings = settings;
    for (unsigned index = 0; index < settings.participants; ++index) {
      ParticipantRequest request;
      request.index = index;
      request.payload = Payload::filled;
      request.probe_s = 0.002;
      request.idle_s = 0.02;
      request.rate_hz = 100;
      request.messages = messages;
      if (settings.participants > 1) request.samples_path = path(index);
      request.storms = storms;
      made.roles.emplace_back(request);
    }
    return made;
  }
  /// The configuration of the participant that joins the others.
  [[nodiscard]] Configuration newcomer() const {
    Configuration made = configuration();
    auto request = std::get<ParticipantRequest>(made.roles[0]);
    request.index = settings.participants;
    request.samples_path = "";
    made.roles = {request};
    return made;
  }
  [[nodiscard]] std::string path(unsigned index) const { return folder / (std::to_string(index) + ".npy"); }
};

void talk(CrowdSession<Null>& session) {
  session.enter({.phase = CrowdPhase::talk, .at_ns = monotonic_ns() + 40'000'000});
}

/// Waits at most 20 s until the participants have `found` peers each. Returns whether they have.
bool reaches(const CrowdSession<Null>& session, std::size_t found) {
  for (unsigned waited = 0; waited < 20'000; ++waited) {
    const std::vector<Peers> peers = session.peers();
    if (std::ranges::all_of(peers, [found](const Peers& each) { return each.found == found; })) return true;
    nap();
  }
  return false;
}

/// Runs a crowd. Starts it when all participants are complete, or after `longest_ms`.
std::vector<ParticipantResult> run(const Trial& trial, unsigned longest_ms = 20'000) {
  CrowdSession<Null> session(trial.configuration(), calibrated_clock());
  EXPECT_TRUE(session.run_early());
  for (unsigned waited = 0; waited < longest_ms && !session.waiting_for().empty(); ++waited) nap();
  session.start();
  talk(session);
  while (!session.ended()) nap();
  return test::of_kind<ParticipantResult>(session.conclude());
}

TEST(Crowd, participants_hear_the_topics_of_the_next_one) {
  const Trial trial(3, 2, Subscribe::next);
  const std::vector<ParticipantResult> results = run(trial);
  ASSERT_EQ(results.size(), 3U);
  for (const ParticipantResult& each : results) {
    EXPECT_EQ(each.publishers_due, 2U);
    EXPECT_EQ(each.publishers_heard, 2U);
    EXPECT_GT(each.opened_ns, each.opening_ns);
    EXPECT_GT(each.complete_ns, each.opening_ns);
    EXPECT_LT(each.complete_ns, each.first_sent_ns);
    EXPECT_GT(each.probes, 0U);
    EXPECT_EQ(each.sent, 2 * messages);
    EXPECT_EQ(each.expected, 2 * messages);
    EXPECT_EQ(each.received, 2 * messages);
    EXPECT_EQ(each.samples, 2 * messages);
    EXPECT_EQ(each.publish_failed + each.duplicated + each.reordered + each.damaged, 0U);
    EXPECT_EQ(each.ended, Ended::complete);
    EXPECT_TRUE(std::filesystem::exists(trial.path(each.index)));
  }
}

TEST(Crowd, participants_hear_all_others_on_the_middlewares_threads) {
  Trial trial(4, 1, Subscribe::all);
  trial.settings.reception = Reception::listen;
  for (const ParticipantResult& each : run(trial)) {
    EXPECT_EQ(each.publishers_due, 3U);
    EXPECT_EQ(each.publishers_heard, 3U);
    EXPECT_EQ(each.received, 3 * messages);
  }
}

TEST(Crowd, of_one_participant_has_nobody_to_hear) {
  const Trial trial(1, 2, Subscribe::all);
  const std::vector<ParticipantResult> results = run(trial);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].publishers_due, 0U);
  EXPECT_EQ(results[0].complete_ns, 0U);
  EXPECT_EQ(results[0].sent, 2 * messages);
  EXPECT_EQ(results[0].received, 0U);
  EXPECT_TRUE(trial.folder.empty());
}

TEST(Crowd, whose_publishers_find_nobody_is_never_complete) {
  Trial trial(2, 1, Subscribe::next);
  trial.settings.native = {{"fail", "match"}};
  for (const ParticipantResult& each : run(trial, 50)) {
    EXPECT_EQ(each.publishers_due, 1U);
    EXPECT_EQ(each.publishers_heard, 0U);
    EXPECT_EQ(each.complete_ns, 0U);
    EXPECT_EQ(each.probes, 0U);
  }
}

TEST(Crowd, counts_a_lost_and_a_damaged_message) {
  Trial trial(2, 1, Subscribe::next);
  trial.settings.native = {{"lose", "2"}, {"damage", "3"}};
  for (const ParticipantResult& each : run(trial)) {
    EXPECT_EQ(each.sent, messages);
    EXPECT_EQ(each.received, messages - 1);
    EXPECT_EQ(each.damaged, 1U);
    EXPECT_EQ(each.samples, messages - 2);
    EXPECT_EQ(each.ended, Ended::quiet);
  }
}

TEST(Crowd, ends_when_it_is_stopped_before_the_start) {
  const Trial trial(2, 1, Subscribe::next);
  CrowdSession<Null> session(trial.configuration(), calibrated_clock());
  session.run_early();
  session.request_stop();
  while (!session.ended()) nap();
  for (const ParticipantResult& each : test::of_kind<ParticipantResult>(session.conclude())) {
    EXPECT_EQ(each.ended, Ended::stopped);
    EXPECT_EQ(each.sent, 0U);
  }
}

TEST(Crowd, a_newcomer_hears_the_first_participant_and_does_not_count) {
  const Trial trial(3, 2, Subscribe::next);
  CrowdSession<Null> session(trial.configuration(), calibrated_clock());
  session.run_early();
  while (!session.waiting_for().empty()) nap();
  session.start();
  session.enter({.phase = CrowdPhase::join});
  {
    CrowdSession<Null> newcomer(trial.newcomer(), calibrated_clock());
    EXPECT_TRUE(newcomer.run_early());
    EXPECT_NE(newcomer.waiting_for(), "");
    for (unsigned waited = 0; waited < 20'000 && !newcomer.waiting_for().empty(); ++waited) nap();
    EXPECT_EQ(newcomer.waiting_for(), "");
    talk(session);
    while (!session.ended()) nap();
  }
  for (const ParticipantResult& each : test::of_kind<ParticipantResult>(session.conclude())) {
    EXPECT_EQ(each.publishers_due, 2U);
    EXPECT_EQ(each.sent, 2 * messages);
    EXPECT_EQ(each.received, 2 * messages);
    EXPECT_EQ(each.duplicated + each.reordered + each.damaged, 0U);
  }
}

TEST(Crowd, a_newcomer_hears_all_others_also_one) {
  for (const unsigned participants : {1U, 4U}) {
    const Trial trial(participants, 1, Subscribe::all);
    const std::vector<Topic> used = participant_endpoints(trial.settings, participants);
    ASSERT_EQ(used.size(), participants + 1);
    EXPECT_EQ(used.front().subscribers, participants);
    EXPECT_EQ(used.back().subscribers, 0U);
    EXPECT_EQ(crowd_place(trial.settings, 0, participants), participants - 1);
  }
}

TEST(Crowd, sends_nothing_new_until_the_talk_is_announced) {
  const Trial trial(2, 1, Subscribe::next);
  CrowdSession<Null> session(trial.configuration(), calibrated_clock());
  session.run_early();
  while (!session.waiting_for().empty()) nap();
  session.start();
  for (unsigned waited = 0; waited < 60; ++waited) nap();
  EXPECT_FALSE(session.ended());
  for (const auto& role : session.roles()) EXPECT_EQ(role->progress.phase.load(), Phase::joining);
  const std::uint64_t announced = monotonic_ns();
  talk(session);
  while (!session.ended()) nap();
  for (const ParticipantResult& each : test::of_kind<ParticipantResult>(session.conclude())) {
    EXPECT_GE(each.first_sent_ns, announced + 40'000'000);
  }
}

TEST(Crowd, hears_its_publishers_again_after_a_storm) {
  Trial trial(3, 2, Subscribe::next);
  trial.storms = true;
  CrowdSession<Null> session(trial.configuration(), calibrated_clock());
  session.run_early();
  while (!session.waiting_for().empty()) nap();
  session.start();
  talk(session);
  const auto sent = [&session] {
    return std::ranges::all_of(session.roles(),
                               [](const auto& role) { return role->progress.received.load() == 2 * messages; });
  };
  while (!sent()) nap();
  EXPECT_FALSE(session.ended());
  session.enter({.phase = CrowdPhase::storm});
  EXPECT_TRUE(reaches(session, 2));
  session.request_stop();
  while (!session.ended()) nap();
  for (const ParticipantResult& each : test::of_kind<ParticipantResult>(session.conclude())) {
    EXPECT_EQ(each.received, 2 * messages);
    EXPECT_EQ(each.ended, Ended::complete);
  }
}

TEST(Crowd, reports_the_subscribers_of_its_topics_after_its_end) {
  const Trial trial(3, 2, Subscribe::all);
  CrowdSession<Null> session(trial.configuration(), calibrated_clock());
  session.run_early();
  while (!session.waiting_for().empty()) nap();
  session.start();
  talk(session);
  while (!session.ended()) nap();
  static_cast<void>(session.conclude());
  session.enter({.phase = CrowdPhase::leave});
  EXPECT_TRUE(reaches(session, 4));
}

TEST(Crowd, gives_each_participant_only_the_topics_that_it_uses) {
  const Trial trial(5, 2, Subscribe::next);
  const std::vector<Topic> last = participant_endpoints(trial.settings, 4);
  ASSERT_EQ(last.size(), 4U);
  EXPECT_EQ(last[0].name, trial.settings.scope + "_crowd0_0");
  EXPECT_EQ(last[0].subscribers_here, 1U);
  EXPECT_EQ(last[0].publishers_here, 0U);
  EXPECT_EQ(last[3].name, trial.settings.scope + "_crowd4_1");
  EXPECT_EQ(last[3].publishers_here, 1U);
  EXPECT_EQ(last[3].subscribers, 1U);
  Configuration none;
  none.settings = trial.settings;
  EXPECT_EQ(endpoints_of(none, false).size(), 10U);
}

TEST(Crowd, numbers_the_subscribers_of_a_topic_without_gaps) {
  const Trial trial(4, 1, Subscribe::all);
  std::vector<unsigned> places;
  for (unsigned participant = 0; participant <= 4; ++participant) {  // the last one is the newcomer
    for (const unsigned owner : crowd_sources(trial.settings, participant)) {
      if (owner == 2) places.push_back(crowd_place(trial.settings, owner, participant));
    }
  }
  EXPECT_EQ(places, (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(crowd_topic(trial.settings, 2, 0).subscribers, 4U);
}

}  // namespace
}  // namespace middlemark::crowd_test
