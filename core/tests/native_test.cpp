#include <middlemark/kit/native.hpp>

#include <gtest/gtest.h>

#include <middlemark/honour.hpp>

namespace middlemark::kit::native_test {
namespace {

using namespace std::chrono_literals;

enum class Rpc { dealer_router, req_rep };

struct Options : NativeKeys {
  using NativeKeys::NativeKeys;
  bool nodelay = key("nodelay", true, {.help = "no delay", .transports = {"tcp"}});
  int io_threads = key("io_threads", 1, {.help = "threads", .least = 1, .most = 64});
  std::uint8_t hops = key<std::uint8_t>("hops", 3, {.help = "hops"});
  std::uint64_t buffer =
      key("buffer", std::uint64_t{64} << 10, {.help = "buffer", .least = 4096, .type = NativeType::bytes});
  std::optional<int> depth = key<int>("depth", {.help = "depth", .least = 0, .otherwise = "the trial's"});
  std::chrono::nanoseconds flush =
      key<std::chrono::nanoseconds>("flush", 1ms, {.help = "flush", .least = 50'000, .most = 1'000'000'000});
  std::chrono::milliseconds heartbeat = key("heartbeat_ms", 100ms, {.help = "heartbeat", .least = 1});
  Rpc rpc = key("rpc", Rpc::dealer_router,
                {.help = "calls", .choices = {"dealer-router", "req-rep"}, .patterns = {Pattern::request_reply}});
  std::string name = key<std::string>("name", "north", {.help = "name"});
  std::string delay =
      key<std::string>("delay", "", {.help = "delay", .choices = {"inf"}, .type = NativeType::duration});
  std::vector<int> list = a_list();
  std::map<std::string, std::string> elements = keys("Domain/*", {.help = "any element"});

 private:
  std::vector<int> a_list() {
    const auto text = key<std::string>("list", {.help = "list"});
    if (text && *text != "1,2") complain("list", "a list");
    return text ? std::vector{1, 2} : std::vector<int>{};
  }
};

Settings with(std::map<std::string, std::string> native) {
  Settings settings;
  settings.transport = "tcp";
  settings.native = std::move(native);
  return settings;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string refusal(const Settings& settings) {
  try {
    static_cast<void>(read_native<Options>("north", settings));
  } catch (const AdapterError& error) {
    return error.what();
  }
  return {};
}

TEST(Native, without_settings_the_members_have_their_defaults) {
  const Options options = read_native<Options>("north", with({}));
  EXPECT_TRUE(options.nodelay);
  EXPECT_EQ(options.buffer, 65536U);
  EXPECT_EQ(options.depth, std::nullopt);
  EXPECT_TRUE(options.elements.empty());
}

TEST(Native, each_value_is_read_as_the_type_of_its_member) {
  Settings settings = with({{"nodelay", "off"},
                            {"io_threads", "8"},
                            {"hops", "255"},
                            {"buffer", "1.5MiB"},
                            {"depth", "0"},
                            {"flush", "1.5ms"},
                            {"heartbeat_ms", "20"},
                            {"rpc", "req-rep"},
                            {"name", "x y"},
                            {"delay", "inf"},
                            {"list", "1,2"},
                            {"Domain/a/@b", "c"}});
  settings.pattern = Pattern::request_reply;
  const Options options = read_native<Options>("north", settings);
  EXPECT_FALSE(options.nodelay);
  EXPECT_EQ(options.io_threads, 8);
  EXPECT_EQ(options.hops, 255);
  EXPECT_EQ(options.buffer, 1'572'864U);
  EXPECT_EQ(options.depth, 0);
  EXPECT_EQ(options.flush, 1500us);
  EXPECT_EQ(options.heartbeat, 20ms);
  EXPECT_EQ(options.rpc, Rpc::req_rep);
  EXPECT_EQ(options.name, "x y");
  EXPECT_EQ(options.delay, "inf");
  EXPECT_EQ(options.list, (std::vector{1, 2}));
  EXPECT_EQ(options.elements, (std::map<std::string, std::string>{{"a/@b", "c"}}));
}

TEST(Native, all_problems_are_reported_with_key_value_and_allowed_values) {
  Settings settings = with({{"colour", "green"}, {"io_threads", "0"}, {"nodelay", "perhaps"}, {"rpc", "push"}});
  settings.transport = "ipc";
  const std::string text = refusal(settings);
  EXPECT_TRUE(holds(text, "north: native.colour is not a setting of this adapter (it has Domain/*, buffer, ")) << text;
  EXPECT_TRUE(holds(text, "native.io_threads = '0' is not a whole number from 1 to 64")) << text;
  EXPECT_TRUE(holds(text, "native.nodelay has no effect on the transport ipc (only on tcp)")) << text;
  EXPECT_TRUE(holds(text, "native.nodelay = 'perhaps' is not true or false")) << text;
  EXPECT_TRUE(holds(text, "native.rpc has no effect on ping-pong (only on request-reply)")) << text;
  EXPECT_TRUE(holds(text, "native.rpc = 'push' is not one of dealer-router, req-rep")) << text;
}

TEST(Native, numbers_must_be_complete_and_never_wrap_around) {
  const auto wrong = [](const std::string& key, const std::string& value) {
    return refusal(with({{key, value}})).find("'" + value + "' is not") != std::string::npos;
  };
  EXPECT_TRUE(wrong("io_threads", "8x"));
  EXPECT_TRUE(wrong("io_threads", ""));
  EXPECT_TRUE(wrong("io_threads", "1.0"));
  EXPECT_TRUE(wrong("hops", "256"));
  EXPECT_TRUE(wrong("hops", "-1"));
  EXPECT_TRUE(wrong("buffer", "4095"));
  EXPECT_TRUE(wrong("buffer", "64 parsecs"));
  EXPECT_TRUE(wrong("buffer", "4096.5"));
  EXPECT_TRUE(wrong("buffer", "1e30"));
  EXPECT_TRUE(wrong("flush", "1"));
  EXPECT_TRUE(wrong("flush", "2s"));
  EXPECT_TRUE(wrong("delay", "forever"));
  EXPECT_TRUE(wrong("heartbeat_ms", "1ms"));
}

TEST(Native, a_value_read_by_the_adapter_is_refused_by_the_adapter) {
  EXPECT_EQ(refusal(with({{"list", "3"}})), "north: native.list = '3' is not a list");
}

TEST(Native, an_exact_key_precedes_a_star_and_a_star_is_not_empty) {
  const NativeTable keys{{"*", {}}, {"Domain/*", {}}, {"Domain/a", {}}};
  EXPECT_EQ(find_native(keys, "Domain/a"), &keys.at("Domain/a"));
  EXPECT_EQ(find_native(keys, "Domain/b"), &keys.at("Domain/*"));
  EXPECT_EQ(find_native(keys, "Domain/*"), &keys.at("Domain/*"));
  EXPECT_EQ(find_native(keys, "Domain/"), &keys.at("*"));
  EXPECT_EQ(find_native(keys, "anything"), &keys.at("*"));
}

TEST(Native, the_description_has_type_range_default_and_scope) {
  const NativeTable about = native_table<Options>();
  const auto setting = [&about](const char* key) { return *find_native(about, key); };
  EXPECT_EQ(setting("nodelay").type, NativeType::boolean);
  EXPECT_EQ(setting("nodelay").otherwise, "true");
  EXPECT_EQ(setting("nodelay").transports, std::vector<std::string>{"tcp"});
  EXPECT_EQ(setting("hops").most, 255);
  EXPECT_EQ(setting("buffer").otherwise, "64KiB");
  EXPECT_EQ(setting("depth").otherwise, "the trial's");
  EXPECT_EQ(setting("flush").otherwise, "1ms");
  EXPECT_EQ(native_domain(setting("flush")), "a duration (500us, 1.5ms) from 50us to 1s");
  EXPECT_EQ(setting("heartbeat_ms").otherwise, "100");
  EXPECT_EQ(setting("rpc").otherwise, "dealer-router");
  EXPECT_EQ(native_domain(setting("delay")), "a duration (500us, 1.5ms), or inf");
}

TEST(Native, the_core_reports_native_and_other_problems_together) {
  Description about;
  about.name = "north";
  about.native = native_table<Options>();
  about.transports = {{.name = "tcp", .carrier = "tcp"}};
  Settings settings = with({{"io_threads", "65"}, {"colour", "green"}});
  settings.loan = true;
  try {
    refuse_what_is_not_listed(about, settings);
    FAIL();
  } catch (const AdapterError& error) {
    EXPECT_TRUE(holds(error.what(), "north: tcp: does not support loan true (supported: false); native.colour is not"))
        << error.what();
    EXPECT_TRUE(holds(error.what(), "native.io_threads = '65'")) << error.what();
    EXPECT_TRUE(holds(error.advice(), "list adapters --verbose")) << error.advice();
  }
}

TEST(Native, the_core_refuses_values_beyond_the_bounds_and_accepts_the_bounds) {
  Description about;
  about.name = "north";
  about.transports = {{.name = "tcp", .carrier = "tcp", .max_bytes = 1000, .max_depth = 8}};
  Settings settings = with({});
  settings.message_bytes = 1000;
  settings.depth = 8;
  EXPECT_NO_THROW(refuse_what_is_not_listed(about, settings));
  settings.message_bytes = 1001;
  EXPECT_THROW(refuse_what_is_not_listed(about, settings), AdapterError);
  settings.message_bytes = 1000;
  settings.depth = 9;
  EXPECT_THROW(refuse_what_is_not_listed(about, settings), AdapterError);
}

}  // namespace
}  // namespace middlemark::kit::native_test
