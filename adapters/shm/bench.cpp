// Measures a stream through this adapter's ring without Middlemark's roles: no message is paced, stamped, counted or
// checked.
//
//   ring_bench BYTES MESSAGES [publisher-cpu subscriber-cpu]
//
// A reliable stream in two processes, with polling. Prints the number of received messages per second, without the first
// tenth.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/clock.hpp>
#include <middlemark/message.hpp>
#include <middlemark/placement.hpp>
#include <middlemark/roles/topics.hpp>

#include "adapter.hpp"

namespace middlemark {
namespace {

/// Reads only the sequence number of each message.
struct Reader {
  std::uint64_t latest = 0;
  void operator()(std::span<const std::byte> message) noexcept { latest = read_header(message).sequence(); }
};

void publish_all(const Settings& settings, std::uint64_t messages) {
  SharedMemory adapter(settings);
  auto publisher = adapter.publisher(stream_topic(settings, 0), 0);
  while (publisher.matched() == 0) sched_yield();
  for (std::uint64_t n = 1; n <= messages; ++n) {
    write_header(publisher.loan(settings.message_bytes), Header::make(0, false, n, Header::untimed_ticks));
    if (publisher.publish() != Published::ok) _exit(1);
  }
}

/// Returns the number of received messages per second, without the first tenth.
double take_all(const Settings& settings, std::uint64_t messages) {
  SharedMemory adapter(settings);
  auto subscriber = adapter.subscriber(stream_topic(settings, 0), 0);
  Reader reader;
  std::uint64_t begin = 0;
  std::uint64_t begin_ns = 0;
  while (reader.latest < messages) {
    if (subscriber.take(reader) == 0 || begin != 0 || reader.latest < messages / 10) continue;
    begin = reader.latest;
    begin_ns = monotonic_ns();
  }
  return static_cast<double>(messages - begin) / static_cast<double>(monotonic_ns() - begin_ns) * 1e9;
}

}  // namespace
}  // namespace middlemark

int main(int argc, char** argv) {
  using namespace middlemark;
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: ring_bench BYTES MESSAGES [publisher-cpu subscriber-cpu]\n");
    return 2;
  }
  alarm(60);
  Settings settings;
  settings.pattern = Pattern::stream;
  settings.transport = "shm";
  settings.reception = Reception::poll;
  settings.reliability = Reliability::reliable;
  settings.message_bytes = std::max<std::size_t>(header_bytes, std::strtoull(argv[1], nullptr, 10));
  settings.topics = {{.message_bytes = settings.message_bytes, .publishers = {0}, .subscribers = {0}}};
  settings.scope = std::to_string(getpid());
  const std::uint64_t messages = std::strtoull(argv[2], nullptr, 10);
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin_thread(argc == 5 ? std::atoi(argv[3]) : 0);
    publish_all(settings, messages);
    _exit(0);  // without destructors: the subscriber still uses the mapped memory
  }
  pin_thread(argc == 5 ? std::atoi(argv[4]) : 1);
  std::printf("%.0f\n", take_all(settings, messages));
  wait(nullptr);
  return 0;
}
