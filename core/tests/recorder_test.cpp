#include <middlemark/recorder.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/child.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"

namespace middlemark {
namespace {

Sample numbered(std::uint64_t n) {
  Sample sample;
  sample.sequence = n;
  sample.begin_ns = n * 1'000'003;
  sample.round_trip_ns = (n << 33) + 7;
  sample.first_reply_ns = (n << 32) + 5;
  sample.write_ns = static_cast<std::uint32_t>(n * 3 + 1);
  sample.take_ns = static_cast<std::uint32_t>(n * 5 + 2);
  sample.loan_ns = static_cast<std::uint32_t>(n * 7 + 3);
  sample.fill_ns = static_cast<std::uint32_t>(n * 11 + 4);
  sample.check_ns = n % 2 == 0 ? Sample::absent : static_cast<std::uint32_t>(n);
  sample.replies = static_cast<std::uint32_t>(n % 5);
  return sample;
}

bool same(const Sample& a, const Sample& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// A .npy file taken apart without the code that wrote it.
struct Npy {
  explicit Npy(const std::string& path) : content(test::read_file(path)) {
    if (content.size() < 10)
      throw std::runtime_error("no .npy preamble in " + std::to_string(content.size()) + " bytes");
    magic = content.substr(0, 6);
    major = static_cast<unsigned char>(content[6]);
    minor = static_cast<unsigned char>(content[7]);
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(content[8])) |
                        static_cast<std::size_t>(static_cast<unsigned char>(content[9])) << 8;
    header = content.substr(10, length);
    data_offset = 10 + length;
    for (std::size_t at = header.find("('"); at != std::string::npos; at = header.find("('", at + 1)) {
      const std::size_t name_end = header.find("', '<u", at);
      if (name_end == std::string::npos) throw std::runtime_error("not an unsigned field: " + header.substr(at));
      fields.emplace_back(header.substr(at + 2, name_end - at - 2), std::stoul(header.substr(name_end + 6)));
    }
    const std::string before_count = "'shape': (";
    const std::size_t shape = header.find(before_count);
    if (shape != std::string::npos) count = std::stoull(header.substr(shape + before_count.size()));
    one_dimension = shape != std::string::npos && header.find(",), }", shape) != std::string::npos;
  }

  std::string content;
  std::string magic;
  int major = -1;
  int minor = -1;
  std::string header;
  std::size_t data_offset = 0;
  std::vector<std::pair<std::string, std::size_t>> fields;
  std::uint64_t count = ~std::uint64_t{0};
  bool one_dimension = false;
};

TEST(Recorder, keeps_exactly_what_it_was_given_in_order) {
  Recorder recorder(1000);
  for (std::uint64_t n = 1; n <= 1000; ++n) ASSERT_TRUE(recorder.keep(numbered(n)));
  ASSERT_EQ(recorder.size(), 1000U);
  for (std::uint64_t n = 1; n <= 1000; ++n) EXPECT_TRUE(same(recorder.samples()[n - 1], numbered(n))) << n;
}

TEST(Recorder, refuses_when_it_is_full_and_changes_nothing) {
  Recorder recorder(2);
  EXPECT_FALSE(recorder.full());
  EXPECT_TRUE(recorder.keep(numbered(1)));
  EXPECT_TRUE(recorder.keep(numbered(2)));
  EXPECT_TRUE(recorder.full());
  EXPECT_FALSE(recorder.keep(numbered(3)));
  EXPECT_EQ(recorder.size(), 2U);
  EXPECT_TRUE(same(recorder.samples()[1], numbered(2)));
}

TEST(Recorder, of_no_capacity_is_full_at_once) {
  Recorder recorder(0);
  EXPECT_TRUE(recorder.full());
  EXPECT_FALSE(recorder.keep(numbered(1)));
}

TEST(Recorder, has_faulted_every_page_in_before_the_start) {
  if (test::under_address_sanitizer || test::under_thread_sanitizer) {
    GTEST_SKIP() << "a sanitizer faults pages of its own shadow in";
  }
  Recorder recorder(100'000);
  rusage before{};
  getrusage(RUSAGE_THREAD, &before);
  for (std::uint64_t n = 1; n <= 100'000; ++n) recorder.keep(numbered(n));
  rusage after{};
  getrusage(RUSAGE_THREAD, &after);
  // 5.6 MB are 1,367 small pages; a handful of faults may be the test's own.
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 20);
}

TEST(Recorder, says_how_much_memory_it_could_not_have) {
  constexpr std::size_t more_than_any_address_space = std::size_t{1} << 46;
  try {
    const Recorder recorder(more_than_any_address_space);
    FAIL() << "4 PB were mapped";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_enough_memory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(more_than_any_address_space) + " samples"),
              std::string::npos)
        << error.what();
  }
}

TEST(Sample, a_duration_beyond_four_seconds_saturates_one_below_absent) {
  EXPECT_EQ(Sample::clamp(0), 0U);
  EXPECT_EQ(Sample::clamp(4'294'967'294), 4'294'967'294U);
  EXPECT_EQ(Sample::clamp(4'294'967'295), 4'294'967'294U);
  EXPECT_EQ(Sample::clamp(~std::uint64_t{0}), 4'294'967'294U);
}

TEST(SamplesFile, begins_as_npy_1_0_and_its_data_is_aligned_to_64_bytes) {
  const test::TemporaryFolder folder;
  for (const std::uint64_t count : {0U, 1U, 9U, 10U, 99'999U, 100'000U}) {
    Recorder recorder(count);
    for (std::uint64_t n = 1; n <= count; ++n) recorder.keep(numbered(n));
    recorder.write_npy(folder / "samples.npy");
    const Npy file(folder / "samples.npy");
    EXPECT_EQ(file.magic, "\x93NUMPY");
    EXPECT_EQ(file.major, 1);
    EXPECT_EQ(file.minor, 0);
    EXPECT_EQ(file.data_offset % 64, 0U);
    EXPECT_EQ(file.header.back(), '\n');
    EXPECT_EQ(file.header.front(), '{');
    EXPECT_NE(file.header.find("'fortran_order': False"), std::string::npos);
    EXPECT_EQ(file.count, count);
    EXPECT_TRUE(file.one_dimension);
    EXPECT_EQ(file.content.size(), file.data_offset + count * sizeof(Sample));
  }
}

TEST(SamplesFile, names_every_field_of_a_sample_where_it_lies) {
  const test::TemporaryFolder folder;
  Recorder(1).write_npy(folder / "samples.npy");
  const Npy file(folder / "samples.npy");
  struct Place {
    std::string name;
    std::size_t offset;
    std::size_t bytes;
  };
#define PLACE(field) \
  Place { #field, offsetof(Sample, field), sizeof(Sample::field) }
  const std::vector<Place> places{PLACE(sequence), PLACE(begin_ns), PLACE(round_trip_ns), PLACE(first_reply_ns),
                                  PLACE(write_ns), PLACE(take_ns),  PLACE(loan_ns),       PLACE(fill_ns),
                                  PLACE(check_ns), PLACE(replies)};
#undef PLACE
  ASSERT_EQ(file.fields.size(), places.size());
  std::size_t offset = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(file.fields[i].first, places[i].name);
    EXPECT_EQ(file.fields[i].second, places[i].bytes) << places[i].name;
    EXPECT_EQ(offset, places[i].offset) << places[i].name;
    offset += file.fields[i].second;
  }
  EXPECT_EQ(offset, sizeof(Sample));
}

TEST(SamplesFile, holds_the_samples_byte_for_byte) {
  const test::TemporaryFolder folder;
  Recorder recorder(5000);
  for (std::uint64_t n = 1; n <= 3000; ++n) recorder.keep(numbered(n));
  recorder.write_npy(folder / "samples.npy");
  const Npy file(folder / "samples.npy");
  ASSERT_EQ(file.count, 3000U);
  for (std::uint64_t n = 1; n <= 3000; ++n) {
    Sample sample;
    std::memcpy(&sample, file.content.data() + file.data_offset + (n - 1) * sizeof(Sample), sizeof sample);
    ASSERT_TRUE(same(sample, numbered(n))) << n;
  }
}

TEST(SamplesFile, replaces_what_an_earlier_trial_left) {
  const test::TemporaryFolder folder;
  Recorder longer(100);
  for (std::uint64_t n = 1; n <= 100; ++n) longer.keep(numbered(n));
  longer.write_npy(folder / "samples.npy");
  Recorder(1).write_npy(folder / "samples.npy");
  EXPECT_EQ(Npy(folder / "samples.npy").content.size(), Npy(folder / "samples.npy").data_offset);
}

void expect_refusal_that_names(const std::string& path, std::errc code) {
  Recorder recorder(10);
  recorder.keep(numbered(1));
  try {
    recorder.write_npy(path);
    FAIL() << path << " was written";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST(SamplesFile, in_a_folder_that_is_not_there_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  expect_refusal_that_names(folder / "absent/samples.npy", std::errc::no_such_file_or_directory);
  EXPECT_TRUE(folder.empty());
}

TEST(SamplesFile, whose_name_is_a_folder_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  expect_refusal_that_names(folder.string(), std::errc::is_a_directory);
}

TEST(SamplesFile, in_a_folder_one_may_not_write_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  chmod(folder.string().c_str(), 0555);
  const test::ChildEnd end = test::in_child([&path]() -> std::string {
    if (getuid() == 0 && setuid(65534) != 0) return "cannot become nobody";
    Recorder recorder(10);
    recorder.keep(numbered(1));
    recorder.write_npy(path);
    return "written";
  });
  chmod(folder.string().c_str(), 0755);
  EXPECT_EQ(end.report, "threw: " + path + ": Permission denied") << end.how();
  EXPECT_TRUE(folder.empty());
}

TEST(SamplesFile, on_a_full_disk_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  // Through a link, so that a mistake costs the link and not the machine's /dev/full.
  ASSERT_EQ(symlink("/dev/full", path.c_str()), 0);
  expect_refusal_that_names(path, std::errc::no_space_on_device);
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(SamplesFile, that_is_a_device_is_not_removed_when_writing_it_fails) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  ASSERT_EQ(symlink("/dev/full", path.c_str()), 0);
  expect_refusal_that_names(path, std::errc::no_space_on_device);
  EXPECT_TRUE(std::filesystem::is_symlink(path)) << "only a file that was begun here may be taken away";
}

TEST(SamplesFile, that_could_only_be_written_in_part_is_removed) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  const test::ChildEnd end = test::in_child([&path]() -> std::string {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16'384, 16'384};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return "cannot limit the file size";
    Recorder recorder(1000);
    for (std::uint64_t n = 1; n <= 1000; ++n) recorder.keep(numbered(n));
    recorder.write_npy(path);
    return "written";
  });
  EXPECT_EQ(end.report, "threw: " + path + ": File too large") << end.how();
  EXPECT_TRUE(folder.empty());
}

}  // namespace
}  // namespace middlemark
