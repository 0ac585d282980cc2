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

constexpr unsigned most_sources = 1U << 16;  // what the header's source has room for

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
  fields.choose<Pattern>(
      "pattern", settings.pattern,
      {{"ping-pong", Pattern::ping_pong}, {"stream", Pattern::stream}, {"request-reply", Pattern::request_reply}});
  fields.read("publishers", settings.publishers);
  fields.read("subscribers", settings.subscribers);
  fields.read("topics", settings.topics);
  fields.read("workers", settings.workers);
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
  if (settings.subscribers < 1 && settings.pattern != Pattern::ping_pong) {
    problems.emplace_back("settings.subscribers: must be at least 1");
  }
  if (settings.publishers < 1) problems.emplace_back("settings.publishers: must be at least 1");
  if (settings.topics < 1 || settings.topics > std::min(settings.publishers, std::max(settings.subscribers, 1U))) {
    problems.emplace_back("settings.topics: each must have a publisher and a subscriber");
  }
  if (settings.workers < 1) problems.emplace_back("settings.workers: must be at least 1");
  if (settings.publishers > most_sources) {
    problems.push_back(fmt::format("settings.publishers: at most {}", most_sources));
  }
  return settings;
}

const std::vector<std::pair<std::string, Payload>> payloads{{"filled", Payload::filled},
                                                            {"untouched", Payload::untouched}};

Load read_load(const Json& json, const std::string& place, std::vector<std::string>& problems) {
  Load load;
  if (json.is_null()) return load;
  Fields fields(json, place, problems);
  fields.choose<Load::Kind>("kind", load.kind,
                            {{"max", Load::Kind::max}, {"rate", Load::Kind::rate}, {"burst", Load::Kind::burst}});
  if (load.kind == Load::Kind::rate) {
    fields.read("rate_hz", load.rate_hz);
    fields.choose<bool>("arrivals", load.poisson, {{"periodic", false}, {"poisson", true}});
    fields.read("seed", load.seed, false);
    constexpr double slowest = 1e-6;
    constexpr double fastest = 1e9;
    if (!(load.rate_hz >= slowest && load.rate_hz <= fastest)) {
      problems.push_back(fmt::format("{}.rate_hz: {} is out of range", place, load.rate_hz));
    }
  } else if (load.kind == Load::Kind::burst) {
    fields.read("burst", load.burst);
    fields.read_seconds("recovery_s", load.recovery_s, true);
    if (load.burst < 1) problems.push_back(place + ".burst: must be at least 1");
  }
  return load;
}

/// How long a sender goes on.
template <class Request>
void read_length(Fields& fields, Request& request, const std::string& place, std::vector<std::string>& problems) {
  fields.read("samples", request.samples);
  fields.read_seconds("duration_s", request.duration_s);
  fields.read_seconds("warmup_s", request.warmup_s, true);
  fields.read_seconds("limit_s", request.limit_s);
  if (request.samples.has_value() == request.duration_s.has_value()) {
    problems.push_back(place + ": exactly one of samples and duration_s must be set");
  }
}

PingRequest read_caller(const Json& json, const std::string& place, bool client, std::vector<std::string>& problems) {
  Fields fields(json, place, problems);
  PingRequest caller;
  caller.client = client;
  if (client) fields.read("index", caller.index);
  caller.load = read_load(member(json, "load"), place + ".load", problems);
  if (caller.load.kind == Load::Kind::burst) problems.push_back(place + ".load: bursts are for publishers");
  read_length(fields, caller, place, problems);
  fields.read_seconds("reply_timeout_s", caller.reply_timeout_s);
  fields.choose("payload", caller.payload, payloads);
  if (!client) fields.read("echoing", caller.echoing);
  fields.read("samples_path", caller.samples_path);
  fields.read("cpu", caller.cpu, false);
  if (caller.echoing < 1) problems.push_back(place + ".echoing: must be at least 1");
  return caller;
}

PongRequest read_answerer(const Json& json, const std::string& place, bool serves, std::vector<std::string>& problems) {
  Fields fields(json, place, problems);
  PongRequest answerer;
  answerer.serves = serves;
  fields.read("index", answerer.index);
  if (!serves) {
    fields.read("echoes", answerer.echoes);
    fields.read("echoing", answerer.echoing);
  }
  fields.choose("payload", answerer.payload, payloads);
  fields.read("samples_path", answerer.samples_path, false);
  fields.read("samples", answerer.samples, false);
  fields.read_seconds("duration_s", answerer.duration_s, false, false);
  fields.read("cpu", answerer.cpu, false);
  return answerer;
}

PublisherRequest read_publisher(const Json& json, const std::string& place, std::vector<std::string>& problems) {
  Fields fields(json, place, problems);
  PublisherRequest publisher;
  fields.read("index", publisher.index);
  fields.read("topic", publisher.topic);
  publisher.load = read_load(member(json, "load"), place + ".load", problems);
  read_length(fields, publisher, place, problems);
  fields.choose("payload", publisher.payload, payloads);
  fields.read("samples_path", publisher.samples_path);
  fields.read("kept", publisher.kept);
  fields.read("cpu", publisher.cpu, false);
  return publisher;
}

SubscriberRequest read_subscriber(const Json& json, const std::string& place, std::vector<std::string>& problems) {
  Fields fields(json, place, problems);
  SubscriberRequest subscriber;
  fields.read("index", subscriber.index);
  fields.read("topic", subscriber.topic);
  fields.choose("payload", subscriber.payload, payloads);
  fields.read("samples_path", subscriber.samples_path);
  fields.read("kept", subscriber.kept);
  fields.read("cpu", subscriber.cpu, false);
  return subscriber;
}

/// Each role names its place among its like and its topic; both must be ones that the settings have.
void check_place(const char* what, unsigned index, unsigned of, const std::string& place,
                 std::vector<std::string>& problems) {
  if (index >= of) problems.push_back(fmt::format("{}.{}: {} is not below {}", place, what, index, of));
}

void read_role(const Json& json, const std::string& place, Configuration& configuration,
               std::vector<std::string>& problems) {
  const Settings& settings = configuration.settings;
  std::string role;
  Fields(json, place, problems).read("role", role);
  if (role == "ping") {
    if (!configuration.pings.empty()) problems.push_back(place + ": a second ping in one worker");
    configuration.pings.push_back(read_caller(json, place, false, problems));
  } else if (role == "client") {
    configuration.pings.push_back(read_caller(json, place, true, problems));
    check_place("index", configuration.pings.back().index, settings.publishers, place, problems);
  } else if (role == "pong" || role == "server") {
    configuration.pongs.push_back(read_answerer(json, place, role == "server", problems));
  } else if (role == "publisher") {
    configuration.publishers.push_back(read_publisher(json, place, problems));
    check_place("index", configuration.publishers.back().index, settings.publishers, place, problems);
    check_place("topic", configuration.publishers.back().topic, settings.topics, place, problems);
  } else if (role == "subscriber") {
    configuration.subscribers.push_back(read_subscriber(json, place, problems));
    check_place("index", configuration.subscribers.back().index, settings.subscribers, place, problems);
    check_place("topic", configuration.subscribers.back().topic, settings.topics, place, problems);
  } else {
    problems.push_back(
        fmt::format("{}.role: \"{}\" is not ping, pong, publisher, subscriber, client or server", place, role));
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
