// Tests which messages take() visits, and how events of several threads are delivered.
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/kit/deliverer.hpp>
#include <middlemark/kit/take.hpp>

namespace middlemark::take_test {
namespace {

using namespace std::chrono_literals;

/// A middleware with a queue of messages.
struct Waiting {
  std::vector<int> messages;

  std::unique_ptr<int> next() {
    if (messages.empty()) return nullptr;
    auto message = std::make_unique<int>(messages.front());
    messages.erase(messages.begin());
    return message;
  }
};

TEST(Take, visits_the_messages_that_have_arrived_up_to_its_bound) {
  Waiting waiting{{1, 2, 3, 4, 5}};
  std::vector<int> visited;
  const auto receive = [&] { return waiting.next(); };
  const auto visit = [&](const std::unique_ptr<int>& message) { visited.push_back(*message); };
  EXPECT_EQ(kit::take_up_to<3>(receive, visit), 3U);
  EXPECT_EQ(visited, (std::vector{1, 2, 3}));
  EXPECT_EQ(kit::take_up_to<3>(receive, visit), 2U);
  EXPECT_EQ(kit::take_up_to<3>(receive, visit), 0U);
  EXPECT_EQ(visited, (std::vector{1, 2, 3, 4, 5}));
}

TEST(Held, the_message_of_a_wait_is_visited_once_and_before_others) {
  Waiting waiting{{1, 2, 3}};
  kit::Held<std::unique_ptr<int>> held;
  std::vector<int> visited;
  const auto receive = [&] { return waiting.next(); };
  const auto visit = [&](const std::unique_ptr<int>& message) { visited.push_back(*message); };
  EXPECT_TRUE(held.hold(receive()));
  EXPECT_TRUE(held) << "the message is still held";
  EXPECT_EQ(held.take<8>(receive, visit), 1U);
  EXPECT_EQ(held.take<8>(receive, visit), 2U);
  EXPECT_EQ(visited, (std::vector{1, 2, 3}));
  EXPECT_FALSE(held);
  EXPECT_FALSE(held.hold(receive()));
}

TEST(Held, a_dropped_message_is_not_visited) {
  kit::Held<bool> held;
  EXPECT_TRUE(held.hold(true));
  held.drop();
  EXPECT_EQ(held.take<8>([] { return false; }, [](bool) { FAIL(); }), 0U);
}

TEST(ReplyOfCall, is_taken_once_or_passed_to_the_listener_within_the_call) {
  struct Client : kit::ReplyOfCall {
    void call() noexcept { replied(reply); }
    std::vector<std::byte> reply{16};
  } client;
  std::size_t visited = 0;
  auto visit = [&](std::span<const std::byte> reply) noexcept { visited += reply.size(); };
  EXPECT_FALSE(client.wait(1ns));
  EXPECT_EQ(client.take(visit), 0U);
  client.call();
  EXPECT_TRUE(client.wait(1ns));
  EXPECT_EQ(client.take(visit), 1U);
  EXPECT_EQ(client.take(visit), 0U);
  EXPECT_EQ(visited, client.reply.size());
  client.listen(Listener(visit));
  client.call();
  EXPECT_EQ(visited, 2 * client.reply.size());
  EXPECT_FALSE(client.wait(1ns));
}

TEST(OneDeliverer, leaves_an_event_during_a_delivery_to_the_thread_that_delivers) {
  kit::OneDeliverer deliver;
  std::vector<std::thread::id> deliveries;
  deliver([&]() noexcept {
    EXPECT_TRUE(deliver.under_way());
    deliveries.push_back(std::this_thread::get_id());
    if (deliveries.size() > 1) return;
    std::thread([&] { deliver([&]() noexcept { deliveries.push_back(std::this_thread::get_id()); }); }).join();
  });
  EXPECT_EQ(deliveries, (std::vector{std::this_thread::get_id(), std::this_thread::get_id()}));
  EXPECT_FALSE(deliver.under_way());
}

TEST(OneDeliverer, delivers_all_messages_of_many_threads_one_at_a_time) {
  constexpr int events = 20'000;
  kit::OneDeliverer deliver;
  std::atomic<int> arrived{0};
  int delivered = 0;  // not atomic, so that the thread sanitizer reports simultaneous deliveries
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int event = 0; event < events; ++event) {
        arrived.fetch_add(1);
        deliver([&]() noexcept { delivered += arrived.exchange(0); });
      }
    });
  }
  threads.clear();
  EXPECT_EQ(delivered, 4 * events);
}

}  // namespace
}  // namespace middlemark::take_test
