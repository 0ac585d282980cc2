// bench_iceoryx BYTES ROUND_TRIPS [PING_CPU PONG_CPU]: measures a ping-pong that is written like iceoryx's own
// examples: it blocks on a wait set, and is reliable with a queue of one message. Prints the p50 of a round trip in ns.
// RouDi must run and have chunks of at least BYTES.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>

#include <direct.hpp>

namespace {

iox::popo::PublisherOptions publisher_options() {
  iox::popo::PublisherOptions options;
  options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
  return options;
}

iox::popo::SubscriberOptions subscriber_options() {
  iox::popo::SubscriberOptions options;
  options.queueCapacity = 1;
  options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
  return options;
}

/// The publisher and the subscriber of one of the two processes.
class End {
 public:
  End(const iox::capro::IdString_t& sends, const iox::capro::IdString_t& receives, std::uint32_t bytes)
      : bytes_(bytes),
        publisher_({"bench", sends, "octets"}, publisher_options()),
        subscriber_({"bench", receives, "octets"}, subscriber_options()) {
    waitset_.attachState(subscriber_, iox::popo::SubscriberState::HAS_DATA).or_else([](auto) { std::abort(); });
    while (!publisher_.hasSubscribers()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  [[nodiscard]] void* loan() {
    void* chunk = nullptr;
    publisher_.loan(bytes_).and_then([&](auto& payload) { chunk = payload; }).or_else([](auto&) { std::abort(); });
    return chunk;
  }

  void publish(void* chunk) { publisher_.publish(chunk); }

  template <class Visitor>
  void receive(const Visitor& visitor) {
    for (bool received = false; !received;) {
      for (auto& notification : waitset_.wait()) {
        if (!notification->doesOriginateFrom(&subscriber_)) continue;
        subscriber_.take().and_then([&](const void* payload) {
          visitor(payload);
          subscriber_.release(payload);
          received = true;
        });
      }
    }
  }

 private:
  std::uint32_t bytes_;
  iox::popo::UntypedPublisher publisher_;
  iox::popo::UntypedSubscriber subscriber_;
  iox::popo::WaitSet<1> waitset_;
};

void open_runtime(const char* name) {
  iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kWarn,
                                                           iox::log::LogLevelOutput::kHideLogLevel);
  iox::runtime::PoshRuntime::initRuntime(
      iox::RuntimeName_t(iox::cxx::TruncateToCapacity, std::string(name) + std::to_string(getpid())));
}

void pong(std::size_t bytes, std::size_t round_trips) {
  open_runtime("bench_pong_");
  End end("pong", "ping", static_cast<std::uint32_t>(bytes));
  for (std::size_t i = 0; i < round_trips; ++i) {
    end.receive([&](const void* payload) {
      void* const reply = end.loan();
      std::memcpy(reply, payload, sizeof i);
      end.publish(reply);
    });
  }
}

void ping(std::size_t bytes, std::size_t round_trips) {
  open_runtime("bench_ping_");
  End end("ping", "pong", static_cast<std::uint32_t>(bytes));
  void* message = nullptr;
  std::size_t number = 0;
  const auto write = [&](std::size_t i) {
    number = i;
    message = end.loan();
    std::memcpy(message, &number, sizeof number);
  };
  middlemark::direct::measure(round_trips, write, [&] {
    end.publish(message);
    end.receive([&](const void* payload) {
      if (std::memcmp(payload, &number, sizeof number) != 0) std::abort();
    });
  });
}

}  // namespace

int main(int argc, char** argv) { return middlemark::direct::run(argc, argv, ping, pong); }
