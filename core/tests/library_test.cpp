#include <middlemark/kit/library.hpp>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace middlemark::kit::library_test {
namespace {

/// Returns whether the text is a version such as 6.0.30.
bool is_version(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos && text.front() != '.' &&
         text.back() != '.';
}

TEST(LoadedLibrary, with_a_libc_function_is_the_real_file_of_libc) {
  const LoadedLibrary found = loaded_library(reinterpret_cast<const void*>(&gnu_get_libc_version));
  EXPECT_TRUE(std::filesystem::exists(found.path)) << found.path;
  EXPECT_EQ(std::filesystem::canonical(found.path), found.path) << "the path contains a symbolic link";
  EXPECT_NE(found.path.find("libc"), std::string::npos);
  EXPECT_TRUE(found.version.empty() || is_version(found.version)) << found.version;
}

TEST(LoadedLibrary, with_a_libstdcxx_function_has_the_version_of_the_file_behind_the_link) {
  const void* const function = dlsym(RTLD_DEFAULT, "_ZNSt6locale7classicEv");
  ASSERT_NE(function, nullptr);
  const LoadedLibrary found = loaded_library(function);
  EXPECT_TRUE(std::filesystem::exists(found.path)) << found.path;
  EXPECT_FALSE(std::filesystem::is_symlink(found.path));
  EXPECT_NE(found.path.find("libstdc++.so."), std::string::npos) << found.path;
  EXPECT_TRUE(is_version(found.version)) << found.version;
  EXPECT_GE(found.version.size(), std::string("6.0.0").size())
      << "this is the version in the link's name: " << found.version;
  EXPECT_TRUE(found.path.ends_with(found.version));
}

TEST(LoadedLibrary, of_a_python_wheel_has_the_version_of_the_copy_with_the_longest_name) {
  void* const original = dlopen("libresolv.so.2", RTLD_LAZY);
  ASSERT_NE(original, nullptr);
  const std::string path = loaded_library(dlsym(original, "ns_name_ntop")).path;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("library-test-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(path, folder / "libcopied.so.3");
  std::filesystem::copy_file(path, folder / "libcopied.so.3.1.4");
  std::filesystem::copy_file(folder / "libcopied.so.3", folder / "libcopied.so.3.1.4.7.other");
  std::filesystem::resize_file(folder / "libcopied.so.3.1.4.7.other", 7);
  void* const copied = dlopen((folder / "libcopied.so.3").c_str(), RTLD_LAZY);
  const LoadedLibrary found = loaded_library(dlsym(copied, "ns_name_ntop"));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(found.path, folder / "libcopied.so.3");
  EXPECT_EQ(found.version, "3.1.4");
}

TEST(LoadedLibrary, for_this_executable_has_a_path_and_no_version) {
  static const int here = 0;
  const LoadedLibrary found = loaded_library(&here);
  EXPECT_EQ(found.path, std::filesystem::canonical("/proc/self/exe"));
  EXPECT_EQ(found.version, "");
}

TEST(LoadedLibrary, for_an_address_outside_of_all_libraries_is_empty) {
  const int on_the_stack = 0;
  EXPECT_EQ(loaded_library(&on_the_stack).path, "");
  EXPECT_EQ(loaded_library(nullptr).path, "");
}

}  // namespace
}  // namespace middlemark::kit::library_test
