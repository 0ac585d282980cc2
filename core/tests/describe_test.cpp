#include <middlemark/describe.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
  about.floor = true;
  about.bench_only = true;
  about.request_reply = true;
  about.credentials = {"x509", "curve"};
  about.own_threads = true;
  about.residue = {"/dev/shm/north_*", "/tmp/north.{scope}"};
  about.native = {{.key = "segment",
                   .type = NativeType::bytes,
                   .least = 4096,
                   .most = 1 << 20,
                   .choices = {"auto"},
                   .otherwise = "64KiB",
                   .transports = {"shm"},
                   .patterns = {Pattern::stream},
                   .help = "the segment"},
                  {.key = "ttl", .help = "hops"}};
  Transport one;
  one.name = "shm";
  one.carrier = "shared-memory";
  one.segments = {"north.*", "north_2.*"};
  one.processes = {2};
  one.receive = {"poll"};
  one.reliability = {"best-effort"};
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

TEST(Describe, every_field_survives_the_way_through_json) {
  const Description about = elaborate();
  const Json json = Json::parse(describe_json(about).dump());
  EXPECT_EQ(json.at("protocol"), protocol_version);
  EXPECT_EQ(json.at("name"), about.name);
  EXPECT_EQ(json.at("title"), about.title);
  EXPECT_EQ(json.at("version"), about.version);
  EXPECT_EQ(json.at("library"), about.library);
  EXPECT_EQ(json.at("licence"), about.licence);
  EXPECT_EQ(json.at("floor"), true);
  EXPECT_EQ(json.at("bench_only"), true);
  EXPECT_EQ(json.at("request_reply"), true);
  EXPECT_EQ(json.at("credentials"), Json::array({"x509", "curve"}));
  EXPECT_EQ(json.at("own_threads"), true);
  EXPECT_EQ(json.at("residue").get<std::vector<std::string>>(), about.residue);
  EXPECT_EQ(json.at("native").size(), 2U);
  ASSERT_EQ(json.at("transports").size(), 2U);
  EXPECT_EQ(json.size(), 14U) << "a field this test does not know";
}

TEST(Describe, every_field_of_a_native_setting_survives_the_way_through_json) {
  const Json json = describe_json(elaborate()).at("native").at("segment");
  EXPECT_EQ(json,
            Json::parse(R"({"type": "bytes", "least": 4096, "most": 1048576, "choices": ["auto"], "default": "64KiB",
    "allowed": "a number of bytes (65536, 64KiB) from 4KiB to 1MiB, or auto", "transports": ["shm"], "patterns": ["stream"],
    "help": "the segment"})"));
  EXPECT_EQ(describe_json(elaborate()).at("native").at("ttl").at("type"), "text");
  EXPECT_TRUE(describe_json(elaborate()).at("native").at("ttl").at("least").is_null());
}

TEST(Describe, every_field_of_a_transport_survives_the_way_through_json) {
  const Transport transport = elaborate().transports.front();
  const Json json = Json::parse(describe_json(elaborate()).dump()).at("transports").at(0);
  EXPECT_EQ(json.at("name"), transport.name);
  EXPECT_EQ(json.at("carrier"), transport.carrier);
  EXPECT_EQ(json.at("segments").get<std::vector<std::string>>(), transport.segments);
  EXPECT_EQ(json.at("processes").get<std::vector<int>>(), transport.processes);
  EXPECT_EQ(json.at("receive").get<std::vector<std::string>>(), transport.receive);
  EXPECT_EQ(json.at("reliability").get<std::vector<std::string>>(), transport.reliability);
  EXPECT_EQ(json.at("loan").get<std::vector<bool>>(), transport.loan);
  EXPECT_EQ(json.at("hands_over"), Json::array({true}));
  EXPECT_EQ(json.at("max_bytes").get<std::size_t>(), transport.max_bytes);
  EXPECT_EQ(json.at("max_bytes_advice"), transport.max_bytes_advice);
  EXPECT_EQ(json.at("max_depth"), 4'000'000'000U);
  EXPECT_EQ(json.at("keep_all"), false);
  EXPECT_EQ(json.at("companions"), true);
  EXPECT_EQ(json.at("own_network"), true);
  EXPECT_EQ(json.at("alone"), true);
  EXPECT_EQ(json.at("best_effort_carrier"), "udp");
  EXPECT_EQ(json.at("types"), Json::array({"octets", "point-cloud"}));
  EXPECT_EQ(json.at("varying_sizes"), true);
  EXPECT_EQ(json.at("services"), true);
  EXPECT_TRUE(json.at("max_history").is_null());
  EXPECT_EQ(json.at("security"), Json::array({"none", "signed", "encrypted"}));
  EXPECT_EQ(json.at("security_why"), transport.security_why);
  EXPECT_EQ(json.at("permissions"), transport.permissions);
  EXPECT_EQ(json.size(), 23U) << "a field this test does not know";
}

TEST(Describe, what_is_absent_is_null_and_what_was_left_out_is_the_contracts_default) {
  const Json json = describe_json(elaborate()).at("transports").at(1);
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
  EXPECT_EQ(describe_json({}).at("transports"), Json::array());
  EXPECT_EQ(describe_json({}).at("native"), Json::object());
  EXPECT_EQ(describe_json({}).at("residue"), Json::array());
}

TEST(Companions, every_field_survives_the_way_through_json) {
  Companion daemon;
  daemon.name = "roudi";
  daemon.argv = {"/usr/bin/iox-roudi", "-c", "/tmp/a b/roudi.toml"};
  daemon.environment = {{"CYCLONEDDS_URI", "<CycloneDDS/>"}};
  daemon.ready_pattern = R"(RouDi is ready.*\d+)";
  daemon.ready_timeout_s = 2.5;
  const Json json = Json::parse(companions_json({daemon, Companion{}}).dump());
  EXPECT_EQ(json.size(), 1U);
  ASSERT_EQ(json.at("companions").size(), 2U);
  const Json first = json.at("companions").at(0);
  EXPECT_EQ(first.at("name"), daemon.name);
  EXPECT_EQ(first.at("argv").get<std::vector<std::string>>(), daemon.argv);
  EXPECT_EQ((first.at("environment").get<std::map<std::string, std::string>>()), daemon.environment);
  EXPECT_EQ(first.at("ready_pattern"), daemon.ready_pattern);
  EXPECT_EQ(first.at("ready_timeout_s"), 2.5);
  EXPECT_EQ(first.size(), 5U) << "a field this test does not know";
  EXPECT_EQ(json.at("companions").at(1).at("argv"), Json::array());
}

TEST(Companions, none_is_an_empty_list) { EXPECT_EQ(companions_json({}).at("companions"), Json::array()); }

}  // namespace
}  // namespace middlemark::describe_test
