#include <middlemark/configuration.hpp>

#include <algorithm>
#include <concepts>
#include <string>

#include <fmt/format.h>

#include <middlemark/json.hpp>

namespace middlemark {
namespace {

/// What no single field can tell: whether several of them go together.
class Check {
 public:
  Check(const Settings& settings, JsonReader& reader) : settings_(settings), reader_(reader) {}

  void settings() {
    demand(settings_.subscribers >= 1 || settings_.pattern == Pattern::ping_pong, "settings.subscribers",
           "must be at least 1");
    demand(settings_.topics.empty() == (settings_.pattern != Pattern::stream), "settings.topics",
           "a stream has some, and nothing else has any");
    for (std::size_t i = 0; i < settings_.topics.size(); ++i) {
      const std::string place = fmt::format("settings.topics[{}]", i);
      for (const unsigned each : settings_.topics[i].publishers)
        below(each, settings_.publishers, place + ".publishers");
      for (const unsigned each : settings_.topics[i].subscribers) {
        below(each, settings_.subscribers, place + ".subscribers");
      }
    }
  }

  template <class Request>
  void role(const Request& request, const std::string& place) {
    if constexpr (std::derived_from<Request, SenderRequest>) sender(request, place);
    if constexpr (std::derived_from<Request, CallerRequest>) {
      demand(request.load.kind != LoadKind::burst, place + ".load", "bursts are for publishers");
    }
    if constexpr (std::same_as<Request, PingRequest>) demand(pings_++ == 0, place, "a second ping in one worker");
    if constexpr (std::same_as<Request, ClientRequest> || std::same_as<Request, PublisherRequest>) {
      below(request.index, settings_.publishers, place + ".index");
    }
    if constexpr (std::same_as<Request, SubscriberRequest>) {
      below(request.index, settings_.subscribers, place + ".index");
    }
    if constexpr (std::same_as<Request, PublisherRequest>) on_topic(request, &TopicRequest::publishers, place);
    if constexpr (std::same_as<Request, SubscriberRequest>) {
      on_topic(request, &TopicRequest::subscribers, place);
      for (const ForwardRequest& each : request.forwards)
        on_topic(each, &TopicRequest::publishers, place + ".forwards");
    }
  }

 private:
  void sender(const SenderRequest& request, const std::string& place) {
    demand(request.samples.has_value() != request.duration_s.has_value(), place,
           "exactly one of samples and duration_s must be set");
    demand(request.load.kind != LoadKind::rate || request.load.rate_hz > 0, place + ".load.rate_hz", "missing");
    demand(request.load.kind != LoadKind::burst || request.load.burst > 0, place + ".load.burst", "missing");
    demand(request.load.instants_path.empty() == (request.load.lap_ns == 0), place + ".load.lap_ns",
           "goes with instants_path");
  }
  template <class Request>
  void on_topic(const Request& request, std::vector<unsigned> TopicRequest::* ends, const std::string& place) {
    below(request.topic, static_cast<unsigned>(settings_.topics.size()), place + ".topic");
    if (request.topic >= settings_.topics.size()) return;
    const std::vector<unsigned>& indices = settings_.topics[request.topic].*ends;
    demand(std::ranges::find(indices, request.index) != indices.end(), place + ".topic",
           fmt::format("{} has no {}", request.topic, request.index));
  }
  void below(unsigned index, unsigned of, const std::string& place) {
    demand(index < of, place, fmt::format("{} is not below {}", index, of));
  }
  void demand(bool fulfilled, const std::string& place, const std::string& otherwise) {
    if (!fulfilled) reader_.say(place, otherwise);
  }

  const Settings& settings_;
  JsonReader& reader_;
  unsigned pings_ = 0;
};

}  // namespace

Settings parse_settings(const nlohmann::json& request) {
  CompanionsRequest asked;
  JsonReader reader;
  reader.read(request, asked, {});
  const Settings settings{asked.settings};
  Check(settings, reader).settings();
  reader.complain();
  return settings;
}

Configuration parse_configuration(const nlohmann::json& command) {
  ConfigureCommand asked;
  JsonReader reader;
  reader.read(command, asked, {});
  Configuration configuration{{asked.settings}, asked.placement, asked.match_timeout_s, asked.roles, asked.tells_ends};
  Check check(configuration.settings, reader);
  check.settings();
  for (std::size_t i = 0; i < asked.roles.size(); ++i) {
    const std::string place = fmt::format("roles[{}]", i);
    if (!reader.good(place) || !reader.good(place + ".role")) continue;  // it is nobody's
    std::visit([&](const auto& request) { check.role(request, place); }, asked.roles[i]);
  }
  reader.complain();
  return configuration;
}

}  // namespace middlemark
