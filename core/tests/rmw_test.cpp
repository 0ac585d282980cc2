// Tests, without ROS 2, what the adapters of ROS 2 report about RMWs: the available ones, version, title, and notes.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#define RCLCPP_VERSION_STR "16.0.11"  // as in rclcpp/version.h
#include "common/ros2/rmw.hpp"
#include "rclcpp/version.hpp"

namespace middlemark::ros2::rmw_test {
namespace {

Settings over(const std::string& transport, std::size_t bytes) {
  Settings settings;
  settings.transport = transport;
  settings.message_bytes = bytes;
  return settings;
}

bool some_says(const std::vector<std::string>& notes, const std::string& words) {
  for (const std::string& note : notes) {
    if (note.find(words) != note.npos) return true;
  }
  return false;
}

TEST(Rmw, the_version_comes_from_the_header_because_the_library_has_none) {
  EXPECT_EQ(rclcpp_version("unknown"), "16.0.11");
}

TEST(Rmw, the_title_has_the_distribution_and_every_rmw_with_its_middleware) {
  EXPECT_EQ(title("humble", "rclcpp",
                  {words_of({"rmw_cyclonedds_cpp", "1.3.4"}, "Cyclone DDS 0.10.2"), words_of({"rmw_x", ""}, "")}),
            "ROS 2 humble rclcpp over rmw_cyclonedds_cpp 1.3.4 (Cyclone DDS 0.10.2), rmw_x");
  EXPECT_EQ(title("", "rclcpp", {"rmw_cyclonedds_cpp"}), "ROS 2 rclcpp over rmw_cyclonedds_cpp");
}

/// Two installation prefixes as a sourced ROS 2 sets them; the first has precedence.
class Index : public testing::Test {
 protected:
  Index() {
    add("over", "rmw_zenoh_cpp", "0.2.0");
    add("under", "rmw_zenoh_cpp", "0.1.0");
    add("under", "rmw_fastrtps_cpp", "6.2.7");
    add("under", "rmw_cyclonedds_cpp", "");
    add("under", "rmw_implementation", "2.8.4");
    setenv("AMENT_PREFIX_PATH", ((root_ / "over").string() + ":" + (root_ / "under").string()).c_str(), 1);
  }
  ~Index() override {
    unsetenv("AMENT_PREFIX_PATH");
    unsetenv(kept_rmw);
    std::filesystem::remove_all(root_);
  }

  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Rmw& rmw : installed_rmws()) all.push_back(words_of(rmw, ""));
    return all;
  }

 private:
  void add(const std::string& prefix, const std::string& name, const std::string& version) const {
    const std::filesystem::path share = root_ / prefix / "share";
    const std::filesystem::path index = share / "ament_index/resource_index/rmw_typesupport";
    std::filesystem::create_directories(index);
    std::filesystem::create_directories(share / name);
    std::ofstream(index / name) << "rosidl_typesupport_c";
    if (!version.empty()) std::ofstream(share / name / "package.xml") << "<version>" << version << "</version>";
  }

  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("rmw-index-" + std::to_string(getpid()));
};

TEST_F(Index, every_rmw_is_found_once_and_ros_2_s_own_default_is_the_first) {
  EXPECT_EQ(names(), (std::vector<std::string>{"rmw_fastrtps_cpp 6.2.7", "rmw_cyclonedds_cpp", "rmw_zenoh_cpp 0.2.0"}));
}

TEST_F(Index, the_users_choice_is_the_first) {
  setenv(kept_rmw, "rmw_zenoh_cpp", 1);
  EXPECT_EQ(names().front(), "rmw_zenoh_cpp 0.2.0");
}

TEST_F(Index, without_a_sourced_ros_2_no_rmw_is_found) {
  unsetenv("AMENT_PREFIX_PATH");
  EXPECT_TRUE(installed_rmws().empty());
}

// Not a test by itself: the next test restarts this executable, which then runs this one.
TEST(Rmw, DISABLED_restarted) {
  EXPECT_EQ(std::getenv("RMW_IMPLEMENTATION"), nullptr);
  EXPECT_EQ(std::getenv("RCL_ASSERT_RMW_ID_MATCHES"), nullptr);
  EXPECT_EQ(chosen_rmw(), "rmw_cyclonedds_cpp");
}

void restart_with_a_choice() {
  setenv("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp", 1);
  setenv("RCL_ASSERT_RMW_ID_MATCHES", "rmw_cyclonedds_cpp", 1);
  const char* arguments[] = {"anew", "--gtest_filter=*.DISABLED_restarted", "--gtest_also_run_disabled_tests", nullptr};
  start_without_rmw(const_cast<char**>(arguments));
  std::_Exit(2);  // start_without_rmw() returned instead of restarting
}

TEST(Rmw, a_worker_restarts_without_the_users_variable_and_remembers_the_choice) {
  EXPECT_EXIT(restart_with_a_choice(), testing::ExitedWithCode(0), "");
}

TEST(Rmw, without_a_users_choice_a_worker_does_not_restart) {
  unsetenv("RMW_IMPLEMENTATION");
  start_without_rmw(nullptr);
  EXPECT_EQ(chosen_rmw(), "");
}

TEST(Rmw, fast_dds_is_recognised_by_its_segments_and_the_others_by_the_network) {
  EXPECT_EQ(network("rmw_fastrtps_cpp", "").carrier, "shared-memory");
  EXPECT_EQ(network("rmw_fastrtps_cpp", "").segments, (std::vector<std::string>{"fastrtps_*", "fastdds_*"}));
  EXPECT_EQ(network("rmw_cyclonedds_cpp", "").carrier, "udp");
  EXPECT_EQ(network("rmw_zenoh_cpp", "").carrier, "tcp");
}

TEST(Rmw, the_carrier_of_best_effort_depends_on_the_version_of_fast_dds) {
  EXPECT_EQ(network("rmw_fastrtps_cpp", "Fast DDS 2.9.1").best_effort_carrier, "udp");
  EXPECT_EQ(network("rmw_fastrtps_cpp", "Fast DDS 2.14.5").best_effort_carrier, "shared-memory");
  EXPECT_EQ(network("rmw_fastrtps_cpp", "Fast DDS 3.2.2").best_effort_carrier, "shared-memory");
  EXPECT_EQ(network("rmw_fastrtps_cpp", "Fast DDS 2.10.1").best_effort_carrier, "any");
  EXPECT_EQ(network("rmw_fastrtps_cpp", "").best_effort_carrier, "any");
}

TEST(Rmw, an_rmw_over_dds_has_all_security_levels_and_others_none_with_a_reason) {
  for (const char* const rmw : {"rmw_fastrtps_cpp", "rmw_cyclonedds_cpp"}) {
    EXPECT_EQ(network(rmw, "").security.size(), 4U) << rmw;
    EXPECT_TRUE(network(rmw, "").permissions) << rmw;
  }
  for (const Transport& bare : {network("rmw_zenoh_cpp", ""), within_process()}) {
    EXPECT_EQ(bare.security, std::vector<Security>{Security::none});
    EXPECT_NE(bare.security_why, "");
  }
}

TEST(Rmw, fast_dds_has_its_default_segment_unless_a_profile_may_change_it) {
  unsetenv("FASTRTPS_DEFAULT_PROFILES_FILE");
  unsetenv("FASTDDS_DEFAULT_PROFILES_FILE");
  const Settings settings = over("rmw_fastrtps_cpp", 1 << 20);
  EXPECT_EQ(shared_segment("rmw_fastrtps_cpp", settings).bytes, 512 << 10);
  EXPECT_NE(shared_segment("rmw_fastrtps_cpp", settings).setting.find("segment_size"), std::string::npos);
  EXPECT_EQ(shared_segment("rmw_cyclonedds_cpp", settings).bytes, 0);
  EXPECT_EQ(shared_segment("rmw_fastrtps_cpp", over(intraprocess_name, 1 << 20)).bytes, 0);
  setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "larger.xml", 1);
  EXPECT_EQ(shared_segment("rmw_fastrtps_cpp", settings).bytes, 0);
  unsetenv("FASTRTPS_DEFAULT_PROFILES_FILE");
}

TEST(Rmw, best_effort_messages_are_not_sent_again_so_the_segment_is_no_limit) {
  Settings lossy = over("rmw_fastrtps_cpp", 1 << 20);
  lossy.reliability = Reliability::best_effort;
  EXPECT_EQ(shared_segment("rmw_fastrtps_cpp", lossy).bytes, 0);
}

TEST(Rmw, a_full_history_of_fast_dds_is_a_timeout_and_no_failure) {
  Settings settings = over("rmw_fastrtps_cpp", 64);
  EXPECT_EQ(refused(settings), Published::timed_out);
  EXPECT_FALSE(some_says(notes("rmw_fastrtps_cpp", "", settings), "5,000"));
  settings.depth.reset();
  EXPECT_TRUE(some_says(notes("rmw_fastrtps_cpp", "", settings), "5,000"));
  settings.reliability = Reliability::best_effort;
  EXPECT_EQ(refused(settings), Published::failed);
  EXPECT_EQ(refused(over("rmw_cyclonedds_cpp", 64)), Published::failed);
}

TEST(Rmw, several_clients_have_a_note_that_they_can_lose_replies) {
  Settings calls = over("rmw_cyclonedds_cpp", 1024);
  Topic service;
  service.service = true;
  calls.endpoints.push_back(service);
  EXPECT_FALSE(some_says(notes("rmw_cyclonedds_cpp", "", calls), "can lose its own"));
  calls.publishers = 3;
  EXPECT_TRUE(some_says(notes("rmw_cyclonedds_cpp", "", calls), "can lose its own"));
}

}  // namespace
}  // namespace middlemark::ros2::rmw_test
