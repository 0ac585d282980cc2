// Tests the raw shared-memory transport with an artificial delay for every message.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>

#include "shm/adapter.hpp"

namespace middlemark::planted_delay_test {
namespace {

Settings planted(const std::string& ns, std::uint32_t depth = 4) {
  static int trials = 0;
  Settings settings;
  settings.pattern = Pattern::stream;
  settings.transport = "shm";
  settings.reception = Reception::poll;
  settings.message_bytes = 64;
  settings.depth = depth;
  settings.write_timeout = std::chrono::milliseconds(5);
  settings.scope = "mmtest_" + std::to_string(getpid()) + "_" + std::to_string(++trials);
  if (!ns.empty()) settings.native = {{"planted_delay_ns", ns}};
  return settings;
}

struct Sequences {
  std::vector<std::uint64_t> taken;
  void operator()(std::span<const std::byte> message) noexcept { taken.push_back(read_header(message).sequence()); }
};

struct Pair {
  explicit Pair(const Settings& settings)
      : adapter(settings),
        topic{settings.scope + "_stream0", settings.message_bytes, 1, 1},
        publisher(adapter.publisher(topic, 0)),
        subscriber(adapter.subscriber(topic, 0)) {}

  Published publish(std::uint64_t sequence) {
    const Header header = Header::make(0, false, sequence, 0);
    const std::span<std::byte> message = publisher.loan(topic.message_bytes);
    fill_payload(message, header);
    write_header(message, header);
    return publisher.publish();
  }
  std::vector<std::uint64_t> take() {
    Sequences sequences;
    subscriber.take(sequences);
    return sequences.taken;
  }

  SharedMemory adapter;
  Topic topic;
  SharedMemory::Publisher publisher;
  SharedMemory::Subscriber subscriber;
};

TEST(APlantedDelay, delays_every_message_and_changes_nothing_else) {
  Pair pair(planted("300000"));
  for (std::uint64_t n = 1; n <= 40; ++n) {  // several times around the ring
    const std::uint64_t begin = monotonic_ns();
    ASSERT_EQ(pair.publish(n), Published::ok);
    EXPECT_GE(monotonic_ns() - begin, 300'000U);
    ASSERT_EQ(pair.take(), std::vector<std::uint64_t>{n});
  }
}

TEST(APlantedDelay, does_not_free_slots_of_a_full_ring) {
  for (const std::string ns : {"", "1000"}) {
    Pair pair(planted(ns));
    std::uint64_t sent = 0;
    while (pair.publish(sent + 1) == Published::ok) ++sent;
    EXPECT_GE(sent, 4U);
    EXPECT_EQ(pair.publish(sent + 1), Published::timed_out);
    std::size_t taken = 0;
    for (std::size_t more = 1; more != 0; taken += more) more = pair.take().size();
    EXPECT_EQ(taken, sent);
    EXPECT_EQ(pair.publish(sent + 1), Published::ok);
    EXPECT_EQ(pair.take(), std::vector<std::uint64_t>{sent + 1});
  }
}

TEST(APlantedDelay, must_be_a_whole_number_of_ns) {
  for (const std::string ns : {"0", "-1", "1.5", "1us", " 1", "1000000001", "x"}) {
    EXPECT_THROW(SharedMemory{planted(ns)}, AdapterError) << ns;
  }
  EXPECT_NO_THROW(SharedMemory{planted("1000000000")});
  EXPECT_NO_THROW(SharedMemory{planted("")});
}

}  // namespace
}  // namespace middlemark::planted_delay_test
