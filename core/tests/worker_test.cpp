// Tests a real worker, controlled over the protocol, from hello to quit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <middlemark/clock.hpp>
#include <middlemark/recorder.hpp>

#include "support/worker_process.hpp"

namespace middlemark::worker_test {
namespace {

using test::command;
using test::Json;
using test::NullTrial;
using test::read_file;
using test::WorkerProcess;

const std::string null_worker = MIDDLEMARK_NULL_WORKER;

TEST(Worker, goes_from_hello_to_quit_and_leaves_a_complete_samples_file) {
  NullTrial trial;
  WorkerProcess worker(null_worker);
  const std::uint64_t begin = monotonic_ns();
  const Json hello = worker.expect("hello");
  EXPECT_EQ(hello.at("protocol"), 1);
  EXPECT_EQ(hello.at("adapter"), "null");
  EXPECT_EQ(hello.at("pid"), worker.pid());
  EXPECT_GT(hello.at("clock").at("ticks_per_second").get<double>(), 1e6);
  EXPECT_GT(hello.at("clock").at("cost_ns").get<double>(), 0);
  EXPECT_GT(hello.at("clock").at("resolution_ns").get<double>(), 0);
  worker.say(trial.configure);
  const Json ready = worker.expect("ready");
  EXPECT_TRUE(ready.at("discovery_ns").is_number_unsigned());
  EXPECT_FALSE(ready.at("placement").at("cpus").empty());
  EXPECT_EQ(ready.at("placement").at("policy"), "other");
  EXPECT_EQ(ready.at("notes"), Json::array());
  worker.say(command("start"));
  EXPECT_EQ(worker.expect("done").at("role"), "ping");
  const Json ping = worker.expect("result");
  const Json pong = worker.expect("result");
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();

  EXPECT_EQ(ping.at("role"), "ping");
  EXPECT_EQ(ping.at("ended"), "samples");
  EXPECT_EQ(ping.at("last_error"), "");
  for (const char* field : {"samples", "sent", "received"}) EXPECT_EQ(ping.at(field), 100) << field;
  for (const char* field : {"lost", "late", "duplicated", "reordered", "damaged", "publish_failed"}) {
    EXPECT_EQ(ping.at(field), 0) << field;
  }
  EXPECT_GT(ping.at("warmup_samples"), 0);
  EXPECT_GT(ping.at("measured_s"), 0);
  EXPECT_GT(ping.at("first_begin_ns"), begin);
  EXPECT_LT(ping.at("first_begin_ns"), monotonic_ns());
  EXPECT_EQ(pong.at("role"), "pong");
  EXPECT_EQ(pong.at("index"), 0);
  EXPECT_EQ(pong.at("received"), 100);
  EXPECT_EQ(pong.at("echoed"), 100);

  const std::string file = read_file(trial.samples_path());
  ASSERT_GE(file.size(), 100 * sizeof(Sample));
  EXPECT_EQ((file.size() - 100 * sizeof(Sample)) % 64, 0U);
  Sample last;
  std::memcpy(&last, file.data() + file.size() - sizeof last, sizeof last);
  EXPECT_EQ(last.sequence, 100U);
}

TEST(Worker, ticks_at_once_with_its_role_and_progress) {
  NullTrial trial;
  trial.native("every_delay_us", "20000");
  trial.configure["roles"][0]["warmup_s"] = 0;
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("start"));
  worker.expect("done");
  ASSERT_FALSE(worker.ticks.empty());
  for (const Json& tick : worker.ticks) {
    EXPECT_EQ(tick.at("role"), "ping");
    EXPECT_TRUE(tick.at("phase") == "warm-up" || tick.at("phase") == "measuring" || tick.at("phase") == "waiting")
        << tick;
    EXPECT_LE(tick.at("samples"), 100);
    EXPECT_GE(tick.at("elapsed_s"), 0);
  }
  EXPECT_LT(worker.ticks.front().at("samples"), 100) << "the first tick was sent too late";
  EXPECT_GE(worker.ticks.size(), 2U) << "there was no second tick in 100 round trips of 20 ms";
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

TEST(Worker, a_stop_ends_the_ping_early_and_keeps_its_samples) {
  NullTrial trial;
  trial.make_long();
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("start"));
  ASSERT_TRUE(worker.measured_more_than(0)) << worker.errors();
  worker.say(command("stop"));
  worker.expect("done");
  const Json ping = worker.expect("result");
  EXPECT_EQ(ping.at("ended"), "stopped");
  EXPECT_GT(ping.at("samples"), 0);
  EXPECT_GT(read_file(trial.samples_path()).size(), ping.at("samples").get<std::size_t>() * sizeof(Sample));
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

TEST(Worker, with_only_a_pong_echoes_until_it_is_stopped) {
  NullTrial trial;
  trial.configure["roles"].erase(0);
  // The ping is in another worker, so ping and pong must find each other across processes.
  NullTrial other;
  other.configure["settings"]["scope"] = trial.scope;
  other.configure["roles"].erase(1);
  for (Json* each : {&trial.configure, &other.configure}) (*each)["settings"]["one_process"] = false;
  WorkerProcess pong(null_worker);
  WorkerProcess ping(null_worker);
  pong.expect("hello");
  ping.expect("hello");
  pong.say(trial.configure);
  ping.say(other.configure);
  pong.expect("ready");
  ping.expect("ready");
  pong.say(command("start"));
  const auto first = pong.next_line();
  ASSERT_TRUE(first);
  EXPECT_EQ(Json::parse(*first).at("phase"), "echoing") << "the pong already receives at the first tick";
  ping.say(command("start"));
  EXPECT_EQ(ping.expect("done").at("role"), "ping");
  EXPECT_EQ(ping.expect("result").at("received"), 100);
  pong.say(command("stop"));
  EXPECT_EQ(pong.expect("done").at("role"), "pong");
  const Json result = pong.expect("result");
  EXPECT_EQ(result.at("received"), 100);
  EXPECT_EQ(result.at("echoed"), 100);
  ping.say(command("quit"));
  pong.say(command("quit"));
  EXPECT_EQ(ping.exit_code(), 0) << ping.errors();
  EXPECT_EQ(pong.exit_code(), 0) << pong.errors();
}

TEST(Worker, a_publisher_that_waits_for_its_instants_is_not_blocked) {
  NullTrial trial;
  trial.make_stream(250);
  trial.configure["roles"][0]["load"] = {{"kind", "rate"}, {"rate_hz", 100}};
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("start"));
  worker.expect("done");
  std::vector<std::pair<std::int64_t, std::int64_t>> blocked;  // (time, total blocked time)
  for (const auto* events : {&worker.measuring, &worker.ticks}) {
    for (const Json& event : *events) {
      if (event.value("phase", "measuring") != "measuring") continue;  // the role has ended and waits to be joined
      for (const Json& role : event.at("roles")) {
        if (role.at("role") != "publisher" || !role.at("blocked_ns").is_number()) continue;
        blocked.emplace_back(event.at("at_ns"), role.at("blocked_ns"));
      }
    }
  }
  std::ranges::sort(blocked);
  ASSERT_GE(blocked.size(), 2U);
  EXPECT_LT(blocked.back().second, (blocked.back().first - blocked.front().first) / 2);
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

TEST(Worker, may_drain_longer_than_other_stops_take) {
  NullTrial trial;
  trial.make_stream(1);
  trial.native("stall", "1:6000");  // longer than a role may take to stop if it expects no messages (3 s)
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("start"));
  for (std::string event; event != "measuring";) {  // after this event the message has been sent
    const auto line = worker.next_line();
    ASSERT_TRUE(line);
    event = Json::parse(*line).at("event");
  }
  worker.say({{"command", "stop"}, {"expected", 1}});
  worker.expect("done");
  EXPECT_EQ(worker.expect("result").at("sent"), 1);
  EXPECT_EQ(worker.expect("result").at("received"), 1);
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

TEST(Worker, a_quit_while_the_roles_run_stops_them) {
  NullTrial trial;
  trial.make_long();
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("start"));
  ASSERT_TRUE(worker.next_line());
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

TEST(Worker, a_quit_before_the_start_is_a_clean_end) {
  NullTrial trial;
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

TEST(Worker, leaves_no_segment_behind_after_quit) {
  NullTrial trial;
  WorkerProcess worker(null_worker);
  worker.expect("hello");
  worker.say(trial.configure);
  worker.expect("ready");
  worker.say(command("start"));
  worker.expect("done");
  worker.say(command("quit"));
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_EQ(entry.path().string().find(trial.scope + "_"), std::string::npos) << entry.path();
  }
}

TEST(Worker, uses_the_monotonic_clock_if_the_environment_requires_it) {
  WorkerProcess worker(null_worker, {}, {"MIDDLEMARK_CLOCK=monotonic"});
  EXPECT_EQ(worker.expect("hello").at("clock").at("source"), "clock_monotonic");
}

TEST(Worker, describes_itself_in_one_line) {
  WorkerProcess worker(null_worker, {"--describe"});
  const auto line = worker.next_line();
  ASSERT_TRUE(line);
  const Json about = Json::parse(*line);
  EXPECT_EQ(about.at("name"), "null");
  EXPECT_EQ(about.at("bench_only"), true);
  EXPECT_EQ(about.at("transports").at(0).at("name"), "memory");
  EXPECT_EQ(worker.next_line(), std::nullopt) << "the worker printed a second line";
  EXPECT_EQ(worker.exit_code(), 0);
}

TEST(Worker, prints_its_companions_in_one_line) {
  NullTrial trial;
  WorkerProcess worker(null_worker, {"--companions"});
  worker.say({{"settings", trial.configure["settings"]}});
  const auto line = worker.next_line();
  ASSERT_TRUE(line);
  EXPECT_EQ(Json::parse(*line), (Json{{"companions", Json::array()}}));
  EXPECT_EQ(worker.exit_code(), 0);
}

TEST(Worker, reports_wrong_settings_of_a_companions_request) {
  WorkerProcess worker(null_worker, {"--companions"});
  worker.say_text("no json\n");
  const auto line = worker.next_line();
  ASSERT_TRUE(line);
  EXPECT_EQ(Json::parse(*line).at("event"), "error");
  EXPECT_NE(Json::parse(*line).at("text").get<std::string>().find("must be an object"), std::string::npos) << *line;
  EXPECT_EQ(worker.exit_code(), 1);
}

}  // namespace
}  // namespace middlemark::worker_test
