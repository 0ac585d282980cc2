#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <middlemark/probe.hpp>

#include "in_c.h"

namespace middlemark::probe {
namespace {

struct Read {
  contents head{};
  std::vector<seen> records;

  [[nodiscard]] std::string name(std::uint32_t topic) const { return head.names[topic - 1]; }
};

/// A folder for the probe's files. A process has only one file, so each test records in a child process.
class Stamps : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "probe-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    setenv("MIDDLEMARK_PROBE", folder_.c_str(), 1);
    setenv("MIDDLEMARK_PROBE_RECORDS", "40000", 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs `body` in a child process and returns the status of waitpid().
  static int in_a_process(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      body();
      std::exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  [[nodiscard]] std::vector<Read> files() const {
    std::vector<Read> found;
    for (const auto& each : std::filesystem::directory_iterator(folder_)) {
      Read read;
      const char* wrong = read_file(
          each.path().c_str(), &read.head,
          [](void* context, const seen* one) { static_cast<std::vector<seen>*>(context)->push_back(*one); },
          &read.records);
      EXPECT_EQ(wrong, nullptr) << each.path() << ": " << wrong;
      found.push_back(read);
    }
    return found;
  }

  [[nodiscard]] Read only_file() const {
    const std::vector<Read> found = files();
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? Read{} : found.front();
  }

  std::filesystem::path folder_;
};

TEST_F(Stamps, are_read_as_they_were_made) {
  in_a_process([] {
    const Probe camera("camera");
    const Topic image = camera.topic("image");
    image.sent(7, 640);
    image.received(7);
    stamp_from_c(camera.handle());
  });
  const Read read = only_file();
  ASSERT_EQ(read.records.size(), 6U);
  EXPECT_EQ(read.records[0].kind, mm_kind_sent);
  EXPECT_EQ(read.records[0].value, 7U);
  EXPECT_EQ(read.records[0].extra, 640U);
  EXPECT_EQ(read.name(read.records[0].topic), "image");
  EXPECT_EQ(read.name(read.head.owners[read.records[0].topic - 1]), "camera");
  EXPECT_EQ(read.records[1].kind, mm_kind_received);
  EXPECT_GE(read.records[1].at_ticks, read.records[0].at_ticks);
  EXPECT_EQ(read.name(read.records[2].topic), "from c");
  EXPECT_EQ(read.records[4].kind, mm_kind_iteration);
  EXPECT_EQ(read.records[5].kind, mm_kind_span);
  EXPECT_EQ(read.name(read.records[5].topic), "work");
  EXPECT_GT(read.head.closed_ticks, read.records[5].at_ticks);
}

TEST_F(Stamps, made_at_one_place_in_a_program_by_several_probes_belong_to_the_right_probe) {
  in_a_process([] {
    for (const char* name : {"left", "right", "left"}) stamp_from_c(Probe(name).handle());
  });
  const Read read = only_file();
  std::map<std::string, int> sent;
  for (const seen& each : read.records) {
    if (each.kind == mm_kind_sent) ++sent[read.name(read.head.owners[each.topic - 1])];
  }
  EXPECT_EQ(sent, (std::map<std::string, int>{{"left", 2}, {"right", 1}}));
}

TEST_F(Stamps, of_several_threads_are_all_recorded_and_complete) {
  constexpr std::uint64_t threads = 4, each = 5000;
  in_a_process([] {
    const Probe probe("threads");
    std::vector<std::thread> running;
    for (std::uint64_t number = 0; number < threads; ++number) {
      running.emplace_back([probe, number] {
        const Topic topic = probe.topic("shared");  // the four threads may add it at once
        for (std::uint64_t i = 0; i < each; ++i) topic.sent(number * each + i, number * each + i);
      });
    }
    for (std::thread& thread : running) thread.join();
  });
  const Read read = only_file();
  std::set<std::uint64_t> sequences;
  for (const seen& record : read.records) {
    EXPECT_EQ(record.value, record.extra);
    EXPECT_EQ(read.name(record.topic), "shared");
    sequences.insert(record.value);
  }
  EXPECT_EQ(read.records.size(), threads * each);
  EXPECT_EQ(sequences.size(), threads * each);
}

TEST_F(Stamps, stay_readable_when_the_process_is_killed) {
  const int status = in_a_process([] {
    const Topic topic = Probe("killed").topic("t");
    for (std::uint64_t i = 0; i < 3000; ++i) topic.sent(i, 1);
    raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const Read read = only_file();
  EXPECT_EQ(read.records.size(), 3000U);
  EXPECT_EQ(read.head.closed_ticks, 0U);
}

Topic interrupting;
std::uint64_t interruptions = 0;

TEST_F(Stamps, of_a_signal_handler_and_of_the_interrupted_thread_are_all_recorded) {
  constexpr std::uint64_t handled = 1U << 20;
  in_a_process([] {
    interrupting = Probe("signals").topic("t");
    struct sigaction action{};
    action.sa_handler = [](int) { interrupting.sent(handled + interruptions++, 0); };
    sigaction(SIGUSR1, &action, nullptr);
    const pthread_t stamping = pthread_self();
    std::thread disturbing([stamping] {
      for (int i = 0; i < 2000; ++i) {
        pthread_kill(stamping, SIGUSR1);
        std::this_thread::yield();
      }
    });
    for (std::uint64_t i = 0; i < 20000; ++i) interrupting.sent(i, 0);
    disturbing.join();
    interrupting.received(interruptions);
  });
  const Read read = only_file();
  std::set<std::uint64_t> normal, of_handler;
  std::uint64_t handled_count = 0;
  for (const seen& each : read.records) {
    if (each.kind == mm_kind_received)
      handled_count = each.value;
    else
      (each.value < handled ? normal : of_handler).insert(each.value);
  }
  EXPECT_EQ(normal.size(), 20000U);
  EXPECT_EQ(of_handler.size(), handled_count);
  EXPECT_GT(handled_count, 0U);
  EXPECT_EQ(read.records.size(), 20000U + handled_count + 1);
}

TEST_F(Stamps, beyond_the_records_are_counted_and_spans_go_into_a_histogram) {
  setenv("MIDDLEMARK_PROBE_RECORDS", "1000", 1);
  in_a_process([] {
    const Topic topic = Probe("full").topic("t");
    for (std::uint64_t i = 0; i < 1500; ++i) topic.sent(i, 1);
    topic.received(1);
    for (int i = 0; i < 10; ++i) {
      const Span span = topic.span();
    }
  });
  const Read read = only_file();
  EXPECT_EQ(read.records.size(), 1023U);  // one chunk
  EXPECT_EQ(read.head.sent_beyond, 1500U - 1023U);
  EXPECT_EQ(read.head.received_beyond, 1U);
  EXPECT_EQ(read.head.spans_beyond, 10U);
  EXPECT_GT(read.head.full_ticks, read.records.back().at_ticks);
}

TEST_F(Stamps, of_a_forked_child_are_recorded_in_its_own_file_with_the_same_handles) {
  in_a_process([] {
    const Topic topic = Probe("parent").topic("t");
    topic.sent(1, 0);
    in_a_process([topic] {
      std::thread([topic] { topic.sent(2, 0); }).join();  // a new thread makes the file, not the forked one
      topic.sent(3, 0);
      in_a_process([topic] { topic.sent(4, 0); });
    });
    in_a_process([] {});  // a child without stamps leaves no file
    topic.sent(5, 0);
  });
  std::multiset<std::set<std::uint64_t>> found;
  for (const Read& read : files()) {
    std::set<std::uint64_t> sequences;
    for (const seen& each : read.records) {
      EXPECT_EQ(read.name(each.topic), "t");
      sequences.insert(each.value);
    }
    found.insert(sequences);
  }
  EXPECT_EQ(found, (std::multiset<std::set<std::uint64_t>>{{1, 5}, {2, 3}, {4}}));
}

TEST_F(Stamps, are_not_recorded_without_a_folder) {
  unsetenv("MIDDLEMARK_PROBE");
  const int status = in_a_process([] {
    const Probe probe("nobody");
    const Topic topic = probe.topic("t");
    topic.sent(1, 1);
    {
      const Span span = topic.span();
    }
    stamp_from_c(probe.handle());
    std::exit(probe.records() ? 1 : 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(files().empty());
}

TEST_F(Stamps, are_not_recorded_if_the_file_cannot_be_made_and_the_program_continues) {
  setenv("MIDDLEMARK_PROBE", (folder_ / "there is no" / "such folder").c_str(), 1);
  const int status = in_a_process([] {
    testing::internal::CaptureStderr();
    const Probe probe("nobody");
    probe.topic("t").sent(1, 1);
    const bool reported = testing::internal::GetCapturedStderr().find("nothing is recorded") != std::string::npos;
    std::exit(probe.records() || !reported ? 1 : 0);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Stamps, of_refused_names_are_not_recorded_and_the_names_are_counted) {
  in_a_process([] {
    const Probe probe("names");
    probe.topic(std::string(120, 'x').c_str()).sent(1, 1);
    for (int i = 0; i < 300; ++i) probe.topic(("topic " + std::to_string(i)).c_str()).sent(1, 1);
  });
  const Read read = only_file();
  EXPECT_EQ(read.records.size(), 255U);
  EXPECT_EQ(read.head.unnamed, 1U + 300U - 255U);
}

TEST_F(Stamps, allocate_nothing) {
  const int status = in_a_process([] {
    const Topic topic = Probe("allocations").topic("t");
    const std::size_t before = mallinfo2().uordblks;
    for (std::uint64_t i = 0; i < 50000; ++i) {  // more than the records can hold
      topic.sent(i, 1);
      Span span = topic.span();
      span.next();
    }
    std::exit(mallinfo2().uordblks == before ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Stamps, of_a_span_leave_its_pauses_out) {
  in_a_process([] {
    const Topic topic = Probe("pauses").topic("t");
    const std::uint64_t before = mm_ticks();
    Span span = topic.span();
    span.pause();
    span.pause();  // nested: still one pause
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    span.resume();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    span.resume();
    span.end();
    topic.received(mm_ticks() - before);
    span.end();  // the second call does nothing
  });
  const Read read = only_file();
  ASSERT_EQ(read.records.size(), 2U);
  EXPECT_GE(read.records[0].extra,
            40'000'000U);  // the sleeps within the pauses; one ns is at least one tick of every clock
  EXPECT_LE(read.records[0].value + read.records[0].extra, read.records[1].value);
}

}  // namespace
}  // namespace middlemark::probe
