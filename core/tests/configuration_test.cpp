#include <middlemark/configuration.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <middlemark/json.hpp>

namespace middlemark::configuration_test {
namespace {

using Json = nlohmann::json;

Json good() {
  return Json::parse(R"({
    "command": "configure",
    "settings": {"transport": "udp", "reliability": "best-effort", "reception": "poll", "depth": 3, "loan": true,
                 "one_process": true, "message_bytes": 1024, "pattern": "ping-pong",
                 "publishers": 1, "subscribers": 2, "workers": 1, "domain": 17, "scope": "mm_4f2a_17",
                 "scratch": "/tmp/scratch", "interface": "eth0", "write_timeout_s": 0.25, "native": {"a": "1", "b": ""}},
    "placement": {"cpus": [0, 1], "policy": "fifo", "priority": 80, "mlock": true, "rt_limit_s": 12.5},
    "match_timeout_s": 7,
    "roles": [{"role": "ping", "index": 0, "samples": 10000, "duration_s": null, "warmup_s": 0.5,
               "reply_timeout_s": 2, "limit_s": 90, "payload": "untouched", "echoing": 2,
               "samples_path": "/tmp/00017.npy", "cpu": 0},
              {"role": "pong", "index": 1, "echoes": false, "echoing": 2, "payload": "filled", "cpu": 1}]
  })");
}

/// Returns the text of the error with which a configuration is refused; empty if it is accepted.
std::string problems(const Json& json) {
  try {
    static_cast<void>(parse_configuration(json));
  } catch (const ConfigurationError& error) {
    return error.what();
  }
  return {};
}

bool names(const std::string& text, const std::string& problem) { return text.find(problem) != std::string::npos; }

/// Converts a JSON pointer to a field name: /roles/0/samples is roles[0].samples.
std::string field_name(const std::string& pointer) {
  std::string name;
  for (std::size_t at = 1; at < pointer.size(); ++at) {
    const bool index = pointer[at] == '/' && at + 1 < pointer.size() && std::isdigit(pointer[at + 1]) != 0;
    if (index) {
      name += std::string("[") + pointer[++at] + "]";
    } else {
      name += pointer[at] == '/' ? '.' : pointer[at];
    }
  }
  return name;
}

/// Returns whether the text names the field at `pointer`, or its first item if it is a list.
bool names_field(const std::string& text, const std::string& pointer) {
  return names(text, field_name(pointer) + ": ") || names(text, field_name(pointer) + "[0]: ");
}

/// Returns the roles of the type `Request`.
template <class Request>
std::vector<Request> all(const Configuration& configuration) {
  std::vector<Request> found;
  for (const AnyRoleRequest& role : configuration.roles) {
    if (const auto* request = std::get_if<Request>(&role)) found.push_back(*request);
  }
  return found;
}

const std::vector<std::string> required{
    "/settings/transport", "/settings/reliability", "/settings/reception",      "/settings/depth",
    "/settings/loan",      "/settings/one_process", "/settings/message_bytes",  "/settings/subscribers",
    "/settings/pattern",   "/settings/publishers",  "/settings/workers",        "/settings/domain",
    "/settings/scope",     "/settings/scratch",     "/placement/cpus",          "/placement/policy",
    "/placement/priority", "/placement/mlock",      "/roles/0/index",           "/roles/0/samples",
    "/roles/0/duration_s", "/roles/0/warmup_s",     "/roles/0/reply_timeout_s", "/roles/0/limit_s",
    "/roles/0/payload",    "/roles/0/echoing",      "/roles/0/samples_path",    "/roles/1/index",
    "/roles/1/echoes",     "/roles/1/echoing",      "/roles/1/payload"};

const std::vector<std::string> optional{"/settings/interface", "/settings/write_timeout_s",
                                        "/settings/native",    "/placement/rt_limit_s",
                                        "/roles/0/cpu",        "/roles/1/cpu"};

void erase(Json& json, const std::string& pointer) {
  const auto slash = pointer.rfind('/');
  json[Json::json_pointer(pointer.substr(0, slash))].erase(pointer.substr(slash + 1));
}

TEST(Configuration, a_valid_configuration_is_read_into_values) {
  const Configuration parsed = parse_configuration(good());
  const Settings& settings = parsed.settings;
  EXPECT_EQ(settings.transport, "udp");
  EXPECT_EQ(settings.reliability, Reliability::best_effort);
  EXPECT_EQ(settings.reception, Reception::poll);
  EXPECT_EQ(settings.depth, 3U);
  EXPECT_TRUE(settings.loan);
  EXPECT_TRUE(settings.one_process);
  EXPECT_EQ(settings.message_bytes, 1024U);
  EXPECT_EQ(settings.subscribers, 2U);
  EXPECT_EQ(settings.domain, 17);
  EXPECT_EQ(settings.scope, "mm_4f2a_17");
  EXPECT_EQ(settings.scratch, "/tmp/scratch");
  EXPECT_EQ(settings.interface, "eth0");
  EXPECT_EQ(settings.write_timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(settings.native, (std::map<std::string, std::string>{{"a", "1"}, {"b", ""}}));
  EXPECT_EQ(parsed.placement.cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(parsed.placement.policy, Policy::fifo);
  EXPECT_EQ(parsed.placement.priority, 80);
  EXPECT_TRUE(parsed.placement.mlock);
  EXPECT_EQ(parsed.placement.rt_limit_s, 12.5);
  EXPECT_EQ(parsed.match_timeout_s, 7);
}

TEST(Configuration, the_roles_of_a_valid_configuration_are_read_into_values) {
  const auto pings = all<PingRequest>(parse_configuration(good()));
  const auto pongs = all<PongRequest>(parse_configuration(good()));
  ASSERT_EQ(pings.size(), 1U);
  EXPECT_EQ(pings[0].samples, 10'000U);
  EXPECT_FALSE(pings[0].duration_s);
  EXPECT_EQ(pings[0].warmup_s, 0.5);
  EXPECT_EQ(pings[0].reply_timeout_s, 2);
  EXPECT_EQ(pings[0].limit_s, 90);
  EXPECT_EQ(pings[0].payload, Payload::untouched);
  EXPECT_EQ(pings[0].echoing, 2U);
  EXPECT_EQ(pings[0].samples_path, "/tmp/00017.npy");
  EXPECT_EQ(pings[0].cpu, 0);
  ASSERT_EQ(pongs.size(), 1U);
  EXPECT_EQ(pongs[0].index, 1U);
  EXPECT_FALSE(pongs[0].echoes);
  EXPECT_EQ(pongs[0].echoing, 2U);
  EXPECT_EQ(pongs[0].payload, Payload::filled);
  EXPECT_EQ(pongs[0].cpu, 1);
}

TEST(Configuration, a_pong_stamps_if_it_has_a_samples_file) {
  const PongRequest plain = all<PongRequest>(parse_configuration(good())).at(0);
  EXPECT_EQ(plain.samples_path, "");
  EXPECT_FALSE(plain.samples || plain.duration_s);
  Json json = good();
  json["roles"][1].update({{"samples_path", "/tmp/00017-pong-0.npy"}, {"samples", nullptr}, {"duration_s", 1.5}});
  const PongRequest stamping = all<PongRequest>(parse_configuration(json)).at(0);
  EXPECT_EQ(stamping.samples_path, "/tmp/00017-pong-0.npy");
  EXPECT_FALSE(stamping.samples);
  EXPECT_EQ(stamping.duration_s, 1.5);
}

TEST(Configuration, other_valid_values_are_accepted) {
  Json json = good();
  json["settings"]["reliability"] = "reliable";
  for (const auto& [name, reception] : {std::pair{"block", Reception::block}, std::pair{"listen", Reception::listen}}) {
    json["settings"]["reception"] = name;
    EXPECT_EQ(parse_configuration(json).settings.reception, reception);
  }
  EXPECT_EQ(parse_configuration(json).settings.reliability, Reliability::reliable);
  json["roles"][0]["samples"] = nullptr;
  json["roles"][0]["duration_s"] = 1.5;
  EXPECT_EQ(all<PingRequest>(parse_configuration(json)).at(0).duration_s, 1.5);
  EXPECT_FALSE(all<PingRequest>(parse_configuration(json)).at(0).samples);
}

TEST(Configuration, security_is_none_by_default_and_otherwise_has_a_folder_of_certificates) {
  EXPECT_EQ(parse_configuration(good()).settings.security, Security::none);
  Json json = good();
  json["settings"]["security"] = "signed";
  json["settings"]["certs"] = "/tmp/scratch/certs";
  json["settings"]["identity"] = "receiver";
  const Settings settings = parse_configuration(json).settings;
  EXPECT_EQ(settings.security, Security::signed_);
  EXPECT_EQ(settings.certs, "/tmp/scratch/certs");
  EXPECT_EQ(settings.identity, Identity::receiver);
  json["settings"]["security"] = "secret";
  EXPECT_TRUE(names(problems(json), "settings.security: ")) << problems(json);
}

TEST(Configuration, a_null_depth_is_keep_all) {
  Json json = good();
  json["settings"]["depth"] = nullptr;
  EXPECT_EQ(parse_configuration(json).settings.depth, std::nullopt);
}

TEST(Configuration, without_processors_nothing_is_pinned) {
  Json json = good();
  json["placement"]["cpus"] = Json::array();
  json["roles"][0]["cpu"] = nullptr;
  EXPECT_TRUE(parse_configuration(json).placement.cpus.empty());
  EXPECT_EQ(all<PingRequest>(parse_configuration(json)).at(0).cpu, std::nullopt);
}

TEST(Configuration, optional_fields_may_be_left_out) {
  Json json = good();
  for (const std::string& pointer : optional) erase(json, pointer);
  json.erase("match_timeout_s");
  EXPECT_EQ(problems(json), "");
  const Configuration parsed = parse_configuration(json);
  EXPECT_EQ(parsed.settings.interface, "lo");
  EXPECT_EQ(parsed.settings.write_timeout, std::chrono::seconds(1));
  EXPECT_EQ(parsed.placement.rt_limit_s, 30);
  EXPECT_EQ(all<PingRequest>(parsed).at(0).cpu, std::nullopt);
  EXPECT_EQ(parsed.match_timeout_s, 10);
}

TEST(Configuration, every_missing_field_is_named) {
  for (const std::string& pointer : required) {
    Json json = good();
    erase(json, pointer);
    EXPECT_TRUE(names(problems(json), field_name(pointer) + ": missing")) << pointer << ": " << problems(json);
  }
}

TEST(Configuration, all_missing_fields_are_named_at_once) {
  Json json = good();
  for (const std::string& pointer : required) erase(json, pointer);
  const std::string text = problems(json);
  for (const std::string& pointer : required) EXPECT_TRUE(names(text, field_name(pointer) + ": missing")) << pointer;
}

TEST(Configuration, every_field_of_a_wrong_type_is_named) {
  for (const std::vector<std::string>& fields : {required, optional}) {
    for (const std::string& pointer : fields) {
      Json json = good();
      json[Json::json_pointer(pointer)] = Json::parse(R"([{"wrong": "type"}])");
      EXPECT_TRUE(names_field(problems(json), pointer)) << pointer << ": " << problems(json);
    }
  }
}

TEST(Configuration, all_wrong_fields_are_named_at_once) {
  Json json = good();
  for (const std::string& pointer : required) json[Json::json_pointer(pointer)] = Json::parse(R"([{"wrong": "type"}])");
  const std::string text = problems(json);
  for (const std::string& pointer : required) EXPECT_TRUE(names_field(text, pointer)) << pointer << ": " << text;
}

TEST(Configuration, unknown_choices_are_named_with_their_value_and_the_valid_ones) {
  for (const std::string pointer :
       {"/settings/reliability", "/settings/reception", "/placement/policy", "/roles/0/payload", "/roles/1/payload"}) {
    Json json = good();
    json[Json::json_pointer(pointer)] = "sideways";
    EXPECT_TRUE(names(problems(json), field_name(pointer) + ": \"sideways\" is none of ")) << problems(json);
  }
  Json json = good();
  json["settings"]["reception"] = "sideways";
  EXPECT_EQ(problems(json), "settings.reception: \"sideways\" is none of poll, block, listen");
}

TEST(Configuration, a_number_out_of_its_range_is_named_and_never_wrapped_around) {
  const std::vector<std::pair<std::string, Json>> wrong{{"/settings/message_bytes", -1},
                                                        {"/settings/message_bytes", 15},
                                                        {"/settings/message_bytes", 16.5},
                                                        {"/settings/depth", 0},
                                                        {"/settings/depth", -1},
                                                        {"/settings/depth", 5'000'000'000},
                                                        {"/settings/subscribers", -1},
                                                        {"/settings/domain", 5'000'000'000},
                                                        {"/settings/domain", 233},
                                                        {"/settings/publishers", 65'537},
                                                        {"/placement/priority", 100},
                                                        {"/settings/write_timeout_s", -1},
                                                        {"/settings/write_timeout_s", 1e30},
                                                        {"/placement/rt_limit_s", -1},
                                                        {"/placement/rt_limit_s", 1e30},
                                                        {"/placement/priority", 5'000'000'000},
                                                        {"/match_timeout_s", -1},
                                                        {"/roles/0/samples", -1},
                                                        {"/roles/0/samples", 2.5},
                                                        {"/roles/0/warmup_s", -0.1},
                                                        {"/roles/0/reply_timeout_s", -1},
                                                        {"/roles/0/reply_timeout_s", 0},
                                                        {"/roles/0/limit_s", 0},
                                                        {"/roles/0/limit_s", 1e30},
                                                        {"/roles/0/echoing", 0},
                                                        {"/roles/0/echoing", -1},
                                                        {"/roles/1/index", -1},
                                                        {"/roles/0/cpu", 0.5}};
  for (const auto& [pointer, value] : wrong) {
    Json json = good();
    json[Json::json_pointer(pointer)] = value;
    EXPECT_TRUE(names(problems(json), field_name(pointer) + ": "))
        << pointer << " = " << value << ": \"" << problems(json) << "\"";
  }
  Json json = good();
  json["roles"][0]["samples"] = nullptr;
  json["roles"][0]["duration_s"] = -1;
  EXPECT_TRUE(names(problems(json), "roles[0].duration_s: ")) << problems(json);
}

TEST(Configuration, only_a_ping_may_have_no_subscribers) {
  Json json = good();
  json["settings"]["subscribers"] = 0;
  EXPECT_EQ(problems(json), "");
  for (const std::string pattern : {"stream", "request-reply"}) {
    json["settings"]["pattern"] = pattern;
    EXPECT_TRUE(names(problems(json), "settings.subscribers: ")) << pattern << ": " << problems(json);
  }
}

TEST(Configuration, true_and_false_are_not_numbers) {
  for (const std::string pointer : {"/settings/message_bytes", "/settings/subscribers", "/settings/domain",
                                    "/placement/priority", "/roles/0/samples", "/roles/0/limit_s", "/roles/1/index"}) {
    Json json = good();
    json[Json::json_pointer(pointer)] = true;
    EXPECT_TRUE(names(problems(json), field_name(pointer) + ": ")) << pointer << ": " << problems(json);
  }
}

TEST(Configuration, exactly_one_of_samples_and_duration_is_required) {
  Json json = good();
  json["roles"][0]["duration_s"] = 1;
  EXPECT_EQ(problems(json), "roles[0]: exactly one of samples and duration_s must be set");
  json["roles"][0]["duration_s"] = nullptr;
  json["roles"][0]["samples"] = nullptr;
  EXPECT_EQ(problems(json), "roles[0]: exactly one of samples and duration_s must be set");
}

TEST(Configuration, a_second_ping_in_one_worker_is_refused) {
  Json json = good();
  json["roles"].push_back(json["roles"][0]);
  EXPECT_EQ(problems(json), "roles[2]: only one ping per worker is allowed");
}

TEST(Configuration, an_unknown_role_is_named_with_its_place) {
  Json json = good();
  json["roles"][1]["role"] = "pang";
  EXPECT_EQ(problems(json),
            "roles[1].role: \"pang\" is none of ping, pong, publisher, subscriber, client, server, participant");
}

TEST(Configuration, an_empty_list_of_roles_is_refused) {
  for (const Json& roles : {Json::array(), Json(), Json("ping"), Json::object()}) {
    Json json = good();
    json["roles"] = roles;
    EXPECT_EQ(problems(json), "roles: must be a list of at least 1");
  }
}

TEST(Configuration, a_value_that_is_not_an_object_is_named) {
  for (const Json& json : {Json::array(), Json(), Json(5), Json("configure")}) {
    EXPECT_EQ(problems(json), "must be an object");
    for (const std::string name : {"settings", "placement"}) {
      Json command = good();
      command[name] = json;
      EXPECT_TRUE(names(problems(command), name + ": must be an object")) << json << ": " << problems(command);
    }
  }
  Json json = good();
  json["roles"][0] = 5;
  EXPECT_TRUE(names(problems(json), "roles[0]: must be an object")) << problems(json);
}

TEST(Settings, without_roles_are_checked_by_the_same_rules) {
  EXPECT_EQ(parse_settings(good()).scope, "mm_4f2a_17");
  Json json{{"settings", good()["settings"]}};
  json["settings"].erase("scope");
  json["settings"]["message_bytes"] = 8;
  try {
    static_cast<void>(parse_settings(json));
    FAIL() << "accepted";
  } catch (const ConfigurationError& error) {
    EXPECT_STREQ(error.what(), "settings.message_bytes: must be at least 16, and is 8; settings.scope: missing");
  }
}

}  // namespace
}  // namespace middlemark::configuration_test
