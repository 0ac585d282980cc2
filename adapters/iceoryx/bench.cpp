// bench_iceoryx BYTES ROUND_TRIPS [PING_CPU PONG_CPU]: the ping-pong as iceoryx's own examples would write it, blocking on a wait set, reliable, a queue of one.
// Prints p50 in ns. RouDi must run; its chunks must hold BYTES.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>

namespace {

std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

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

/// One process of the two: what it sends on, what it receives from.
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

void prepare(const char* name, const char* cpu) {
  alarm(60);
  if (cpu != nullptr) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(std::atoi(cpu)), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kWarn,
                                                           iox::log::LogLevelOutput::kHideLogLevel);
  iox::runtime::PoshRuntime::initRuntime(
      iox::RuntimeName_t(iox::cxx::TruncateToCapacity, std::string(name) + std::to_string(getpid())));
}

void pong(std::uint32_t bytes, std::uint64_t round_trips, const char* cpu) {
  prepare("bench_pong_", cpu);
  End end("pong", "ping", bytes);
  for (std::uint64_t i = 0; i < round_trips; ++i) {
    end.receive([&](const void* payload) {
      void* const reply = end.loan();
      std::memcpy(reply, payload, sizeof(std::uint64_t));
      end.publish(reply);
    });
  }
}

void ping(std::uint32_t bytes, std::uint64_t round_trips, const char* cpu) {
  prepare("bench_ping_", cpu);
  End end("ping", "pong", bytes);
  std::vector<std::uint64_t> times(round_trips);
  for (std::uint64_t i = 0; i < round_trips; ++i) {
    void* const message = end.loan();
    std::memcpy(message, &i, sizeof i);
    const std::uint64_t begin = now_ns();
    end.publish(message);
    end.receive([&](const void* payload) {
      times[i] = now_ns() - begin;
      if (std::memcmp(payload, &i, sizeof i) != 0) std::abort();
    });
  }
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(round_trips / 10));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf("%llu\n", static_cast<unsigned long long>(*middle));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t bytes = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 0;
  const std::uint64_t round_trips = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (bytes < sizeof round_trips || round_trips == 0 || (argc != 3 && argc != 5)) {
    std::fprintf(stderr, "usage: bench_iceoryx BYTES ROUND_TRIPS [PING_CPU PONG_CPU]\n");
    return 2;
  }
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pong(bytes, round_trips, argc == 5 ? argv[4] : nullptr);
    std::exit(0);  // the runtime says goodbye to RouDi
  }
  ping(bytes, round_trips, argc == 5 ? argv[3] : nullptr);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
