// Tests Control. It replaces descriptors 0 and 1 of its process, so each test runs Control and its launcher in a child
// process.
#include <middlemark/control.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/child.hpp"

namespace middlemark::control_test {
namespace {

using namespace std::chrono_literals;
using test::ChildEnd;
using test::in_child;
using test::write_all;

/// The launcher's ends of this process's stdin, stdout and stderr.
struct Launcher {
  Launcher() {
    for (int standard = 0; standard < 3; ++standard) {
      std::array<int, 2> channel{};
      if (pipe(channel.data()) != 0) throw std::runtime_error("pipe");
      dup2(channel[standard == 0 ? 0 : 1], standard);
      close(channel[standard == 0 ? 0 : 1]);
      ends[static_cast<std::size_t>(standard)] = channel[standard == 0 ? 1 : 0];
    }
  }
  void say(const std::string& text) const { write_all(ends[0], text); }
  void leave() const { close(ends[0]); }
  /// Returns what has been written so far, without waiting for more.
  [[nodiscard]] std::string output(std::size_t standard) const {
    std::array<char, 65'536> chunk{};
    pollfd waiting{ends[standard], POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0) return {};
    const ssize_t got = read(ends[standard], chunk.data(), chunk.size());
    return got > 0 ? std::string(chunk.data(), static_cast<std::size_t>(got)) : std::string();
  }

  std::array<int, 3> ends{};
};

std::string shown(const std::optional<std::string>& line) { return line ? "[" + *line + "]" : "-"; }

/// Returns the results of `times` calls of receive().
std::string received(Control& control, int times, std::chrono::milliseconds timeout = 10s, int also = -1) {
  std::string seen;
  for (int i = 0; i < times; ++i) seen += shown(control.receive(timeout, also));
  return seen;
}

TEST(Control, a_line_split_over_several_reads_is_joined) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    std::string seen;
    for (const char* piece : {"{\"comm", "and\":", "\"start\"}"}) {
      launcher.say(piece);
      seen += shown(control.receive(1ms));
    }
    launcher.say("\n");
    return seen + shown(control.receive(10s));
  });
  EXPECT_EQ(end.text(), R"(---[{"command":"start"}])");
}

TEST(Control, several_lines_of_one_read_are_returned_one_by_one) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    launcher.say("one\ntwo\n\nthr");
    std::string seen = received(control, 1);
    seen += received(control, 3, 0ms);
    launcher.say("ee\n");
    return seen + shown(control.receive(10s));
  });
  EXPECT_EQ(end.text(), "[one][two][]-[three]");
}

TEST(Control, a_very_long_line_is_returned_whole) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    std::string line(3 << 20, 'x');
    line.front() = '<';
    line.back() = '>';
    std::thread writer([&] { launcher.say(line + "\nnext\n"); });
    const auto got = control.receive(25s);
    const auto next = control.receive(10s);
    writer.join();
    return std::string(got == line ? "whole " : "torn ") + shown(next);
  });
  EXPECT_EQ(end.text(), "whole [next]");
}

TEST(Control, a_timeout_returns_nothing_and_does_not_close) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    const auto begin = std::chrono::steady_clock::now();
    const std::string seen = shown(control.receive(20ms));
    const bool waited = std::chrono::steady_clock::now() - begin >= 20ms;
    return seen + (waited ? " waited" : " did not wait") + (control.closed() ? " closed" : " open");
  });
  EXPECT_EQ(end.text(), "- waited open");
}

TEST(Control, the_end_is_reported_after_the_last_line) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    launcher.say("one\ntwo\nunfinished");
    launcher.leave();
    std::string seen = received(control, 2);
    seen += control.closed() ? " closed early " : " open ";
    seen += shown(control.receive(10s));
    return seen + (control.closed() ? " closed" : " open");
  });
  EXPECT_EQ(end.text(), "[one][two] open - closed");
}

TEST(Control, another_descriptor_ends_the_wait_and_does_not_close) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    const int also = eventfd(1, EFD_CLOEXEC);
    const std::string seen = shown(control.receive(25s, also));
    return seen + (control.closed() ? " closed" : " open");
  });
  EXPECT_EQ(end.text(), "- open");
}

TEST(Control, a_line_is_not_lost_to_another_descriptor) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    const int also = eventfd(1, EFD_CLOEXEC);
    launcher.say("stop\nquit\n");
    return received(control, 3, 10s, also);
  });
  EXPECT_EQ(end.text(), "[stop][quit]-");
}

TEST(Control, output_of_other_code_goes_to_stderr_and_never_between_the_lines) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    Control control;
    std::printf("noise of a middleware\n");
    std::fflush(stdout);
    write_all(STDOUT_FILENO, "more noise\n");
    control.send({{"event", "hello"}});
    return "out: " + launcher.output(1) + "err: " + launcher.output(2);
  });
  EXPECT_EQ(end.text(), "out: {\"event\":\"hello\"}\nerr: noise of a middleware\nmore noise\n");
}

TEST(Control, other_code_cannot_read_the_commands) {
  const ChildEnd end = in_child([]() -> std::string {
    const Launcher launcher;
    Control control;
    launcher.say("secret\n");
    char byte = 0;
    const ssize_t got = read(STDIN_FILENO, &byte, 1);
    return std::to_string(got) + " " + shown(control.receive(10s));
  });
  EXPECT_EQ(end.text(), "0 [secret]");
}

TEST(Control, invalid_utf8_is_replaced_and_the_line_is_sent) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    const Control control;
    control.send({{"text", "bad \xFF byte\nand a new line"}});
    return launcher.output(1);
  });
  EXPECT_EQ(end.text(), "{\"text\":\"bad \xEF\xBF\xBD byte\\nand a new line\"}\n");
}

TEST(Control, sending_to_a_launcher_that_went_away_is_not_an_error) {
  const ChildEnd end = in_child([] {
    signal(SIGPIPE, SIG_IGN);
    const Launcher launcher;
    Control control;
    close(launcher.ends[1]);
    control.send({{"event", "tick"}});
    launcher.leave();
    const std::string seen = shown(control.receive(10s));
    return seen + (control.closed() ? " closed" : " open");
  });
  EXPECT_EQ(end.text(), "- closed");
}

/// Returns the descriptors that a program would inherit if this process started it.
std::set<int> inheritable() {
  std::set<int> found;
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    const int flags = fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.insert(descriptor);
  }
  return found;
}

TEST(Control, programs_started_by_the_middleware_do_not_inherit_the_channel) {
  const ChildEnd end = in_child([] {
    const Launcher launcher;
    const std::set<int> before = inheritable();
    const Control control;
    return std::string(inheritable() == before ? "kept" : "inherited");
  });
  EXPECT_EQ(end.text(), "kept");
}

}  // namespace
}  // namespace middlemark::control_test
