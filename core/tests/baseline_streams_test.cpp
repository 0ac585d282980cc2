// Tests streams over every raw transport, with the calls that the roles make: several publishers and subscribers, full
// buffers, messages that a timeout interrupts, and calls that must return.
#include <middlemark/adapter.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/message.hpp>

#include "null/adapter.hpp"
#include "shm/adapter.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"
#include "support/topics.hpp"
#include "tcp/adapter.hpp"
#include "udp/adapter.hpp"
#include "uds/adapter.hpp"

namespace middlemark::baseline_streams_test {
namespace {

using namespace std::chrono_literals;

Settings stream_settings(const std::string& scratch, const Description& about, Reception reception,
                         Reliability reliability, std::size_t message_bytes) {
  static int trials = 0;
  Settings settings;
  settings.pattern = Pattern::stream;
  settings.transport = about.transports.front().name;
  settings.reception = reception;
  settings.reliability = reliability;
  settings.message_bytes = message_bytes;
  settings.depth = 8;
  settings.write_timeout = 20s;  // long, so that a publish() times out only if a test sets a shorter timeout
  settings.scope = "mmtest_" + std::to_string(getpid()) + "_" + std::to_string(++trials);
  settings.scratch = scratch;
  return settings;
}

/// Messages that one subscriber has received, by publisher.
struct Seen {
  std::map<unsigned, std::vector<std::uint64_t>> sequences;
  std::size_t damaged = 0;
  std::size_t bytes = 0;

  void operator()(std::span<const std::byte> message) noexcept {
    const Header header = read_header(message);
    if (message.size() != bytes || !payload_intact(message, header)) ++damaged;
    sequences[header.publisher_id()].push_back(header.sequence());
  }
  [[nodiscard]] std::size_t total() const {
    std::size_t all = 0;
    for (const auto& [publisher_id, list] : sequences) all += list.size();
    return all;
  }
  [[nodiscard]] bool in_order() const {
    for (const auto& [publisher_id, list] : sequences) {
      for (std::size_t i = 1; i < list.size(); ++i) {
        if (list[i] <= list[i - 1]) return false;
      }
    }
    return true;
  }
};

template <class Outgoing>
Published publish(Outgoing& outgoing, std::size_t bytes, unsigned publisher_id, std::uint64_t sequence) {
  const std::span<std::byte> message = outgoing.loan(bytes);
  const Header header = Header::make(publisher_id, false, sequence, 0);
  fill_payload(message, header);
  write_header(message, header);
  return outgoing.publish();
}

template <class A>
using OutgoingOf = decltype(std::declval<A&>().publisher(std::declval<const Topic&>(), 0U));
template <class A>
using IncomingOf = decltype(std::declval<A&>().subscriber(std::declval<const Topic&>(), 0U));

/// A topic with publishers and subscribers that have found each other. Either each has its own adapter, or all share
/// one.
template <class A>
struct Stream {
  Stream(Settings asked, unsigned publishers, unsigned subscribers, bool one_process) {
    asked.publishers = publishers;
    asked.subscribers = subscribers;
    asked.one_process = one_process;
    asked.workers = one_process ? 1 : publishers + subscribers;
    asked.topics = test::topics_of(asked, 1);
    const Topic topic{asked.scope + "_stream0", asked.message_bytes, publishers, subscribers, asked.depth,
                      asked.reliability};
    for (unsigned i = 0; i < asked.workers; ++i) adapters.push_back(std::make_unique<A>(asked));
    std::size_t next = 0;
    const auto adapter = [&]() -> A& { return *adapters[one_process ? 0 : next++]; };
    for (unsigned i = 0; i < subscribers; ++i) {
      incoming.emplace_back(new IncomingOf<A>(adapter().subscriber(topic, i)));
    }
    for (unsigned i = 0; i < publishers; ++i) {
      outgoing.emplace_back(new OutgoingOf<A>(adapter().publisher(topic, i)));
    }
    for (const auto& each : outgoing) {
      while (each->matched() < subscribers) std::this_thread::sleep_for(1ms);
    }
  }

  std::vector<std::unique_ptr<A>> adapters;
  std::vector<std::unique_ptr<IncomingOf<A>>> incoming;
  std::vector<std::unique_ptr<OutgoingOf<A>>> outgoing;
};

/// Receives as a role does, until `enough` messages have arrived or `over` is true.
template <class Incoming>
void receive(Incoming& incoming, Seen& seen, Reception reception, std::size_t enough, const std::atomic<bool>& over) {
  for (std::size_t total = 0; total < enough && !over;) {
    if (reception == Reception::poll) {
      const std::size_t visits = incoming.take(seen);
      if (visits == 0) std::this_thread::yield();
      total += visits;
    } else if (incoming.wait(50ms)) {
      total += incoming.take(seen);
    }
  }
}

using ReliableAdapters = testing::Types<SharedMemory, UnixSocket, Tcp, Null>;
using BestEffortAdapters = testing::Types<SharedMemory, Udp, Null>;
using StreamSockets = testing::Types<UnixSocket, Tcp>;

class Names {
 public:
  template <class A>
  static std::string GetName(int /*index*/) {
    return A::describe().name;
  }
};

template <class A>
class AnyStream : public testing::Test {
 protected:
  const test::TemporaryFolder scratch;

  [[nodiscard]] Settings settings(Reception reception, Reliability reliability, std::size_t bytes) const {
    return stream_settings(scratch.string(), A::describe(), reception, reliability, bytes);
  }
};

template <class A>
class ReliableStream : public AnyStream<A> {};
TYPED_TEST_SUITE(ReliableStream, ReliableAdapters, Names);

template <class A>
class BestEffortStream : public AnyStream<A> {};
TYPED_TEST_SUITE(BestEffortStream, BestEffortAdapters, Names);

template <class A>
class SocketStream : public AnyStream<A> {};
TYPED_TEST_SUITE(SocketStream, StreamSockets, Names);

struct Load {
  unsigned publishers;
  unsigned subscribers;
  std::size_t bytes;
  std::uint64_t messages;  // per publisher
};

template <class A>
std::vector<Seen> flood(const Settings& settings, const Load& load, bool one_process) {
  Stream<A> stream(settings, load.publishers, load.subscribers, one_process);
  std::vector<Seen> seen(load.subscribers);
  std::atomic<bool> over = false;
  {
    std::vector<std::jthread> receivers;
    for (unsigned i = 0; i < load.subscribers; ++i) {
      seen[i].bytes = load.bytes;
      receivers.emplace_back(
          [&, i] { receive(*stream.incoming[i], seen[i], settings.reception, load.publishers * load.messages, over); });
    }
    {
      std::vector<std::jthread> senders;
      for (unsigned p = 0; p < load.publishers; ++p) {
        senders.emplace_back([&, p] {
          for (std::uint64_t n = 1; n <= load.messages; ++n) {
            EXPECT_EQ(publish(*stream.outgoing[p], load.bytes, p, n), Published::ok);
          }
        });
      }
    }
    if (settings.reliability == Reliability::best_effort) {
      std::this_thread::sleep_for(200ms);  // wait for messages on their way; any number of them is right
      over = true;
    }
  }
  return seen;
}

TYPED_TEST(ReliableStream, delivers_every_message_of_every_publisher_once_and_in_order) {
  for (const Reception reception : {Reception::block, Reception::poll}) {
    for (const bool one_process : {false, true}) {
      for (const Load& load : {Load{1, 1, 64, 5'000}, Load{3, 2, 64, 1'000}, Load{3, 2, 100'000, 60}}) {
        const Settings settings = this->settings(reception, Reliability::reliable, load.bytes);
        for (const Seen& seen : flood<TypeParam>(settings, load, one_process)) {
          EXPECT_EQ(seen.total(), load.publishers * load.messages);
          EXPECT_EQ(seen.sequences.size(), load.publishers);
          EXPECT_TRUE(seen.in_order());
          EXPECT_EQ(seen.damaged, 0U);
        }
      }
    }
  }
}

TYPED_TEST(BestEffortStream, publishes_without_failure_and_delivers_messages_once_in_order_and_whole) {
  for (const Reception reception : {Reception::block, Reception::poll}) {
    for (const Load& load : {Load{3, 2, 64, 5'000}, Load{3, 2, 100'000, 60}}) {
      const Settings settings = this->settings(reception, Reliability::best_effort, load.bytes);
      for (const Seen& seen : flood<TypeParam>(settings, load, false)) {
        EXPECT_EQ(seen.sequences.size(), load.publishers) << "messages of each publisher arrived";
        EXPECT_TRUE(seen.in_order());
        EXPECT_EQ(seen.damaged, 0U);
      }
    }
  }
}

/// Expects that take() and wait() return although the publishers keep sending. The publishers stop only when the
/// subscriber has seen enough messages, so a call that waited until no message is left would never return.
template <class A>
void end_while_publishers_flood(const Settings& settings) {
  Stream<A> stream(settings, 2, 1, false);
  auto& incoming = *stream.incoming[0];
  const bool polls = settings.reception == Reception::poll;
  std::atomic<bool> over = false;
  std::vector<std::jthread> senders;
  for (unsigned p = 0; p < 2; ++p) {
    senders.emplace_back([&, p] {
      for (std::uint64_t n = 1; !over; ++n) publish(*stream.outgoing[p], settings.message_bytes, p, n);
    });
  }
  Seen seen;
  seen.bytes = settings.message_bytes;
  const std::size_t enough = test::under_a_sanitizer ? 200 : 2'000;
  while (seen.sequences.size() < 2 || seen.total() < enough) {
    if (polls || incoming.wait(50ms)) incoming.take(seen);
  }
  over = true;
  const std::jthread lets_the_senders_end([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (incoming.take(seen) == 0) std::this_thread::sleep_for(1ms);
    }
  });
  senders.clear();
  EXPECT_EQ(seen.sequences.size(), 2U);
}

TYPED_TEST(ReliableStream, returns_to_the_subscriber_while_its_publishers_flood) {
  for (const Reception reception : {Reception::block, Reception::poll}) {
    end_while_publishers_flood<TypeParam>(this->settings(reception, Reliability::reliable, 16));
  }
}

TYPED_TEST(BestEffortStream, returns_to_the_subscriber_while_its_publishers_flood) {
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{200'000}}) {
    for (const Reception reception : {Reception::block, Reception::poll}) {
      end_while_publishers_flood<TypeParam>(this->settings(reception, Reliability::best_effort, bytes));
    }
  }
}

TYPED_TEST(ReliableStream, blocks_a_publisher_up_to_its_timeout_and_delivers_intact_messages_afterwards) {
  for (const Reception reception : {Reception::block, Reception::poll}) {
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{1'000'000}}) {
      Settings settings = this->settings(reception, Reliability::reliable, bytes);
      settings.write_timeout = 20ms;
      Stream<TypeParam> stream(settings, 1, 2, false);
      std::uint64_t sequence = 0;
      std::vector<std::uint64_t> sent;
      for (unsigned timeouts = 0; timeouts < 3;) {  // no subscriber reads
        const Published outcome = publish(*stream.outgoing[0], bytes, 0, ++sequence);
        ASSERT_NE(outcome, Published::failed);
        if (outcome == Published::ok) sent.push_back(sequence);
        timeouts += outcome == Published::timed_out ? 1 : 0;
      }
      const std::uint64_t last = sequence + 5;
      std::vector<Seen> seen(2);
      std::atomic<bool> all_sent =
          false;  // while false, a message that timed out for one subscriber may reach the other one twice
      std::vector<std::jthread> receivers;
      for (unsigned i = 0; i < 2; ++i) {
        seen[i].bytes = bytes;
        receivers.emplace_back([&, i] {
          const auto has_last = [&] { return !seen[i].sequences[0].empty() && seen[i].sequences[0].back() == last; };
          while (!all_sent || !has_last()) {
            if (reception == Reception::poll || stream.incoming[i]->wait(50ms)) stream.incoming[i]->take(seen[i]);
          }
        });
      }
      while (sequence < last) {
        ++sequence;
        while (publish(*stream.outgoing[0], bytes, 0, sequence) != Published::ok) {
        }
        sent.push_back(sequence);
      }
      all_sent = true;
      receivers.clear();
      for (Seen& each : seen) {
        EXPECT_EQ(each.damaged, 0U);
        EXPECT_TRUE(std::ranges::is_sorted(each.sequences[0]));
        // Every sent message must have arrived; messages that timed out may have arrived.
        EXPECT_TRUE(std::ranges::includes(each.sequences[0], sent));
      }
    }
  }
}

TYPED_TEST(BestEffortStream, drops_messages_for_a_full_buffer_without_an_error) {
  constexpr std::uint64_t messages = 20'000;
  const Settings settings = this->settings(Reception::block, Reliability::best_effort, 1'000);
  Stream<TypeParam> stream(settings, 1, 1, false);
  for (std::uint64_t n = 1; n <= messages; ++n) {
    ASSERT_EQ(publish(*stream.outgoing[0], 1'000, 0, n), Published::ok);
  }
  Seen seen;
  seen.bytes = 1'000;
  while (stream.incoming[0]->wait(50ms)) stream.incoming[0]->take(seen);
  ASSERT_FALSE(seen.sequences[0].empty());
  EXPECT_EQ(seen.sequences[0].front(), 1U) << "the new message is dropped, not the oldest one";
  EXPECT_LT(seen.total(), messages);
  EXPECT_TRUE(seen.in_order());
  EXPECT_EQ(seen.damaged, 0U);
}

TYPED_TEST(SocketStream, still_reads_other_publishers_when_one_stops_in_the_middle_of_a_message) {
  constexpr std::size_t bytes = 4'000'000;
  for (const Reception reception : {Reception::block, Reception::poll}) {
    Settings settings = this->settings(reception, Reliability::reliable, bytes);
    settings.write_timeout = 10ms;
    Stream<TypeParam> stream(settings, 2, 1, false);
    std::uint64_t cut = 1;
    while (publish(*stream.outgoing[0], bytes, 0, cut) == Published::ok) ++cut;  // the last one remains incomplete
    std::atomic<bool> over = false;
    std::jthread other([&] {
      for (std::uint64_t n = 1; n <= 10; ++n) {
        while (publish(*stream.outgoing[1], bytes, 1, n) != Published::ok && !over) {
        }
      }
    });
    Seen seen;
    seen.bytes = bytes;
    while (seen.sequences[1].empty() || seen.sequences[1].back() != 10) {
      if (reception == Reception::poll || stream.incoming[0]->wait(50ms)) stream.incoming[0]->take(seen);
    }
    over = true;
    EXPECT_EQ(seen.damaged, 0U);
    EXPECT_EQ(seen.sequences[0].size(), cut - 1);
  }
}

TYPED_TEST(SocketStream, still_reads_other_publishers_when_one_is_gone) {
  constexpr std::size_t bytes = 64;
  Stream<TypeParam> stream(this->settings(Reception::poll, Reliability::reliable, bytes), 2, 1, false);
  Seen seen;
  seen.bytes = bytes;
  const auto take_until = [&](std::size_t total) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (seen.total() < total && std::chrono::steady_clock::now() < deadline) stream.incoming[0]->take(seen);
    return seen.total() == total;
  };
  for (const unsigned p : {0U, 1U}) ASSERT_EQ(publish(*stream.outgoing[p], bytes, p, 1), Published::ok);
  ASSERT_TRUE(take_until(2));
  stream.outgoing[0].reset();
  stream.adapters[1].reset();  // the first publisher's adapter; adapters[0] is the subscriber's
  for (std::uint64_t n = 2; n <= 10; ++n) {
    ASSERT_EQ(publish(*stream.outgoing[1], bytes, 1, n), Published::ok);
    ASSERT_TRUE(take_until(n + 1)) << n;
  }
  EXPECT_EQ(seen.sequences[1].size(), 10U);
  EXPECT_EQ(seen.damaged, 0U);
}

}  // namespace
}  // namespace middlemark::baseline_streams_test
