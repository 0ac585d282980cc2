// Tests code that adapters share: notes, waiting with a time limit, shared memory that does not fit, connections.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/links.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/segment.hpp>
#include <middlemark/kit/socket.hpp>

#include "support/child.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"

namespace middlemark::kit_test {
namespace {

using namespace std::chrono_literals;
using test::TemporaryFolder;

Settings in(const TemporaryFolder& folder) {
  Settings settings;
  settings.scratch = folder.string();
  return settings;
}

TEST(Rendezvous, a_note_is_found_once_it_was_written) {
  const TemporaryFolder folder;
  const kit::Rendezvous notes(in(folder));
  EXPECT_EQ(notes.find("place"), std::nullopt);
  notes.leave("place", std::string("here\n\0there", 11));
  EXPECT_EQ(notes.find("place"), std::string("here\n\0there", 11));
  notes.leave("number", 17);
  EXPECT_EQ(notes.find<int>("number"), 17);
  EXPECT_THROW(static_cast<void>(notes.find<long>("number")), AdapterError);
}

TEST(Rendezvous, a_reader_never_finds_a_partly_written_note) {
  using Note = std::array<std::uint64_t, 512>;
  const TemporaryFolder folder;
  const kit::Rendezvous notes(in(folder));
  std::jthread writer([&notes](const std::stop_token& stop) {
    for (std::uint64_t n = 0; !stop.stop_requested(); ++n) {
      Note note;
      note.fill(n);
      notes.leave("note", note);
    }
  });
  const int enough = test::under_a_sanitizer ? 200 : 2000;
  for (int found = 0; found < enough;) {
    const auto note = notes.find<Note>("note");
    if (!note) continue;
    ++found;
    ASSERT_EQ(std::ranges::count(*note, note->front()), 512);
  }
}

TEST(Rendezvous, each_process_that_joins_finds_the_notes_of_all_earlier_ones) {
  const TemporaryFolder folder;
  const kit::Rendezvous notes(in(folder));
  EXPECT_EQ(notes.join("port", "a"), (std::vector<std::string>{}));
  EXPECT_EQ(notes.join("port", "b"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(notes.join("port", "c"), (std::vector<std::string>{"a", "b"}));
}

TEST(Attendance, counts_the_processes_that_joined) {
  const TemporaryFolder folder;
  const Settings settings = in(folder);
  const Topic topic{"topic", 64, 1, 3};
  kit::Attendance attendance(settings, topic);
  for (unsigned i = 0; i < topic.subscribers; ++i) {
    EXPECT_EQ(attendance.count(), i);
    kit::Attendance(settings, topic).attend(i);
  }
  EXPECT_EQ(attendance.count(), 3U);
}

TEST(WaitUntil, ends_with_its_condition_or_its_timeout) {
  int looks = 0;
  EXPECT_TRUE(kit::wait_until([&looks] { return ++looks == 3; }, 1h));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(kit::wait_until([] { return false; }, 20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
}

TEST(CallDeadline, cancels_only_the_call_that_does_not_end) {
  std::atomic<bool> withdrawn{false};
  kit::CallDeadline deadline(50ms, [&withdrawn] { withdrawn = true; });
  for (int call = 0; call < 1000; ++call) {
    deadline.begin();
    EXPECT_FALSE(deadline.end() && !withdrawn);
  }
  withdrawn = false;
  const auto begin = std::chrono::steady_clock::now();
  deadline.begin();
  EXPECT_TRUE(kit::wait_until([&withdrawn] { return withdrawn.load(); }, 60s)) << "the call hangs";
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 40ms);
  EXPECT_TRUE(deadline.end());
}

TEST(Segment, that_does_not_fit_is_refused_and_leaves_nothing) {
  const test::ChildEnd end = test::in_child([]() -> std::string {
    // Mount another /dev/shm for this test, so that it does not fill the machine's.
    const int others = getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(others) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") != 0) {
      return "no /dev/shm of its own";
    }
    try {
      const kit::Segment segment("middlemark.test", std::size_t{4} << 20);
      return "it fits";
    } catch (const AdapterError& error) {
      return std::filesystem::is_empty("/dev/shm") ? error.what() : "it is left behind";
    }
  });
  if (end.report == "no /dev/shm of its own") GTEST_SKIP() << end.report;
  EXPECT_EQ(end.text(), "/dev/shm is full: 4 MiB for /middlemark.test");
}

TEST(Ports, are_free_ascending_and_outside_of_the_range_of_outgoing_connections) {
  const std::vector<std::uint16_t> ports = kit::free_ports("lo", SOCK_STREAM, 5);
  ASSERT_EQ(ports.size(), 5U);
  EXPECT_TRUE(std::ranges::is_sorted(ports, std::less_equal{}));
  EXPECT_GE(ports.front(), 10'000);
  EXPECT_LT(ports.back(), kit::kernel_limit("net/ipv4/ip_local_port_range", 32'768));
  const kit::Descriptor socket = kit::open_socket(AF_INET, SOCK_STREAM);
  kit::bind_ipv4(socket.get(), "lo", ports.front());
  EXPECT_THROW(static_cast<void>(kit::free_port("lo", SOCK_STREAM, ports.front())), AdapterError);
}

TEST(UnixAddress, in_the_abstract_namespace_is_found_by_name_as_soon_as_data_can_be_read) {
  const kit::Address address = kit::abstract_unix("middlemark.kit_test." + std::to_string(getpid()));
  const kit::Descriptor to = kit::open_socket(AF_UNIX, SOCK_DGRAM);
  const kit::Descriptor from = kit::open_socket(AF_UNIX, SOCK_DGRAM);
  EXPECT_FALSE(kit::connect_to(from.get(), address));
  kit::bind_to(to.get(), address);
  EXPECT_TRUE(kit::connect_to(from.get(), address));
  EXPECT_FALSE(kit::wait_readable(to.get(), 1ms));
  ASSERT_EQ(send(from.get(), "x", 1, 0), 1);
  EXPECT_TRUE(kit::wait_readable(to.get(), 10s));
  EXPECT_THROW(static_cast<void>(kit::abstract_unix(std::string(108, 'x'))), AdapterError);
}

TEST(SharedMemory, larger_than_the_free_space_is_refused) {
  EXPECT_NO_THROW(kit::require_shared_memory(1, "a byte"));
  EXPECT_THROW(kit::require_shared_memory(std::uint64_t{1} << 60, "much"), AdapterError);
}

TEST(Attempts, an_exception_becomes_the_text_of_the_last_failure) {
  struct End : kit::Attempts {
    using Attempts::attempt;
  } end;
  EXPECT_TRUE(end.attempt("nothing", [] {}));
  EXPECT_EQ(end.last_error(), "");
  EXPECT_FALSE(end.attempt("publish", [] { throw AdapterError("no room"); }));
  EXPECT_EQ(end.last_error(), "publish: no room");
}

TEST(Notes, a_text_is_written_without_its_terminating_zero) {
  const TemporaryFolder folder;
  const kit::Rendezvous notes(in(folder));
  notes.leave("text", "abc");
  EXPECT_EQ(notes.find("text"), "abc");
}

/// A listener on the loopback interface that accepts without waiting.
kit::Descriptor loopback_listener() {
  kit::Descriptor socket = kit::open_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
  kit::bind_ipv4(socket.get(), "lo");
  if (listen(socket.get(), SOMAXCONN) != 0) kit::fail("listen()");
  return socket;
}

TEST(Links, only_the_lower_of_two_processes_that_publish_to_each_other_connects) {
  for (const std::uint64_t process : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    const TemporaryFolder folder;
    const kit::Descriptor other = loopback_listener();
    kit::Links links(in(folder), loopback_listener(), [](int /*fd*/) {});
    links.add(Topic{"there", 64, 1, 1}, kit::End::publisher, 0);
    links.add(Topic{"back", 64, 1, 1}, kit::End::subscriber, 0);
    const kit::Rendezvous notes(in(folder));
    const kit::Announcement peer{process, kit::address_of(other.get())};
    notes.leave(kit::note_of("there", kit::End::subscriber, 0), peer);
    notes.leave(kit::note_of("back", kit::End::publisher, 0), peer);
    links.advance();
    const bool connected = static_cast<bool>(kit::Descriptor(accept4(other.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    EXPECT_EQ(connected, process != 1) << "towards process " << process;
    if (!connected) continue;
    const kit::Flow there{kit::name_hash("there"), 0, 0};
    const kit::Flow back{kit::name_hash("back"), 0, 0};
    EXPECT_GE(links.outgoing(there), 0);
    EXPECT_EQ(links.outgoing(there), links.incoming(back)) << "one connection for both directions";
  }
}

}  // namespace
}  // namespace middlemark::kit_test
