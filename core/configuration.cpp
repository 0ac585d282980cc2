#include <middlemark/configuration.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace middlemark {
namespace {

using Json = nlohmann::json;

/// JSON numbers convert to anything by wrapping around and cutting off: a number must be one of the field's own kind and range.
template <class Value>
bool fits(const Json& json) {
  if constexpr (std::same_as<Value, bool>) {
    return json.is_boolean();
  } else if constexpr (std::integral<Value>) {
    if (json.is_number_unsigned()) return std::in_range<Value>(json.get<std::uint64_t>());
    return json.is_number_integer() && std::in_range<Value>(json.get<std::int64_t>());
  } else if constexpr (std::floating_point<Value>) {
    return json.is_number();
  } else if constexpr (std::same_as<Value, std::vector<int>>) {
    return json.is_array() && std::all_of(json.begin(), json.end(), &fits<int>);
  } else {
    return true;
  }
}

/// Reads fields of one object and gathers what is wrong with them.
class Fields {
 public:
  Fields(const Json& object, std::string place, std::vector<std::string>& problems)
      : object_(object), place_(std::move(place)), problems_(problems) {
    if (!object_.is_object()) problems_.push_back(place_ + ": must be an object");
  }

  template <class Value>
  void read(const char* name, Value& value, bool required = true) {
    if (!object_.is_object()) return;
    const auto found = object_.find(name);
    if (found == object_.end()) {
      if (required) problems_.push_back(fmt::format("{}.{}: missing", place_, name));
      return;
    }
    try {
      if (fits<Value>(*found)) {
        value = found->template get<Value>();
        return;
      }
    } catch (const Json::exception&) {
    }
    problems_.push_back(fmt::format("{}.{}: {} is of the wrong {}", place_, name, found->dump(),
                                    found->is_number() ? "range" : "type"));
  }

  /// A span of time in s: more than nothing, or `from_zero`, and no longer than anybody waits.
  template <class Value>
  void read_seconds(const char* name, Value& value, bool from_zero = false, bool required = true) {
    const std::size_t before = problems_.size();
    read(name, value, required);
    const double seconds = std::optional<double>(value).value_or(1);
    constexpr double longest = 1e9;
    if (problems_.size() != before || (seconds > 0 && seconds <= longest) || (from_zero && seconds == 0)) return;
    problems_.push_back(fmt::format("{}.{}: {} s is out of range", place_, name, seconds));
  }

  template <class Value>
  void read(const char* name, std::optional<Value>& value, bool required = true) {
    if (object_.is_object() && object_.contains(name) && object_[name].is_null()) {
      value.reset();
      return;
    }
    Value inner{};
    const std::size_t before = problems_.size();
    if (!object_.is_object() || (!object_.contains(name) && !required)) return;
    read(name, inner, required);
    if (problems_.size() == before) value = inner;
  }

  template <class Value>
  void choose(const char* name, Value& value, const std::vector<std::pair<std::string, Value>>& choices) {
    std::string text;
    const std::size_t before = problems_.size();
    read(name, text);
    if (problems_.size() != before) return;
    for (const auto& [choice, meaning] : choices) {
      if (text == choice) {
        value = meaning;
        return;
      }
    }
    problems_.push_back(fmt::format("{}.{}: unknown value \"{}\"", place_, name, text));
  }

 private:
  const Json& object_;
  std::string place_;
  std::vector<std::string>& problems_;
};

const Json& member(const Json& json, const char* name) {
  static const Json nothing;
  return json.is_object() && json.contains(name) ? json[name] : nothing;
}

Settings read_settings(const Json& json, std::vector<std::string>& problems) {
  Settings settings;
  Fields fields(json, "settings", problems);
  fields.read("transport", settings.transport);
  fields.choose<Reliability>("reliability", settings.reliability,
                             {{"reliable", Reliability::reliable}, {"best-effort", Reliability::best_effort}});
  fields.choose<Reception>("reception", settings.reception,
                           {{"poll", Reception::poll}, {"block", Reception::block}, {"listen", Reception::listen}});
  fields.read("depth", settings.depth);
  fields.read("loan", settings.loan);
  fields.read("one_process", settings.one_process);
  fields.read("message_bytes", settings.message_bytes);
  fields.read("subscribers", settings.subscribers);
  fields.read("domain", settings.domain);
  fields.read("scope", settings.scope);
  fields.read("scratch", settings.scratch);
  fields.read("interface", settings.interface, false);
  double write_timeout_s = 1.0;
  fields.read_seconds("write_timeout_s", write_timeout_s, false, false);
  settings.write_timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(write_timeout_s * 1e9));
  fields.read("native", settings.native, false);
  if (settings.message_bytes < 16) problems.emplace_back("settings.message_bytes: must be at least 16");
  if (settings.depth == 0U) problems.emplace_back("settings.depth: must be at least 1, or null for keep-all");
  if (settings.subscribers < 1) problems.emplace_back("settings.subscribers: must be at least 1");
  return settings;
}

const std::vector<std::pair<std::string, Payload>> payloads{{"filled", Payload::filled},
                                                            {"untouched", Payload::untouched}};

void read_role(const Json& json, const std::string& place, Configuration& configuration,
               std::vector<std::string>& problems) {
  Fields fields(json, place, problems);
  std::string role;
  fields.read("role", role);
  if (role == "ping") {
    PingRequest ping;
    fields.read("samples", ping.samples);
    fields.read_seconds("duration_s", ping.duration_s);
    fields.read_seconds("warmup_s", ping.warmup_s, true);
    fields.read_seconds("reply_timeout_s", ping.reply_timeout_s);
    fields.read_seconds("limit_s", ping.limit_s);
    fields.choose("payload", ping.payload, payloads);
    fields.read("echoing", ping.echoing);
    fields.read("samples_path", ping.samples_path);
    fields.read("cpu", ping.cpu, false);
    if (ping.samples.has_value() == ping.duration_s.has_value()) {
      problems.push_back(place + ": exactly one of samples and duration_s must be set");
    }
    if (ping.echoing < 1) problems.push_back(place + ".echoing: must be at least 1");
    if (configuration.ping) problems.push_back(place + ": a second ping in one worker");
    configuration.ping = ping;
  } else if (role == "pong") {
    PongRequest pong;
    fields.read("index", pong.index);
    fields.read("echoes", pong.echoes);
    fields.read("echoing", pong.echoing);
    fields.choose("payload", pong.payload, payloads);
    fields.read("cpu", pong.cpu, false);
    configuration.pongs.push_back(pong);
  } else {
    problems.push_back(fmt::format("{}.role: \"{}\" is not ping or pong", place, role));
  }
}

void complain(const std::vector<std::string>& problems) {
  if (!problems.empty()) throw ConfigurationError(fmt::format("{}", fmt::join(problems, "; ")));
}

}  // namespace

Settings parse_settings(const Json& json) {
  std::vector<std::string> problems;
  Settings settings = read_settings(json, problems);
  complain(problems);
  return settings;
}

Configuration parse_configuration(const Json& json) {
  std::vector<std::string> problems;
  Configuration configuration;
  configuration.settings = read_settings(member(json, "settings"), problems);
  Fields placement(member(json, "placement"), "placement", problems);
  std::optional<std::vector<int>> cpus;
  placement.read("cpus", cpus);
  configuration.placement.cpus = cpus.value_or(std::vector<int>{});
  placement.read("policy", configuration.placement.policy);
  placement.read("priority", configuration.placement.priority);
  placement.read("mlock", configuration.placement.mlock);
  placement.read_seconds("rt_limit_s", configuration.placement.rt_limit_s, false, false);
  Fields top(json, "configure", problems);
  top.read_seconds("match_timeout_s", configuration.match_timeout_s, false, false);
  const Json& roles = member(json, "roles");
  if (!roles.is_array() || roles.empty()) problems.emplace_back("roles: must be a list of at least one role");
  for (std::size_t i = 0; roles.is_array() && i < roles.size(); ++i) {
    read_role(roles[i], fmt::format("roles[{}]", i), configuration, problems);
  }
  complain(problems);
  return configuration;
}

}  // namespace middlemark
