// Measures the round trip of the examples in ZeroMQ's guide, without Middlemark: PUB and SUB in each direction over
// ipc.
//
//   bench_zeromq BYTES ROUND_TRIPS [ping-cpu pong-cpu]
//
// Prints the p50 in ns. Like the adapter by default, it uses a blocking receive, libzmq's default high-water marks and
// ZMQ_XPUB_NODROP.
#include <unistd.h>
#include <zmq.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <direct.hpp>

namespace {

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "bench_zeromq: %s: %s\n", what, zmq_strerror(zmq_errno()));
  std::exit(1);
}

void set(void* socket, int option, int value) {
  check(zmq_setsockopt(socket, option, &value, sizeof value) == 0, "zmq_setsockopt");
}

struct Ends {
  Ends(const std::string& publishes_on, const std::string& subscribes_to)
      : context(zmq_ctx_new()), publisher(zmq_socket(context, ZMQ_PUB)), subscriber(zmq_socket(context, ZMQ_SUB)) {
    set(publisher, ZMQ_XPUB_NODROP, 1);
    set(publisher, ZMQ_LINGER, 0);
    set(subscriber, ZMQ_LINGER, 0);
    check(zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, "", 0) == 0, "ZMQ_SUBSCRIBE");
    check(zmq_bind(publisher, publishes_on.c_str()) == 0, "zmq_bind");
    check(zmq_connect(subscriber, subscribes_to.c_str()) == 0, "zmq_connect");
  }
  void* context;
  void* publisher;
  void* subscriber;
};

void send(const Ends& ends, const std::vector<char>& message) {
  check(zmq_send(ends.publisher, message.data(), message.size(), 0) == static_cast<int>(message.size()), "zmq_send");
}

/// Receives a message. Returns false after the timeout, or if the message is shorter than `message`.
bool receive(const Ends& ends, std::vector<char>& message) {
  return zmq_recv(ends.subscriber, message.data(), message.size(), 0) == static_cast<int>(message.size());
}

/// Answers each message. Returns when a shorter message arrives.
void pong(const std::string& stem, std::size_t bytes) {
  const Ends ends(stem + "_pong", stem + "_ping");
  for (std::vector<char> message(bytes); receive(ends, message);) send(ends, message);
}

void ping(const std::string& stem, std::size_t bytes, std::size_t round_trips) {
  const Ends ends(stem + "_ping", stem + "_pong");
  std::vector<char> message(bytes, 'x');
  // A PUB does not report when subscriptions have arrived. So the ping sends until a reply arrives, then takes the
  // other replies.
  set(ends.subscriber, ZMQ_RCVTIMEO, 20);
  do {
    send(ends, message);
  } while (!receive(ends, message));
  while (receive(ends, message)) {
  }
  set(ends.subscriber, ZMQ_RCVTIMEO, -1);
  const auto write = [](std::size_t) {};
  middlemark::direct::measure(round_trips, write, [&] {
    send(ends, message);
    check(receive(ends, message), "zmq_recv");
  });
  send(ends, {});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string stem = "ipc://@bench_zeromq_" + std::to_string(getpid());
  return middlemark::direct::run(
      argc, argv, [&](std::size_t bytes, std::size_t round_trips) { ping(stem, bytes, round_trips); },
      [&](std::size_t bytes, std::size_t) { pong(stem, bytes); });
}
