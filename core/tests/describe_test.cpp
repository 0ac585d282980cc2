#include <middlemark/description.hpp>

#include <gtest/gtest.h>

#include <middlemark/json.hpp>

namespace middlemark::describe_test {
namespace {

using Json = nlohmann::json;

Description elaborate() {
  Description about;
  about.name = "north";
  about.title = "North Star \"DDS\" ☆";
  about.version = "1.2.3-rc4";
  about.library = "/usr/lib/libnorth.so.1.2.3";
  about.licence = "Apache-2.0";
  about.is_raw_transport = true;
  about.bench_only = true;
  about.request_reply = true;
  about.credentials = {Credential::x509, Credential::curve};
  about.own_threads = true;
  about.most_per_take = 64;
  about.residue = {"/dev/shm/north_*", "/tmp/north.{scope}"};
  about.native = {{"segment",
                   {.help = "the segment",
                    .least = 4096,
                    .most = 1 << 20,
                    .choices = {"auto"},
                    .transports = {"shm"},
                    .patterns = {Pattern::stream},
                    .otherwise = "64KiB",
                    .type = NativeType::bytes}},
                  {"ttl", {.help = "hops"}}};
  Transport one;
  one.name = "shm";
  one.carrier = "shared-memory";
  one.segments = {"north.*", "north_2.*"};
  one.processes = {2};
  one.receive = {Reception::poll};
  one.reliability = {Reliability::best_effort};
  one.loan = {false, true};
  one.hands_over = {true};
  one.max_bytes = (std::size_t{1} << 40) + 1;
  one.max_bytes_advice = "a larger segment";
  one.best_effort_carrier = "udp";
  one.types = {MessageType::octets, MessageType::point_cloud};
  one.varying_sizes = true;
  one.services = true;
  one.max_history = std::nullopt;
  one.security = {Security::none, Security::signed_, Security::encrypted};
  one.security_why = "its handshake signs at once";
  one.permissions = true;
  one.max_depth = 4'000'000'000U;
  one.keep_all = false;
  one.companions = true;
  one.own_network = true;
  one.alone = true;
  Transport two;
  two.name = "udp";
  two.carrier = "udp";
  about.transports = {one, two};
  return about;
}

/// Expects that the JSON of `value` has every field of `expected`, and that reading this JSON returns the same value.
template <class Value>
void expect_round_trip(const Value& value, const char* expected) {
  const Json json = json_of(value);
  const Json wanted = Json::parse(expected);
  for (const auto& [name, level] : wanted.items()) EXPECT_EQ(json.at(name), level) << name;
  EXPECT_EQ(json_of(read_message<Value>(Json::parse(json_of(value).dump()))), json_of(value));
}

TEST(Describe, every_field_is_written_and_read_as_json) {
  Description about = elaborate();
  about.native.clear();
  about.transports.resize(1);
  expect_round_trip(about, R"({"protocol": 1, "name": "north", "title": "North Star \"DDS\" ☆", "version": "1.2.3-rc4",
    "library": "/usr/lib/libnorth.so.1.2.3", "licence": "Apache-2.0", "is_raw_transport": true, "bench_only": true,
    "request_reply": true, "credentials": ["x509", "curve"], "own_threads": true, "most_per_take": 64,
    "residue": ["/dev/shm/north_*", "/tmp/north.{scope}"], "native": {}})");
  EXPECT_EQ(json_of(about).at("transports").size(), 1U);
  EXPECT_EQ(json_of(read_message<Description>(json_of(elaborate()))), json_of(elaborate()));
}

TEST(Describe, every_field_of_a_native_setting_is_written_and_read_as_json) {
  expect_round_trip(elaborate().native.at("segment"),
                    R"({"type": "bytes", "least": 4096, "most": 1048576, "choices": ["auto"],
    "default": "64KiB", "allowed": "a text", "transports": ["shm"], "patterns": ["stream"], "help": "the segment"})");
  expect_round_trip(elaborate().native.at("ttl"),
                    R"({"type": "text", "least": null, "most": null, "choices": [], "default": "",
    "allowed": "a text", "transports": [], "patterns": [], "help": "hops"})");
}

TEST(Describe, every_field_of_a_transport_is_written_and_read_as_json) {
  expect_round_trip(elaborate().transports.front(), R"({"name": "shm", "carrier": "shared-memory",
    "segments": ["north.*", "north_2.*"], "processes": [2], "receive": ["poll"], "reliability": ["best-effort"],
    "loan": [false, true], "hands_over": [true], "max_bytes": 1099511627777, "max_bytes_advice": "a larger segment",
    "max_depth": 4000000000, "keep_all": false, "companions": true, "own_network": true, "alone": true,
    "best_effort_carrier": "udp", "types": ["octets", "point-cloud"], "varying_sizes": true, "services": true,
    "max_history": null, "security": ["none", "signed", "encrypted"], "security_why": "its handshake signs at once",
    "permissions": true})");
}

TEST(Describe, an_absent_value_is_null_and_a_field_that_was_left_out_has_its_default) {
  const Json json = json_of(elaborate().transports.at(1));
  EXPECT_TRUE(json.at("max_depth").is_null());
  EXPECT_EQ(json.at("max_history"), 0);
  EXPECT_EQ(json.at("services"), false);
  EXPECT_EQ(json.at("processes"), Json::array({1, 2}));
  EXPECT_EQ(json.at("receive"), Json::array({"poll", "block", "listen"}));
  EXPECT_EQ(json.at("reliability"), Json::array({"reliable", "best-effort"}));
  EXPECT_EQ(json.at("loan"), Json::array({false}));
  EXPECT_EQ(json.at("hands_over"), Json::array());
  EXPECT_EQ(json.at("max_bytes"), 64 << 20);
  EXPECT_EQ(json.at("keep_all"), true);
  EXPECT_EQ(json.at("companions"), false);
  EXPECT_EQ(json.at("own_network"), false);
  EXPECT_EQ(json.at("alone"), false);
  EXPECT_EQ(json.at("types"), Json::array({"octets"}));
  EXPECT_EQ(json.at("security"), Json::array({"none"}));
}

TEST(Describe, an_adapter_without_transports_has_an_empty_list) {
  EXPECT_EQ(json_of(Description{}).at("transports"), Json::array());
  EXPECT_EQ(json_of(Description{}).at("native"), Json::object());
  EXPECT_EQ(json_of(Description{}).at("residue"), Json::array());
}

TEST(Describe, an_invalid_description_is_refused_when_it_is_read) {
  Json json = json_of(elaborate());
  json["transports"][0]["receive"] = {"smell"};
  json["transports"][0]["processes"] = {3};
  json["native"]["ttl"].erase("help");
  try {
    static_cast<void>(read_message<Description>(json));
    FAIL();
  } catch (const ConfigurationError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(R"(transports[0].receive[0]: "smell" is none of poll, block, listen)"), text.npos) << text;
    EXPECT_NE(text.find("transports[0].processes[0]: must be at most 2"), text.npos) << text;
    EXPECT_NE(text.find("native.ttl.help: missing"), text.npos) << text;
  }
}

TEST(Companions, every_field_is_written_and_read_as_json) {
  Companion daemon;
  daemon.name = "roudi";
  daemon.argv = {"/usr/bin/iox-roudi", "-c", "/tmp/a b/roudi.toml"};
  daemon.environment = {{"CYCLONEDDS_URI", "<CycloneDDS/>"}};
  daemon.ready_pattern = R"(RouDi is ready.*\d+)";
  daemon.ready_timeout_s = 2.5;
  expect_round_trip(daemon, R"json({"name": "roudi", "argv": ["/usr/bin/iox-roudi", "-c", "/tmp/a b/roudi.toml"],
    "environment": {"CYCLONEDDS_URI": "<CycloneDDS/>"}, "ready_pattern": "RouDi is ready.*\\d+", "ready_timeout_s": 2.5})json");
}

}  // namespace
}  // namespace middlemark::describe_test
