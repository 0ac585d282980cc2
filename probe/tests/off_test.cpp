#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <middlemark/probe.hpp>

namespace {

TEST(Vanished, stamps_record_nothing_and_their_arguments_are_not_evaluated) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "probe-off";
  setenv("MIDDLEMARK_PROBE", folder.c_str(), 1);
  const middlemark::probe::Probe probe("off");
  probe.topic("t").sent(1, 1);
  int evaluated = 0;
  MM_SENT(probe.handle(), "t", ++evaluated, 1U);
  MM_RECEIVED(probe.handle(), "t", ++evaluated);
  MM_BEGIN(probe.handle(), "t", work);
  MM_PAUSE(work);
  MM_RESUME(work);
  MM_ITERATE(work);
  MM_END(work);
  EXPECT_EQ(evaluated, 0);
  EXPECT_FALSE(probe.records());
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
