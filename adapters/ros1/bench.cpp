// Measures a round trip of a program that uses roscpp directly, for comparison with the adapter.
//
//   bench_ros1 BYTES ROUND_TRIPS [ping-cpu pong-cpu]
//
// Two processes, TCPROS without options (the adapter's transport tcpros), queues of 1. Each receives as the adapter does
// under `block`: callAvailable(timeout) of its own callback queue, on its main thread. Needs a ROS master (ROS_MASTER_URI).
// Prints the p50 in ns; the first tenth is not counted.
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <direct.hpp>

namespace bench {

struct Message {  // as ROS's generator makes it for `uint8[] data`
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

void open_node(const std::string& name) {
  ros::init(ros::M_string(), name, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
}

void pong(const std::string& topic) {
  open_node(topic + "_b");
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
}

void ping(const std::string& topic, std::size_t bytes, std::size_t round_trips) {
  open_node(topic + "_a");
  ros::NodeHandle node;
  ros::CallbackQueue queue;
  node.setCallbackQueue(&queue);
  bool replied = false;
  const ros::Publisher publisher = node.advertise<Message>("/" + topic + "_ping", 1);
  const ros::Subscriber subscriber =
      node.subscribe<Message>("/" + topic + "_pong", 1, [&](const MessageConstPtr&) { replied = true; });
  while (publisher.getNumSubscribers() == 0 || subscriber.getNumPublishers() == 0) usleep(1000);
  usleep(200'000);  // wait, so that the pong finds its publisher and subscriber too

  Message message;
  message.data.resize(bytes);
  middlemark::direct::measure(
      round_trips, [&](std::size_t i) { std::memcpy(message.data.data(), &i, sizeof i); },
      [&] {
        replied = false;
        publisher.publish(message);
        while (!replied) queue.callAvailable(ros::WallDuration(1.0));
      });
  ros::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string topic = "bench_" + std::to_string(getpid());
  return middlemark::direct::run(
      argc, argv, [&](std::size_t bytes, std::size_t round_trips) { ping(topic, bytes, round_trips); },
      [&](std::size_t, std::size_t) { pong(topic); });
}
