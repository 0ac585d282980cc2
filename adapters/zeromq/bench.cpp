// The round trip of examples in ZeroMQ's guide, with PUB and SUB each way over ipc, written without the bench:
// bench_zeromq BYTES ROUND_TRIPS [ping-cpu pong-cpu] prints the p50 in ns. Blocking zmq_recv(), a high-water mark of 1,
// and ZMQ_XPUB_NODROP, as the adapter's default has them.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "bench_zeromq: %s: %s\n", what, zmq_strerror(zmq_errno()));
  std::exit(1);
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

void pin(const char* cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(std::atoi(cpu), &set);
  check(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

void set(void* socket, int option, int value) {
  check(zmq_setsockopt(socket, option, &value, sizeof value) == 0, "zmq_setsockopt");
}

struct Ends {
  Ends(const std::string& publishes_on, const std::string& subscribes_to)
      : context(zmq_ctx_new()), publisher(zmq_socket(context, ZMQ_PUB)), subscriber(zmq_socket(context, ZMQ_SUB)) {
    set(publisher, ZMQ_SNDHWM, 1);
    set(publisher, ZMQ_XPUB_NODROP, 1);
    set(publisher, ZMQ_LINGER, 0);
    set(subscriber, ZMQ_RCVHWM, 1);
    set(subscriber, ZMQ_LINGER, 0);
    check(zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, "", 0) == 0, "ZMQ_SUBSCRIBE");
    check(zmq_bind(publisher, publishes_on.c_str()) == 0, "zmq_bind");
    check(zmq_connect(subscriber, subscribes_to.c_str()) == 0, "zmq_connect");
  }
  void* context;
  void* publisher;
  void* subscriber;
};

[[noreturn]] void pong(const std::string& pings, const std::string& pongs, std::size_t bytes) {
  const Ends ends(pongs, pings);
  std::vector<char> message(bytes);
  for (;;) {
    check(zmq_recv(ends.subscriber, message.data(), bytes, 0) == static_cast<int>(bytes), "zmq_recv");
    check(zmq_send(ends.publisher, message.data(), bytes, 0) == static_cast<int>(bytes), "zmq_send");
  }
}

void ping(const std::string& pings, const std::string& pongs, std::size_t bytes, std::size_t round_trips) {
  const Ends ends(pings, pongs);
  std::vector<char> message(bytes, 'x');
  // Nobody says when the subscriptions have arrived: send until an answer comes, then take all the others.
  set(ends.subscriber, ZMQ_RCVTIMEO, 20);
  do {
    check(zmq_send(ends.publisher, message.data(), bytes, 0) == static_cast<int>(bytes), "zmq_send");
  } while (zmq_recv(ends.subscriber, message.data(), bytes, 0) < 0);
  while (zmq_recv(ends.subscriber, message.data(), bytes, 0) >= 0) {
  }
  set(ends.subscriber, ZMQ_RCVTIMEO, -1);
  std::vector<std::uint64_t> took(round_trips);
  for (std::uint64_t& each : took) {
    const std::uint64_t begin = now_ns();
    check(zmq_send(ends.publisher, message.data(), bytes, 0) == static_cast<int>(bytes), "zmq_send");
    check(zmq_recv(ends.subscriber, message.data(), bytes, 0) == static_cast<int>(bytes), "zmq_recv");
    each = now_ns() - begin;
  }
  took.erase(took.begin(), took.begin() + static_cast<std::ptrdiff_t>(round_trips / 10));
  std::ranges::nth_element(took, took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2));
  std::printf("%llu\n", static_cast<unsigned long long>(took[took.size() / 2]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: bench_zeromq BYTES ROUND_TRIPS [ping-cpu pong-cpu]\n");
    return 2;
  }
  const std::size_t bytes = std::strtoul(argv[1], nullptr, 10);
  const std::size_t round_trips = std::strtoul(argv[2], nullptr, 10);
  if (bytes == 0 || round_trips < 10) {
    std::fprintf(stderr, "bench_zeromq: at least 1 byte and 10 round trips\n");
    return 2;
  }
  const std::string stem = "ipc://@bench_zeromq_" + std::to_string(getpid());
  alarm(60);
  const pid_t parent = getpid();
  const pid_t other = fork();
  if (other == 0) {
    alarm(60);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;
    if (argc == 5) pin(argv[4]);
    pong(stem + "_ping", stem + "_pong", bytes);
  }
  if (argc == 5) pin(argv[3]);
  ping(stem + "_ping", stem + "_pong", bytes, round_trips);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}
