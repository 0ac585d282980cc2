// The round trip written directly against roscpp: what the adapter is held against.
//
//   bench_ros1 BYTES ROUND_TRIPS [ping-cpu pong-cpu]
//
// Two processes, TCPROS as it comes (the adapter's default transport), queues of 1. Each receives as the adapter does under
// `block`: callAvailable(timeout) of a callback queue of its own, on its main thread. Needs a ROS master (ROS_MASTER_URI).
// Prints the p50 in ns; the first tenth is not counted.
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

struct Message {  // as a generator would make it of `uint8[] data`
  std::vector<std::uint8_t> data;
};
using MessageConstPtr = boost::shared_ptr<const Message>;

}  // namespace bench

template <>
struct ros::message_traits::MD5Sum<bench::Message> {
  static const char* value() { return "f43a8e1b362b75baa741461b46adc7e0"; }
  static const char* value(const bench::Message&) { return value(); }
};
template <>
struct ros::message_traits::DataType<bench::Message> {
  static const char* value() { return "middlemark/Bytes"; }
  static const char* value(const bench::Message&) { return value(); }
};
template <>
struct ros::message_traits::Definition<bench::Message> {
  static const char* value() { return "uint8[] data\n"; }
  static const char* value(const bench::Message&) { return value(); }
};
template <>
struct ros::serialization::Serializer<bench::Message> {
  template <class Stream, class T>
  static void allInOne(Stream& stream, T message) {
    stream.next(message.data);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};

namespace {

using bench::Message;
using bench::MessageConstPtr;

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void open_node(const std::string& name, const char* cpu) {
  alarm(60);
  prctl(PR_SET_TIMERSLACK, 1);
  if (cpu != nullptr) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<unsigned>(std::atoi(cpu)), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) std::exit(1);
  }
  ros::init(ros::M_string(), name, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
}

[[noreturn]] void pong(const std::string& topic, const char* cpu) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  open_node(topic + "_b", cpu);
  ros::NodeHandle node;
  ros::CallbackQueue queue;
  node.setCallbackQueue(&queue);
  const ros::Publisher publisher = node.advertise<Message>("/" + topic + "_pong", 1);
  Message reply;
  const ros::Subscriber subscriber =
      node.subscribe<Message>("/" + topic + "_ping", 1, [&](const MessageConstPtr& message) {
        reply.data = message->data;
        publisher.publish(reply);
      });
  while (subscriber.getNumPublishers() == 0) queue.callAvailable(ros::WallDuration(0.01));
  while (subscriber.getNumPublishers() != 0) queue.callAvailable(ros::WallDuration(0.05));
  ros::shutdown();
  std::exit(0);
}

std::int64_t ping(const std::string& topic, const char* cpu, std::size_t bytes, std::size_t round_trips) {
  open_node(topic + "_a", cpu);
  ros::NodeHandle node;
  ros::CallbackQueue queue;
  node.setCallbackQueue(&queue);
  bool replied = false;
  const ros::Publisher publisher = node.advertise<Message>("/" + topic + "_ping", 1);
  const ros::Subscriber subscriber =
      node.subscribe<Message>("/" + topic + "_pong", 1, [&](const MessageConstPtr&) { replied = true; });
  while (publisher.getNumSubscribers() == 0 || subscriber.getNumPublishers() == 0) usleep(1000);
  usleep(200'000);  // the other side finds both too

  Message message;
  message.data.resize(bytes);
  std::vector<std::int64_t> times(round_trips);
  for (std::size_t i = 0; i < round_trips; ++i) {
    std::memcpy(message.data.data(), &i, std::min(bytes, sizeof i));
    replied = false;
    const std::int64_t begin = now_ns();
    publisher.publish(message);
    while (!replied) queue.callAvailable(ros::WallDuration(1.0));
    times[i] = now_ns() - begin;
  }
  ros::shutdown();
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(round_trips / 10));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: bench_ros1 BYTES ROUND_TRIPS [ping-cpu pong-cpu]\n");
    return 2;
  }
  const auto bytes = static_cast<std::size_t>(std::atoll(argv[1]));
  const auto round_trips = static_cast<std::size_t>(std::atoll(argv[2]));
  if (round_trips < 10) return 2;
  const std::string topic = "bench_" + std::to_string(getpid());
  const pid_t child = fork();  // before roscpp is opened
  if (child == 0) pong(topic, argc == 5 ? argv[4] : nullptr);
  const std::int64_t p50 = ping(topic, argc == 5 ? argv[3] : nullptr, bytes, round_trips);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%lld\n", static_cast<long long>(p50));
  return status == 0 ? 0 : 1;
}
