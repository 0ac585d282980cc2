// Two ROS 1 nodes with a probe: `pair camera COUNT [LOSE]` publishes, `pair detector COUNT` receives. Every LOSE-th
// message is stamped but not published, as if the network had lost it.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <std_msgs/UInt64MultiArray.h>

#include <middlemark/probe.hpp>

namespace {

namespace probe = middlemark::probe;
using Image = std_msgs::UInt64MultiArray;

int camera(std::uint64_t count, std::uint64_t lose) {
  const probe::Topic stamps = probe::Probe("camera").topic("image");
  ros::NodeHandle node;
  const ros::Publisher publisher = node.advertise<Image>("image", 1000);
  while (ros::ok() && publisher.getNumSubscribers() == 0) ros::WallDuration(0.01).sleep();
  ros::WallDuration(0.1).sleep();
  Image image;
  image.data.resize(128);
  for (std::uint64_t sequence = 1; ros::ok() && sequence <= count; ++sequence) {
    image.data[0] = sequence;
    stamps.sent(sequence, 8 * image.data.size());
    if (lose == 0 || sequence % lose != 0) publisher.publish(image);
    ros::WallDuration(0.001).sleep();
  }
  while (ros::ok() && publisher.getNumSubscribers() != 0) ros::WallDuration(0.01).sleep();
  return 0;
}

int detector(std::uint64_t count) {
  const probe::Probe detector("detector");
  const probe::Topic stamps = detector.topic("image"), detect = detector.topic("detect");
  ros::NodeHandle node;
  bool done = false;
  const boost::function<void(const Image::ConstPtr&)> receive = [&](const Image::ConstPtr& image) {
    stamps.received(image->data[0]);
    const probe::Span span = detect.span();
    for (const std::uint64_t pixel : image->data) done |= pixel == count;
  };
  const ros::Subscriber subscriber =
      node.subscribe<Image>("image", 1000, receive, ros::VoidConstPtr(), ros::TransportHints().tcpNoDelay());
  while (ros::ok() && !done) ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(0.1));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 2 ? argv[1] : "";
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  ros::init(argc, argv, role.empty() ? "pair" : role);
  if (role == "camera") return camera(count, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
  if (role == "detector") return detector(count);
  std::cerr << "usage: pair camera COUNT [LOSE], or pair detector COUNT\n";
  return 2;
}
