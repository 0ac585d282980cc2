#include <middlemark/endpoints.hpp>

#include <gtest/gtest.h>

namespace middlemark::endpoints_test {
namespace {

Configuration trial(Pattern pattern) {
  Configuration configuration;
  configuration.settings.pattern = pattern;
  configuration.settings.scope = "mm";
  configuration.settings.message_bytes = 64;
  configuration.settings.depth = 8;
  return configuration;
}

TEST(Endpoints, of_ping_pong_are_one_topic_per_direction) {
  Configuration configuration = trial(Pattern::ping_pong);
  configuration.settings.subscribers = 3;
  PongRequest first;
  first.echoing = 1;
  PongRequest second = first;
  second.index = 1;
  second.echoes = false;
  configuration.roles = {first, second};
  const std::vector<Topic> all = endpoints_of(configuration, false);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "mm_ping");
  EXPECT_EQ(all[0].publishers, 1U);
  EXPECT_EQ(all[0].subscribers, 3U);
  EXPECT_EQ(all[0].publishers_here, 0U);
  EXPECT_EQ(all[0].subscribers_here, 2U);
  EXPECT_EQ(all[0].message_bytes, 64U);
  EXPECT_EQ(all[0].capacity(), 8U);
  EXPECT_EQ(all[1].name, "mm_pong");
  EXPECT_EQ(all[1].publishers, 1U);
  EXPECT_EQ(all[1].publishers_here, 1U);
  EXPECT_EQ(all[1].subscribers_here, 0U);
}

TEST(Endpoints, without_roles_assume_that_every_pong_echoes) {
  Configuration configuration = trial(Pattern::ping_pong);
  configuration.settings.subscribers = 3;
  const std::vector<Topic> all = endpoints_of(configuration, false);
  EXPECT_EQ(all[1].publishers, 3U);
  EXPECT_EQ(all[1].capacity(), 24U);
  EXPECT_EQ(all[1].publishers_here + all[1].subscribers_here, 0U);
}

TEST(Endpoints, of_a_pair_carry_octets_as_a_sequence) {
  Configuration configuration = trial(Pattern::ping_pong);
  configuration.settings.subscribers = 1;
  for (const bool paired : {false, true}) {
    configuration.settings.paired = paired;
    for (const Topic& topic : endpoints_of(configuration, false)) {
      EXPECT_EQ(topic.paired, paired);
      EXPECT_EQ(topic.varies, paired);
    }
  }
}

TEST(Endpoints, of_a_stream_are_its_topics_with_the_number_of_roles_in_this_process) {
  Configuration configuration = trial(Pattern::stream);
  configuration.settings.publishers = 3;
  configuration.settings.subscribers = 2;
  configuration.settings.topics = {
      {.message_bytes = 64, .publishers = {0, 2}, .subscribers = {0}, .depth = std::nullopt},
      {.message_bytes = 1024,
       .publishers = {1},
       .subscribers = {1},
       .reliability = Reliability::best_effort,
       .depth = 5}};
  PublisherRequest publisher;
  publisher.topic = 1;
  SubscriberRequest subscriber;
  subscriber.topic = 0;
  configuration.roles = {publisher, subscriber, subscriber};
  const std::vector<Topic> all = endpoints_of(configuration, true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "mm_stream0");
  EXPECT_EQ(all[0].publishers, 2U);
  EXPECT_EQ(all[1].publishers, 1U);
  EXPECT_EQ(all[0].publishers_here, 0U);
  EXPECT_EQ(all[0].subscribers_here, 2U);
  EXPECT_EQ(all[1].publishers_here, 1U);
  EXPECT_EQ(all[0].capacity(), std::nullopt);
  EXPECT_EQ(all[1].capacity(), 5U);
  EXPECT_EQ(all[1].message_bytes, 1024U);
  EXPECT_EQ(all[1].reliability, Reliability::best_effort);
}

TEST(Endpoints, of_a_service_in_a_graph_are_one_native_service_or_two_topics) {
  Configuration configuration = trial(Pattern::stream);
  configuration.settings.publishers = 2;
  configuration.settings.subscribers = 2;
  configuration.settings.topics = {{.message_bytes = 64, .publishers = {0}, .subscribers = {0}, .history = 3},
                                   {.message_bytes = 4096, .publishers = {1}, .subscribers = {1}, .replies_to = 0}};
  SubscriberRequest server;
  server.forwards.resize(1);
  server.forwards[0].topic = 1;
  configuration.roles = {server};
  const std::vector<Topic> two = endpoints_of(configuration, false);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].history, 3U);
  EXPECT_FALSE(two[0].service);
  EXPECT_EQ(two[1].name, "mm_stream1");
  EXPECT_EQ(two[1].publishers_here, 1U);
  const std::vector<Topic> one = endpoints_of(configuration, true);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].name, "mm_service0");
  EXPECT_TRUE(one[0].service && one[0].varies);
  EXPECT_EQ(one[0].message_bytes, 4096U) << "the larger of request and reply";
  EXPECT_EQ(one[0].publishers_here, 0U);
  EXPECT_EQ(one[0].subscribers_here, 1U);
}

TEST(Endpoints, of_request_reply_are_one_native_service_or_topics_for_requests_and_each_clients_replies) {
  Configuration configuration = trial(Pattern::request_reply);
  configuration.settings.publishers = 2;
  ClientRequest client;
  client.index = 1;
  configuration.roles = {client};
  const std::vector<Topic> own = endpoints_of(configuration, true);
  ASSERT_EQ(own.size(), 1U);
  EXPECT_TRUE(own[0].service);
  EXPECT_EQ(own[0].name, "mm_service");
  EXPECT_EQ(own[0].publishers, 2U);
  EXPECT_EQ(own[0].publishers_here, 1U);
  const std::vector<Topic> topics = endpoints_of(configuration, false);
  ASSERT_EQ(topics.size(), 3U);
  EXPECT_EQ(topics[0].name, "mm_request");
  EXPECT_EQ(topics[1].subscribers_here, 0U);
  EXPECT_EQ(topics[2].name, "mm_reply1");
  EXPECT_EQ(topics[2].subscribers_here, 1U);
}

}  // namespace
}  // namespace middlemark::endpoints_test
