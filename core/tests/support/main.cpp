// main() of every test executable of the core. --subject=clock, which ctest uses, selects the tests of clock_test.cpp.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

/// Returns a gtest filter that selects the tests in <subject>_test.cpp; empty if there are none.
std::string filter_of(std::string_view subject) {
  const std::string file = std::string(subject) + "_test.cpp";
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string filter;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (std::filesystem::path(test.file()).filename() == file)
        filter.append(suite.name()).append(".").append(test.name()).append(":");
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view option = "--subject=";
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && std::string_view(argv[1]).starts_with(option)) {
    const std::string filter = filter_of(argv[1] + option.size());
    if (filter.empty()) {
      std::fprintf(stderr, "%s: no test of this executable is in such a file\n", argv[1]);
      return 2;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
