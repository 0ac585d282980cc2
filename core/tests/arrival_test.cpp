// Tests the kernel's receive stamps that the raw transports over sockets report, over real sockets on loopback.
#include <middlemark/kit/arrival.hpp>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <middlemark/realtime.hpp>

#include "tcp/adapter.hpp"
#include "udp/adapter.hpp"

namespace middlemark::arrival_test {
namespace {

struct Pair {
  kit::Descriptor receiver = kit::open_socket(AF_INET, SOCK_DGRAM);
  kit::Descriptor sender = kit::open_socket(AF_INET, SOCK_DGRAM);

  Pair() {
    kit::bind_ipv4(receiver.get(), "lo");
    const kit::Address address = kit::address_of(receiver.get());
    EXPECT_EQ(connect(sender.get(), address.get(), address.length), 0);
  }
  void send_one() const { EXPECT_EQ(send(sender.get(), "x", 1, 0), 1); }
};

TEST(Arrival, is_the_time_when_the_kernel_received_the_message) {
  const Pair pair;
  kit::stamp_arrivals(pair.receiver.get());
  // The kernel begins to stamp slightly after setsockopt() (its netstamp work), so the first packets may have no stamp.
  std::uint64_t before = 0;
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  for (unsigned tries = 0; arrived == 0 && tries < 2000; ++tries) {
    before = realtime_ns();
    pair.send_one();
    sent = realtime_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::byte data{};
    ASSERT_EQ(kit::receive_stamped(pair.receiver.get(), &data, 1, MSG_DONTWAIT, arrived), 1);
  }
  EXPECT_GE(arrived, before);
  EXPECT_LE(arrived, sent) << "on loopback send() delivers";
}

TEST(Arrival, is_0_without_stamping_and_unchanged_without_a_message) {
  const Pair pair;
  std::byte data{};
  std::uint64_t arrived = 7;
  EXPECT_EQ(kit::receive_stamped(pair.receiver.get(), &data, 1, MSG_DONTWAIT, arrived), -1);
  EXPECT_EQ(arrived, 7U);
  pair.send_one();
  EXPECT_EQ(kit::receive_stamped(pair.receiver.get(), &data, 1, MSG_DONTWAIT, arrived), 1);
  EXPECT_EQ(arrived, 0U);
}

template <class A>
Settings settings_with(const std::string& timestamping) {
  const Description about = A::describe();
  Settings settings;
  settings.transport = about.transports.front().name;
  settings.reliability = about.transports.front().reliability.front();
  settings.reception = Reception::block;
  settings.interface = "lo";
  settings.message_bytes = 64;
  settings.native = {{"timestamping", timestamping}};
  return settings;
}

TEST(Timestamping, is_off_by_default_and_refuses_unknown_words) {
  EXPECT_EQ(kit::find_native(Udp::describe().native, "timestamping")->otherwise, "false");
  EXPECT_EQ(kit::find_native(Tcp::describe().native, "timestamping")->otherwise, "false");
  EXPECT_THROW(Udp{settings_with<Udp>("yes")}, AdapterError);
  EXPECT_THROW(Tcp{settings_with<Tcp>("2")}, AdapterError);
}

TEST(Timestamping, is_reported_as_missing_for_messages_of_several_datagrams) {
  Settings settings = settings_with<Udp>("on");
  settings.message_bytes = 200'000;
  settings.scope = "mm_arrival";
  settings.scratch = testing::TempDir();
  Udp adapter(settings);
  const auto subscriber = adapter.subscriber({"mm_arrival_ping", settings.message_bytes, 1, 1}, 0);
  ASSERT_FALSE(adapter.notes().empty());
  EXPECT_EQ(adapter.notes().front(), "messages of several datagrams have no arrival stamp");
}

}  // namespace
}  // namespace middlemark::arrival_test
