// Two ROS 2 nodes with a probe: `pair camera COUNT [LOSE]` publishes, `pair detector COUNT` receives. Every LOSE-th
// message is stamped but not published, as if the network had lost it.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/u_int64_multi_array.hpp>

#include <middlemark/probe.hpp>

namespace {

namespace probe = middlemark::probe;
using Image = std_msgs::msg::UInt64MultiArray;
using std::chrono::milliseconds;

int camera(std::uint64_t count, std::uint64_t lose) {
  const probe::Topic stamps = probe::Probe("camera").topic("image");
  const auto node = std::make_shared<rclcpp::Node>("camera");
  const auto publisher = node->create_publisher<Image>("image", rclcpp::QoS(1000).reliable());
  while (rclcpp::ok() && publisher->get_subscription_count() == 0) std::this_thread::sleep_for(milliseconds(10));
  std::this_thread::sleep_for(milliseconds(100));
  Image image;
  image.data.resize(128);
  for (std::uint64_t sequence = 1; rclcpp::ok() && sequence <= count; ++sequence) {
    image.data[0] = sequence;
    stamps.sent(sequence, 8 * image.data.size());
    if (lose == 0 || sequence % lose != 0) publisher->publish(image);
    std::this_thread::sleep_for(milliseconds(1));
  }
  while (rclcpp::ok() && publisher->get_subscription_count() != 0) std::this_thread::sleep_for(milliseconds(10));
  return 0;
}

int detector(std::uint64_t count) {
  const probe::Probe detector("detector");
  const probe::Topic stamps = detector.topic("image"), detect = detector.topic("detect");
  const auto node = std::make_shared<rclcpp::Node>("detector");
  bool done = false;
  const auto subscription =
      node->create_subscription<Image>("image", rclcpp::QoS(1000).reliable(), [&](const Image& image) {
        stamps.received(image.data[0]);
        const probe::Span span = detect.span();
        for (const std::uint64_t pixel : image.data) done |= pixel == count;
      });
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  while (rclcpp::ok() && !done) executor.spin_once(milliseconds(100));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const std::string role = argc > 2 ? argv[1] : "";
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  int status = 2;
  if (role == "camera")
    status = camera(count, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
  else if (role == "detector")
    status = detector(count);
  else
    std::cerr << "usage: pair camera COUNT [LOSE], or pair detector COUNT\n";
  rclcpp::shutdown();
  return status;
}
