// Measures the round trip of a program that uses rcl directly and not Middlemark: a publisher and a subscription of
// std_msgs/msg/UInt8MultiArray in each process, reliable, depth 1, a wait set.
//
//   bench_rcl BYTES ROUND_TRIPS [ping-cpu pong-cpu]
//
// Prints the p50 in ns.
#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <std_msgs/msg/u_int8_multi_array.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <direct.hpp>

namespace {

void check(rcl_ret_t code, const char* what) {
  if (code == RCL_RET_OK) return;
  std::fprintf(stderr, "bench_rcl: %s: %s\n", what, rcl_get_error_string().str);
  std::exit(1);
}

struct Ends {
  Ends(const std::string& publishes_on, const std::string& subscribes_to, std::size_t bytes) {
    setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
    rcl_init_options_t options = rcl_get_zero_initialized_init_options();
    check(rcl_init_options_init(&options, rcl_get_default_allocator()), "rcl_init_options_init");
    check(rcl_init(0, nullptr, &options, &context), "rcl_init");
    check(rcl_init_options_fini(&options), "rcl_init_options_fini");
    rcl_node_options_t node_options = rcl_node_get_default_options();
    node_options.enable_rosout = false;
    check(rcl_node_init(&node, publishes_on.c_str(), "", &context, &node_options), "rcl_node_init");
    const rosidl_message_type_support_t* const support = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
    rcl_publisher_options_t publisher_options = rcl_publisher_get_default_options();
    publisher_options.qos.depth = 1;
    check(rcl_publisher_init(&publisher, &node, support, publishes_on.c_str(), &publisher_options),
          "rcl_publisher_init");
    rcl_subscription_options_t subscription_options = rcl_subscription_get_default_options();
    subscription_options.qos.depth = 1;
    check(rcl_subscription_init(&subscription, &node, support, subscribes_to.c_str(), &subscription_options),
          "rcl_subscription_init");
    check(rcl_wait_set_init(&wait_set, 1, 0, 0, 0, 0, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
    if (!std_msgs__msg__UInt8MultiArray__init(&message) ||
        !rosidl_runtime_c__uint8__Sequence__init(&message.data, bytes)) {
      std::exit(1);
    }
    for (std::size_t publishers = 0, subscriptions = 0; publishers == 0 || subscriptions == 0;) {
      const timespec pause{0, 10'000'000};
      nanosleep(&pause, nullptr);
      check(rcl_subscription_get_publisher_count(&subscription, &publishers), "rcl_subscription_get_publisher_count");
      check(rcl_publisher_get_subscription_count(&publisher, &subscriptions), "rcl_publisher_get_subscription_count");
    }
  }
  ~Ends() {
    std_msgs__msg__UInt8MultiArray__fini(&message);
    check(rcl_wait_set_fini(&wait_set), "rcl_wait_set_fini");
    check(rcl_subscription_fini(&subscription, &node), "rcl_subscription_fini");
    check(rcl_publisher_fini(&publisher, &node), "rcl_publisher_fini");
    check(rcl_node_fini(&node), "rcl_node_fini");
    check(rcl_shutdown(&context), "rcl_shutdown");
  }

  rcl_context_t context = rcl_get_zero_initialized_context();
  rcl_node_t node = rcl_get_zero_initialized_node();
  rcl_publisher_t publisher = rcl_get_zero_initialized_publisher();
  rcl_subscription_t subscription = rcl_get_zero_initialized_subscription();
  rcl_wait_set_t wait_set = rcl_get_zero_initialized_wait_set();
  std_msgs__msg__UInt8MultiArray message{};
};

void send(Ends& ends) { check(rcl_publish(&ends.publisher, &ends.message, nullptr), "rcl_publish"); }

/// Waits at most `timeout_ns` for a message. Returns false after the timeout.
bool receive(Ends& ends, std::int64_t timeout_ns) {
  for (;;) {
    check(rcl_wait_set_clear(&ends.wait_set), "rcl_wait_set_clear");
    check(rcl_wait_set_add_subscription(&ends.wait_set, &ends.subscription, nullptr), "rcl_wait_set_add_subscription");
    const rcl_ret_t waited = rcl_wait(&ends.wait_set, timeout_ns);
    if (waited == RCL_RET_TIMEOUT) return false;
    check(waited, "rcl_wait");
    const rcl_ret_t taken = rcl_take(&ends.subscription, &ends.message, nullptr, nullptr);
    if (taken == RCL_RET_SUBSCRIPTION_TAKE_FAILED) continue;
    check(taken, "rcl_take");
    return true;
  }
}

/// Sends messages until the pong answers. When the ping has found the pong's publisher and subscription, the pong may
/// not have found the ping's yet, and then does not receive the first messages.
void start(Ends& ends) {
  do {
    send(ends);
  } while (!receive(ends, 20'000'000));
  while (receive(ends, 20'000'000)) {
  }
}

/// Answers each message. Returns when no message has arrived for a second.
void pong(std::size_t bytes) {
  Ends ends("bench_pong", "bench_ping", bytes);
  while (receive(ends, 1'000'000'000)) send(ends);
}

void ping(std::size_t bytes, std::size_t round_trips) {
  Ends ends("bench_ping", "bench_pong", bytes);
  start(ends);
  const auto write = [](std::size_t) {};
  middlemark::direct::measure(round_trips, write, [&] {
    send(ends);
    if (!receive(ends, 5'000'000'000)) check(RCL_RET_ERROR, "no reply in 5 s");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return middlemark::direct::run(
      argc, argv, [&](std::size_t bytes, std::size_t round_trips) { ping(bytes, round_trips); },
      [&](std::size_t bytes, std::size_t) { pong(bytes); });
}
