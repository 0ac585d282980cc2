#include <middlemark/recorder.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/child.hpp"
#include "support/npy.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"

namespace middlemark::recorder_test {
namespace {

using test::Npy;

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
  sample.check_ns = n % 2 == 0 ? absent_ns : static_cast<std::uint32_t>(n);
  sample.replies = static_cast<std::uint32_t>(n % 5);
  sample.late_ns = static_cast<std::uint32_t>(n * 13 + 5);
  return sample;
}

template <class Record>
bool same(const Record& a, const Record& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

Sending numbered_sending(std::uint64_t n) {
  return {n * 1'000'003, static_cast<std::uint32_t>(n * 7 + 1),
          n % 3 == 0 ? absent_ns : static_cast<std::uint32_t>(n * 11 + 2)};
}

Arrival numbered_arrival(std::uint64_t n) { return {n << 48 | (n + 5), (n << 33) + 7, (n << 31) + 11}; }

/// Returns the number of resident pages of this process.
long resident_pages() {
  std::ifstream statm("/proc/self/statm");
  long all = 0;
  long resident = 0;
  statm >> all >> resident;
  return resident;
}

TEST(Recorder, a_few_records_take_a_few_pages) {  // a graph has hundreds of recorders
  if (test::under_address_sanitizer || test::under_thread_sanitizer) {
    GTEST_SKIP() << "the sanitizer adds pages of its own to each page";
  }
  const long before = resident_pages();
  std::vector<std::unique_ptr<PrefaultedMemory>> all;
  for (int i = 0; i < 100; ++i) all.push_back(std::make_unique<PrefaultedMemory>(10, 16));
  EXPECT_LT(resident_pages() - before, 100 * 4);
}

TEST(Recorder, keeps_all_records_in_order) {
  Recorder<Sample> recorder(1000);
  for (std::uint64_t n = 1; n <= 1000; ++n) ASSERT_TRUE(recorder.keep(numbered(n)));
  ASSERT_EQ(recorder.size(), 1000U);
  for (std::uint64_t n = 1; n <= 1000; ++n) EXPECT_TRUE(same(recorder.samples()[n - 1], numbered(n))) << n;
}

TEST(Recorder, refuses_when_it_is_full_and_changes_nothing) {
  Recorder<Sample> recorder(2);
  EXPECT_FALSE(recorder.full());
  EXPECT_TRUE(recorder.keep(numbered(1)));
  EXPECT_TRUE(recorder.keep(numbered(2)));
  EXPECT_TRUE(recorder.full());
  EXPECT_FALSE(recorder.keep(numbered(3)));
  EXPECT_EQ(recorder.size(), 2U);
  EXPECT_TRUE(same(recorder.samples()[1], numbered(2)));
}

TEST(Recorder, of_no_capacity_is_full_at_once) {
  Recorder<Sample> recorder(0);
  EXPECT_TRUE(recorder.full());
  EXPECT_FALSE(recorder.keep(numbered(1)));
  EXPECT_EQ(recorder.capacity(), 0U);
  EXPECT_TRUE(recorder.samples().empty());
}

TEST(Recorder, keeps_records_of_publishers_and_subscribers) {
  Recorder<Sending> sendings(1000);
  Recorder<Arrival> arrivals(1000);
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    ASSERT_TRUE(sendings.keep(numbered_sending(n)));
    ASSERT_TRUE(arrivals.keep(numbered_arrival(n)));
  }
  EXPECT_FALSE(sendings.keep({}));
  EXPECT_FALSE(arrivals.keep({}));
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    EXPECT_TRUE(same(sendings.samples()[n - 1], numbered_sending(n))) << n;
    EXPECT_TRUE(same(arrivals.samples()[n - 1], numbered_arrival(n))) << n;
  }
}

TEST(Recorder, has_faulted_every_page_in_before_the_start) {
  const Recorder<Sample> recorder(100'000);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((recorder.capacity() * sizeof(Sample) + page - 1) / page);
  auto* const memory = const_cast<Sample*>(recorder.samples().data());
  ASSERT_EQ(mincore(memory, resident.size() * page, resident.data()), 0);
  EXPECT_GT(resident.size(), 100U);
  for (std::size_t at = 0; at < resident.size(); ++at) ASSERT_TRUE(resident[at] & 1) << "page " << at;
}

TEST(Recorder, reports_the_size_of_memory_that_it_could_not_get) {
  constexpr std::size_t more_than_any_address_space = std::size_t{1} << 46;
  try {
    const Recorder<Sample> recorder(more_than_any_address_space);
    FAIL() << "4 PiB were mapped";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_enough_memory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(more_than_any_address_space) + " samples"),
              std::string::npos)
        << error.what();
  }
}

TEST(Recorder, refuses_a_number_of_samples_whose_bytes_overflow) {
  constexpr std::size_t wraps_to_nothing = std::size_t{1} << 60;
  static_assert(wraps_to_nothing * sizeof(Sending) == 0);
  try {
    const Recorder<Sending> recorder(wraps_to_nothing);
    FAIL() << "2^64 bytes were mapped";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_enough_memory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(wraps_to_nothing) + " samples"), std::string::npos)
        << error.what();
  }
}

TEST(Sample, a_duration_beyond_four_seconds_saturates_one_below_absent) {
  EXPECT_EQ(clamp_ns(0), 0U);
  EXPECT_EQ(clamp_ns(4'294'967'294), 4'294'967'294U);
  EXPECT_EQ(clamp_ns(4'294'967'295), 4'294'967'294U);
  EXPECT_EQ(clamp_ns(~std::uint64_t{0}), 4'294'967'294U);
}

TEST(SamplesFile, begins_as_npy_1_0_and_its_data_is_aligned_to_64_bytes) {
  const test::TemporaryFolder folder;
  for (const std::uint64_t count : {0U, 1U, 9U, 10U, 999U, 1'000U}) {
    Recorder<Sample> recorder(count);
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

struct Place {
  std::string name;
  std::size_t offset;
  std::size_t bytes;
};

template <class Record>
void expect_fields(const std::vector<Place>& places) {
  const test::TemporaryFolder folder;
  Recorder<Record>(1).write_npy(folder / "samples.npy");
  const Npy file(folder / "samples.npy");
  ASSERT_EQ(file.fields.size(), places.size());
  std::size_t offset = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(file.fields[i].first, places[i].name);
    EXPECT_EQ(file.fields[i].second, places[i].bytes) << places[i].name;
    EXPECT_EQ(offset, places[i].offset) << places[i].name;
    offset += file.fields[i].second;
  }
  EXPECT_EQ(offset, sizeof(Record));
}

#define PLACE(record, field) \
  Place { #field, offsetof(record, field), sizeof(record::field) }

TEST(SamplesFile, has_every_field_of_a_round_trip_at_its_offset) {
  expect_fields<Sample>({PLACE(Sample, sequence), PLACE(Sample, begin_ns), PLACE(Sample, round_trip_ns),
                         PLACE(Sample, first_reply_ns), PLACE(Sample, write_ns), PLACE(Sample, take_ns),
                         PLACE(Sample, loan_ns), PLACE(Sample, fill_ns), PLACE(Sample, check_ns),
                         PLACE(Sample, replies), PLACE(Sample, late_ns), PLACE(Sample, arrived_ns)});
}

TEST(SamplesFile, has_every_field_of_a_sending_at_its_offset) {
  expect_fields<Sending>({PLACE(Sending, begin_ns), PLACE(Sending, late_ns), PLACE(Sending, write_ns)});
}

TEST(SamplesFile, has_every_field_of_an_arrival_at_its_offset) {
  expect_fields<Arrival>({PLACE(Arrival, stamp), PLACE(Arrival, received_ns), PLACE(Arrival, one_way_ns)});
}

TEST(SamplesFile, has_every_field_of_an_answer_at_its_offset) {
  expect_fields<Answer>({PLACE(Answer, stamp), PLACE(Answer, received_ticks), PLACE(Answer, take_ns),
                         PLACE(Answer, copy_ns), PLACE(Answer, write_ns), PLACE(Answer, arrived_ns)});
}

#undef PLACE

template <class Record>
void expect_byte_for_byte(Record (*made)(std::uint64_t)) {
  const test::TemporaryFolder folder;
  Recorder<Record> recorder(5000);
  for (std::uint64_t n = 1; n <= 3000; ++n) recorder.keep(made(n));
  recorder.write_npy(folder / "samples.npy");
  const Npy file(folder / "samples.npy");
  ASSERT_EQ(file.count, 3000U);
  EXPECT_EQ(file.content.size(), file.data_offset + 3000 * sizeof(Record));
  for (std::uint64_t n = 1; n <= 3000; ++n) ASSERT_TRUE(same(file.record<Record>(n - 1), made(n))) << n;
}

TEST(SamplesFile, contains_the_round_trips_byte_for_byte) { expect_byte_for_byte(numbered); }
TEST(SamplesFile, contains_the_sendings_byte_for_byte) { expect_byte_for_byte(numbered_sending); }
TEST(SamplesFile, contains_the_arrivals_byte_for_byte) { expect_byte_for_byte(numbered_arrival); }

TEST(SamplesFile, of_a_recorder_without_capacity_contains_no_record) {
  const test::TemporaryFolder folder;
  Recorder<Arrival>(0).write_npy(folder / "samples.npy");
  const Npy file(folder / "samples.npy");
  EXPECT_EQ(file.count, 0U);
  EXPECT_EQ(file.content.size(), file.data_offset);
}

TEST(SamplesFile, replaces_the_file_of_an_earlier_trial) {
  const test::TemporaryFolder folder;
  Recorder<Sample> longer(100);
  for (std::uint64_t n = 1; n <= 100; ++n) longer.keep(numbered(n));
  longer.write_npy(folder / "samples.npy");
  Recorder<Sample>(1).write_npy(folder / "samples.npy");
  EXPECT_EQ(Npy(folder / "samples.npy").content.size(), Npy(folder / "samples.npy").data_offset);
}

void expect_refusal_that_names(const std::string& path, std::errc code) {
  Recorder<Sample> recorder(10);
  recorder.keep(numbered(1));
  try {
    recorder.write_npy(path);
    FAIL() << path << " was written";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST(SamplesFile, in_a_missing_folder_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  expect_refusal_that_names(folder / "absent/samples.npy", std::errc::no_such_file_or_directory);
  EXPECT_TRUE(folder.empty());
}

TEST(SamplesFile, that_is_a_folder_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  expect_refusal_that_names(folder.string(), std::errc::is_a_directory);
}

TEST(SamplesFile, in_a_read_only_folder_is_an_error_with_the_path) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  chmod(folder.string().c_str(), 0555);
  const test::ChildEnd end = test::in_child([&path]() -> std::string {
    if (getuid() == 0 && setuid(65534) != 0) return "cannot become nobody";
    Recorder<Sample> recorder(10);
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
  // Write through a link, so that a mistake removes the link and not the machine's /dev/full.
  ASSERT_EQ(symlink("/dev/full", path.c_str()), 0);
  expect_refusal_that_names(path, std::errc::no_space_on_device);
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(SamplesFile, that_is_a_device_is_not_removed_when_writing_it_fails) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  ASSERT_EQ(symlink("/dev/full", path.c_str()), 0);
  expect_refusal_that_names(path, std::errc::no_space_on_device);
  EXPECT_TRUE(std::filesystem::is_symlink(path)) << "only a regular file may be removed";
}

TEST(SamplesFile, that_was_only_partly_written_is_removed) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  const test::ChildEnd end = test::in_child([&path]() -> std::string {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16'384, 16'384};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return "cannot limit the file size";
    Recorder<Sample> recorder(1000);
    for (std::uint64_t n = 1; n <= 1000; ++n) recorder.keep(numbered(n));
    recorder.write_npy(path);
    return "written";
  });
  EXPECT_EQ(end.report, "threw: " + path + ": File too large") << end.how();
  EXPECT_TRUE(folder.empty());
}

TEST(SamplesFile, continues_after_a_signal_interrupted_the_writing) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "samples.npy";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  Recorder<Sample> recorder(10'000);  // more than a pipe can hold
  for (std::uint64_t n = 1; n <= 10'000; ++n) recorder.keep(numbered(n));
  struct sigaction interrupting{};
  interrupting.sa_handler = [](int) {};
  struct sigaction before{};
  sigaction(SIGUSR1, &interrupting, &before);
  std::string arrived;
  {
    std::jthread reader([&arrived, &path, writer = pthread_self()] {
      const int pipe = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      for (int i = 0; i < 20; ++i) {  // the pipe is full, and the writer waits
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        pthread_kill(writer, SIGUSR1);
      }
      char chunk[4096];
      for (ssize_t got = 0; (got = read(pipe, chunk, sizeof chunk)) > 0;) {
        arrived.append(chunk, static_cast<std::size_t>(got));
      }
      close(pipe);
    });
    recorder.write_npy(path);
  }
  sigaction(SIGUSR1, &before, nullptr);
  recorder.write_npy(folder / "whole.npy");
  EXPECT_TRUE(arrived == Npy(folder / "whole.npy").content);
}

}  // namespace
}  // namespace middlemark::recorder_test
