// Tests the errors that a real worker reports, and its exit codes.
#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/worker_process.hpp"

namespace middlemark::worker_refusals_test {
namespace {

using test::command;
using test::Json;
using test::NullTrial;
using test::WorkerProcess;

const std::string null_worker = MIDDLEMARK_NULL_WORKER;

bool names(const Json& error, const std::string& text) {
  return error.at("text").get<std::string>().find(text) != std::string::npos;
}

/// A line to send, and its name in the name of a parameterised test.
struct Line {
  std::string name;
  std::string text;
};
std::ostream& operator<<(std::ostream& out, const Line& line) { return out << line.text; }
std::string name_of(const testing::TestParamInfo<Line>& parameter) { return parameter.param.name; }

/// A worker that has been configured and is ready.
class ReadyWorker : public testing::Test {
 protected:
  NullTrial trial;
  WorkerProcess worker{null_worker};

  void make_ready() {
    worker.expect("hello");
    worker.say(trial.configure);
    worker.expect("ready");
  }
  /// Expects an error as the worker's only event and the exit code 1. Returns the error.
  Json refusal() {
    const Json error = worker.expect("error");
    EXPECT_EQ(worker.exit_code(), 1) << worker.errors();
    return error;
  }
};

class NotAConfigureCommand : public ReadyWorker, public testing::WithParamInterface<Line> {};

TEST_P(NotAConfigureCommand, is_refused_with_what_was_expected) {
  worker.expect("hello");
  worker.say_text(GetParam().text + "\n");
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "configure") << error;
  EXPECT_TRUE(names(error, "expected a configure command")) << error;
}

INSTANTIATE_TEST_SUITE_P(Worker, NotAConfigureCommand,
                         testing::Values(Line{"prose", "no json at all"}, Line{"half_an_object", "{"},
                                         Line{"empty", ""}, Line{"number", "5"}, Line{"null", "null"},
                                         Line{"list", "[\"configure\"]"}, Line{"empty_object", "{}"},
                                         Line{"start", R"({"command": "start"})"},
                                         Line{"command_5", R"({"command": 5})"},
                                         Line{"command_null", R"({"command": null})"}),
                         name_of);

TEST_F(ReadyWorker, names_every_wrong_field_of_a_configure_command) {
  worker.expect("hello");
  trial.configure["settings"].erase("scope");
  trial.configure["settings"]["message_bytes"] = 8;
  trial.configure["roles"][0]["duration_s"] = 5;
  worker.say(trial.configure);
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "configure");
  for (const char* problem : {"settings.scope: missing", "settings.message_bytes: must be at least 16",
                              "roles[0]: exactly one of samples and duration_s must be set"}) {
    EXPECT_TRUE(names(error, problem)) << problem << " is not in " << error;
  }
}

class UnexpectedCommand : public ReadyWorker, public testing::WithParamInterface<Line> {};

TEST_P(UnexpectedCommand, is_refused) {
  make_ready();
  worker.say_text(GetParam().text + "\n");
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "configure") << error;
  EXPECT_TRUE(names(error, "unexpected command")) << error;
}

INSTANTIATE_TEST_SUITE_P(Worker, UnexpectedCommand,
                         testing::Values(Line{"prose", "no json at all"}, Line{"number", "5"}, Line{"list", "[]"},
                                         Line{"configure", R"({"command": "configure"})"},
                                         Line{"unknown", R"({"command": "dance"})"},
                                         Line{"command_5", R"({"command": 5})"}),
                         name_of);

TEST_F(ReadyWorker, refuses_a_second_start) {
  make_ready();
  trial.configure["roles"][0]["samples"] = 1;
  worker.say(command("start"));
  worker.say(command("start"));
  Json event = worker.next_event();
  while (event.is_object() && event.at("event") != "error") event = worker.next_event();
  ASSERT_TRUE(event.is_object()) << worker.errors();
  EXPECT_TRUE(names(event, "unexpected command \"start\"")) << event;
  EXPECT_EQ(worker.exit_code(), 1) << worker.errors();
}

TEST_F(ReadyWorker, whose_launcher_goes_away_before_any_command_exits_3) {
  worker.expect("hello");
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 3) << worker.errors();
}

TEST_F(ReadyWorker, whose_launcher_goes_away_in_the_middle_of_a_line_exits_3) {
  worker.expect("hello");
  worker.say_text(R"({"command": "confi)");
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 3) << worker.errors();
}

TEST_F(ReadyWorker, whose_launcher_goes_away_while_it_matches_exits_3) {
  worker.expect("hello");
  trial.native("fail", "match");
  worker.say(trial.configure);
  usleep(50'000);
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 3) << worker.errors();
}

TEST_F(ReadyWorker, whose_launcher_goes_away_before_the_start_exits_3) {
  make_ready();
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 3) << worker.errors();
}

TEST_F(ReadyWorker, whose_launcher_goes_away_while_the_roles_run_exits_3) {
  trial.make_long();
  make_ready();
  worker.say(command("start"));
  ASSERT_TRUE(worker.next_line());
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 3) << worker.errors();
}

TEST_F(ReadyWorker, whose_launcher_goes_away_before_quit_exits_3) {
  make_ready();
  worker.say(command("start"));
  worker.expect("done");
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 3) << worker.errors();
}

TEST_F(ReadyWorker, is_killed_with_its_launcher_even_when_it_hangs) {
  // The worker does not notice that stdin has ended, because opening the middleware never returns.
  trial.native("fail", "open-hang");
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // adopt the orphan, to see how it ended
  const test::ChildEnd launcher = test::in_child([this] {
    auto* const orphan = new WorkerProcess(null_worker);  // never destroyed, as if this launcher had crashed
    orphan->expect("hello");
    orphan->say(trial.configure);
    usleep(50'000);
    return std::to_string(orphan->pid());
  });
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  ASSERT_TRUE(launcher.exited_with(0)) << launcher.how();
  const pid_t orphan = std::stoi(launcher.report);
  int status = 0;
  ASSERT_EQ(waitpid(orphan, &status, 0), orphan);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
}

TEST_F(ReadyWorker, refuses_an_unknown_native_setting) {
  worker.expect("hello");
  trial.native("colour", "green");
  worker.say(trial.configure);
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "refused");
  EXPECT_TRUE(names(error, "null: native.colour is not a setting of this adapter")) << error;
  EXPECT_NE(error.at("advice"), "");
}

TEST_F(ReadyWorker, refuses_a_level_of_security_that_its_transport_lacks) {
  trial.configure["settings"]["security"] = "encrypted";
  worker.expect("hello");
  worker.say(trial.configure);
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "refused") << error;
  EXPECT_TRUE(names(error, "security encrypted (supported: none)")) << error;
}

TEST_F(ReadyWorker, reports_the_adapters_refusal) {
  worker.expect("hello");
  trial.native("fail", "open");
  worker.say(trial.configure);
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "refused");
  EXPECT_EQ(error.at("text"), "null: refused to open, as its script says");
  EXPECT_EQ(error.at("advice"), "change the script");
}

TEST_F(ReadyWorker, refuses_a_processor_the_machine_does_not_have) {
  worker.expect("hello");
  trial.configure["placement"]["cpus"] = {1023};
  worker.say(trial.configure);
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "refused");
  EXPECT_TRUE(names(error, "processors 1023")) << error;
}

TEST_F(ReadyWorker, reports_a_role_that_cannot_be_pinned) {
  trial.configure["roles"][1]["cpu"] = 1023;
  trial.configure["roles"][0]["reply_timeout_s"] = 1;
  make_ready();
  worker.say(command("start"));
  Json event = worker.next_event();
  while (event.is_object() && event.at("event") != "error") event = worker.next_event();
  ASSERT_TRUE(event.is_object()) << worker.errors();
  EXPECT_TRUE(names(event, "processor 1023")) << event;
  EXPECT_EQ(worker.exit_code(), 1) << worker.errors();
}

TEST_F(ReadyWorker, that_finds_no_peer_reports_which_roles_are_missing) {
  worker.expect("hello");
  trial.native("fail", "match");
  trial.configure["match_timeout_s"] = 0.05;
  worker.say(trial.configure);
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "unmatched");
  EXPECT_TRUE(names(error, "ping found 0 of 1 subscribers; pong 0 found 0 of 1 subscribers")) << error;
  EXPECT_TRUE(names(error, "; the middleware reports: no subscriber is accepted, as its script says")) << error;
  EXPECT_NE(error.at("advice"), "") << error;
}

TEST_F(ReadyWorker, whose_peer_is_silent_reports_that_and_its_result) {
  trial.configure["roles"][0]["reply_timeout_s"] = 0.005;
  trial.configure["roles"].erase(1);
  // The ping finds a pong that has reported `ready`, but a pong replies only after `start`. This pong never gets `start`.
  NullTrial other;
  other.configure["settings"]["scope"] = trial.scope;
  other.configure["roles"].erase(0);
  WorkerProcess pong(null_worker);
  pong.expect("hello");
  worker.expect("hello");
  pong.say(other.configure);
  worker.say(trial.configure);
  pong.expect("ready");
  worker.expect("ready");
  worker.say(command("start"));
  worker.expect("done");
  const Json error = worker.expect("error");
  EXPECT_EQ(error.at("code"), "silent");
  EXPECT_TRUE(names(error, "16 messages in a row brought no reply")) << error;
  const Json result = worker.expect("result");
  EXPECT_EQ(result.at("ended"), "silent");
  EXPECT_EQ(result.at("samples"), 0);
}

TEST_F(ReadyWorker, that_cannot_write_the_samples_names_the_path) {
  trial.configure["roles"][0]["samples_path"] = trial.folder / "absent/samples.npy";
  make_ready();
  worker.say(command("start"));
  worker.expect("done");
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "disk") << error;
  EXPECT_TRUE(names(error, "absent/samples.npy")) << error;
}

TEST_F(ReadyWorker, whose_disk_is_full_names_the_path) {
  ASSERT_EQ(symlink("/dev/full", trial.samples_path().c_str()), 0);
  make_ready();
  worker.say(command("start"));
  worker.expect("done");
  const Json error = refusal();
  EXPECT_EQ(error.at("code"), "disk") << error;
  EXPECT_TRUE(names(error, trial.samples_path())) << error;
}

TEST_F(ReadyWorker, whose_samples_file_is_a_folder_reports_a_disk_error) {
  trial.configure["roles"][0]["samples_path"] = trial.folder.string();
  make_ready();
  worker.say(command("start"));
  worker.expect("done");
  EXPECT_EQ(refusal().at("code"), "disk");
}

TEST_F(ReadyWorker, that_cannot_stop_a_role_reports_it_and_exits) {
  trial.native("hang", "5");
  trial.native("at", "ping");
  make_ready();
  worker.say(command("start"));
  ASSERT_TRUE(worker.measured_more_than(3)) << worker.errors();
  worker.say(command("stop"));
  const Json error = worker.expect("error");
  EXPECT_EQ(error.at("code"), "hung") << error;
  EXPECT_TRUE(names(error, "ping did not return from the middleware within 3 s of the stop")) << error;
  EXPECT_EQ(worker.exit_code(), 4) << worker.errors();
}

TEST(CheckedWorker, prints_the_refusal_of_each_trial_and_opens_nothing) {
  NullTrial trial;
  WorkerProcess worker(null_worker, {"--check"});
  const auto answer = [&worker](const std::string& line) {
    worker.say_text(line + "\n");
    const auto reply = worker.next_line();
    return reply ? Json::parse(*reply, nullptr, false) : Json("it ended");
  };
  EXPECT_EQ(answer(trial.configure.dump()), Json());
  trial.native("fail", "open-hang");  // a worker that opened the middleware would never answer
  EXPECT_EQ(answer(trial.configure.dump()), Json());
  trial.native("colour", "green");
  trial.configure["settings"]["message_bytes"] = 17;
  const Json refused = answer(trial.configure.dump());
  EXPECT_EQ(refused.at("code"), "refused");
  EXPECT_TRUE(names(refused, "native.colour is not a setting of this adapter")) << refused;
  EXPECT_EQ(answer("prose").at("code"), "configure");
  EXPECT_EQ(answer(NullTrial().configure.dump()), Json()) << "refusals do not affect later trials";
  worker.leave();
  EXPECT_EQ(worker.exit_code(), 0) << worker.errors();
}

class WrongArgument : public testing::TestWithParam<Line> {};

TEST_P(WrongArgument, prints_the_usage_and_exits_2) {
  WorkerProcess worker(null_worker, {GetParam().text});
  EXPECT_EQ(worker.next_line(), std::nullopt) << "stdout is reserved for the protocol";
  EXPECT_EQ(worker.exit_code(), 2);
  EXPECT_NE(worker.errors().find("--describe"), std::string::npos) << worker.errors();
}

INSTANTIATE_TEST_SUITE_P(Worker, WrongArgument,
                         testing::Values(Line{"help", "--help"}, Line{"misspelt", "--descrive"}, Line{"word", "run"},
                                         Line{"empty", ""}),
                         name_of);

}  // namespace
}  // namespace middlemark::worker_refusals_test
