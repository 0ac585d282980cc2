// Runs a whole stream or request/reply within this process, through the session that a worker uses.
#pragma once

#include <time.h>

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/session.hpp>

#include "support/temporary_folder.hpp"
#include "support/topics.hpp"
#include "support/trial.hpp"

namespace middlemark::test {

/// The parameters of a trial. The publishers and subscribers of `settings` are distributed over the topics.
struct StreamTrial {
  Settings settings;
  unsigned topics = 1;
  PublisherRequest publisher;
  std::uint64_t kept = 1'000'000;
  std::string sizes_path;  ///< TopicRequest::sizes_path of every topic

  explicit StreamTrial(Reception reception, std::size_t message_bytes = 64)
      : settings(trial_settings(reception, message_bytes)) {
    settings.pattern = Pattern::stream;
    settings.depth = std::nullopt;
    settings.workers = 1;
    publisher.samples = 1000;
    publisher.warmup_s = 0.01;
    publisher.limit_s = 60;
  }

  [[nodiscard]] Configuration configuration(const std::string& folder) const {
    Configuration made;
    made.settings = settings;
    made.settings.topics = topics_of(settings, topics);
    for (TopicRequest& topic : made.settings.topics) topic.sizes_path = sizes_path;
    for (unsigned i = 0; i < settings.subscribers; ++i) {
      SubscriberRequest subscriber;
      subscriber.index = i;
      subscriber.topic = i % topics;
      subscriber.payload = publisher.payload;
      subscriber.kept = kept;
      subscriber.samples_path = folder + "/subscriber-" + std::to_string(i) + ".npy";
      made.roles.emplace_back(subscriber);
    }
    for (unsigned i = 0; i < settings.publishers; ++i) {
      PublisherRequest one = publisher;
      one.index = i;
      one.topic = i % topics;
      one.kept = kept;
      one.samples_path = folder + "/publisher-" + std::to_string(i) + ".npy";
      made.roles.emplace_back(one);
    }
    return made;
  }
};

struct Results {
  std::vector<PublisherResult> publishers;
  std::vector<SubscriberResult> subscribers;
  std::vector<ClientResult> clients;
  std::vector<ServerResult> servers;
};

template <class Result>
[[nodiscard]] std::vector<Result> of_kind(const std::vector<Concluded>& roles) {
  std::vector<Result> found;
  for (const Concluded& role : roles) {
    if (const auto* result = std::get_if<Result>(&role.result)) found.push_back(*result);
  }
  return found;
}

[[nodiscard]] inline Results sorted(const std::vector<Concluded>& roles) {
  return {of_kind<PublisherResult>(roles), of_kind<SubscriberResult>(roles), of_kind<ClientResult>(roles),
          of_kind<ServerResult>(roles)};
}

[[nodiscard]] inline Results run_to_the_end(Session& session) {
  EXPECT_EQ(session.waiting_for(), "");
  session.start();
  while (!session.ended()) {
    const timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
  }
  return sorted(session.conclude());
}

template <Adapter A>
[[nodiscard]] Results run_stream(const StreamTrial& trial, const TemporaryFolder& folder) {
  AdapterSession<A> session(trial.configuration(folder.string()), calibrated_clock());
  return run_to_the_end(session);
}

}  // namespace middlemark::test
