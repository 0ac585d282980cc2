// What the adapter rclcpp says of the RMW, without a ROS 2: version, title, and the notes that go with a result.
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#define RCLCPP_VERSION_STR "16.0.11"  // as rclcpp/version.h has it
#include "rclcpp/rmw.hpp"

namespace middlemark::ros2 {
namespace {

Settings over_rmw(std::size_t bytes) {
  Settings settings;
  settings.transport = "rmw";
  settings.message_bytes = bytes;
  return settings;
}

bool some_says(const std::vector<std::string>& notes, const std::string& words) {
  for (const std::string& note : notes) {
    if (note.find(words) != note.npos) return true;
  }
  return false;
}

TEST(Rmw, the_version_is_of_the_header_because_the_library_has_none) { EXPECT_EQ(version("unknown"), "16.0.11"); }

TEST(Rmw, the_title_has_the_distribution_and_the_identifier) {
  setenv("ROS_DISTRO", "humble", 1);
  EXPECT_EQ(title("rmw_cyclonedds_cpp"), "ROS 2 humble rclcpp over rmw_cyclonedds_cpp");
  unsetenv("ROS_DISTRO");
  EXPECT_EQ(title("rmw_cyclonedds_cpp"), "ROS 2 rclcpp over rmw_cyclonedds_cpp");
}

TEST(Rmw, a_message_beyond_fast_dds_s_segment_is_told_with_the_remedy) {
  unsetenv("FASTRTPS_DEFAULT_PROFILES_FILE");
  unsetenv("FASTDDS_DEFAULT_PROFILES_FILE");
  EXPECT_TRUE(some_says(notes("rmw_fastrtps_cpp", over_rmw(1 << 20)), "segment_size"));
  EXPECT_FALSE(some_says(notes("rmw_fastrtps_cpp", over_rmw(64 << 10)), "segment_size"));
  EXPECT_FALSE(some_says(notes("rmw_cyclonedds_cpp", over_rmw(1 << 20)), "segment_size"));
  setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "larger.xml", 1);
  EXPECT_FALSE(some_says(notes("rmw_fastrtps_cpp", over_rmw(1 << 20)), "segment_size"));
  unsetenv("FASTRTPS_DEFAULT_PROFILES_FILE");
}

TEST(Rmw, several_clients_are_told_that_they_can_lose_replies) {
  Settings calls = over_rmw(1024);
  Topic service;
  service.service = true;
  calls.endpoints.push_back(service);
  EXPECT_FALSE(some_says(notes("rmw_cyclonedds_cpp", calls), "can lose its own"));
  calls.publishers = 3;
  EXPECT_TRUE(some_says(notes("rmw_cyclonedds_cpp", calls), "can lose its own"));
}

}  // namespace
}  // namespace middlemark::ros2
