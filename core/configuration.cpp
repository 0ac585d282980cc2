#include <middlemark/configuration.hpp>

#include <algorithm>
#include <concepts>
#include <string>

#include <fmt/format.h>

#include <middlemark/json.hpp>

namespace middlemark {
namespace {

/// Checks rules that involve several fields; JsonReader checks single fields.
class Check {
 public:
  Check(const Settings& settings, JsonReader& reader) : settings_(settings), reader_(reader) {}

  void settings() {
    demand(settings_.subscribers >= 1 || settings_.pattern == Pattern::ping_pong, "settings.subscribers",
           "must be at least 1");
    demand(settings_.topics.empty() == (settings_.pattern != Pattern::stream), "settings.topics",
           "pattern stream needs at least one topic, and other patterns must have none");
    for (std::size_t i = 0; i < settings_.topics.size(); ++i) {
      const std::string place = fmt::format("settings.topics[{}]", i);
      for (const unsigned publisher : settings_.topics[i].publishers)
        below(publisher, settings_.publishers, place + ".publishers");
      for (const unsigned subscriber : settings_.topics[i].subscribers) {
        below(subscriber, settings_.subscribers, place + ".subscribers");
      }
    }
  }

  template <class Request>
  void role(const Request& request, const std::string& place) {
    if constexpr (std::derived_from<Request, SenderRequest>) sender(request, place);
    if constexpr (std::derived_from<Request, CallerRequest>) {
      demand(request.load.kind != LoadKind::burst, place + ".load", "only publishers can send bursts");
    }
    if constexpr (std::same_as<Request, PingRequest>)
      demand(pings_++ == 0, place, "only one ping per worker is allowed");
    if constexpr (std::same_as<Request, ClientRequest> || std::same_as<Request, PublisherRequest>) {
      below(request.index, settings_.publishers, place + ".index");
    }
    constexpr bool participates = std::same_as<Request, ParticipantRequest>;
    demand(participates == (settings_.pattern == Pattern::crowd), place + ".role",
           participates ? "only a crowd has participants" : "a crowd has no other roles than participants");
    if constexpr (participates) below(request.index, settings_.participants + 1, place + ".index");
    if constexpr (std::same_as<Request, SubscriberRequest>) {
      below(request.index, settings_.subscribers, place + ".index");
    }
    if constexpr (std::same_as<Request, PublisherRequest>) on_topic(request, &TopicRequest::publishers, place);
    if constexpr (std::same_as<Request, SubscriberRequest>) {
      on_topic(request, &TopicRequest::subscribers, place);
      for (const ForwardRequest& forward : request.forwards)
        on_topic(forward, &TopicRequest::publishers, place + ".forwards");
    }
  }

 private:
  void sender(const SenderRequest& request, const std::string& place) {
    demand(request.samples.has_value() != request.duration_s.has_value(), place,
           "exactly one of samples and duration_s must be set");
    demand(request.load.kind != LoadKind::rate || request.load.rate_hz > 0, place + ".load.rate_hz", "missing");
    demand(request.load.kind != LoadKind::burst || request.load.burst > 0, place + ".load.burst", "missing");
    demand(request.load.instants_path.empty() == (request.load.lap_ns == 0), place + ".load.lap_ns",
           "must be set together with instants_path");
  }
  template <class Request>
  void on_topic(const Request& request, std::vector<unsigned> TopicRequest::* ends, const std::string& place) {
    below(request.topic, static_cast<unsigned>(settings_.topics.size()), place + ".topic");
    if (request.topic >= settings_.topics.size()) return;
    const std::vector<unsigned>& indices = settings_.topics[request.topic].*ends;
    demand(std::ranges::find(indices, request.index) != indices.end(), place + ".topic",
           fmt::format("topic {} does not list {}", request.topic, request.index));
  }
  void below(unsigned index, unsigned bound, const std::string& place) {
    demand(index < bound, place, fmt::format("{} is not below {}", index, bound));
  }
  void demand(bool fulfilled, const std::string& place, const std::string& otherwise) {
    if (!fulfilled) reader_.add_problem(place, otherwise);
  }

  const Settings& settings_;
  JsonReader& reader_;
  unsigned pings_ = 0;
};

}  // namespace

Settings parse_settings(const nlohmann::json& request) {
  CompanionsRequest parsed;
  JsonReader reader;
  reader.read(request, parsed, {});
  const Settings settings{parsed.settings};
  Check(settings, reader).settings();
  reader.throw_problems();
  return settings;
}

Configuration parse_configuration(const nlohmann::json& command) {
  ConfigureCommand parsed;
  JsonReader reader;
  reader.read(command, parsed, {});
  Configuration configuration{{parsed.settings}, parsed.placement,  parsed.match_timeout_s,
                              parsed.roles,      parsed.tells_ends, parsed.latencies};
  Check check(configuration.settings, reader);
  check.settings();
  for (std::size_t i = 0; i < parsed.roles.size(); ++i) {
    const std::string place = fmt::format("roles[{}]", i);
    if (!reader.is_valid(place) || !reader.is_valid(place + ".role"))
      continue;  // already reported; there is no request to check
    std::visit([&](const auto& request) { check.role(request, place); }, parsed.roles[i]);
  }
  reader.throw_problems();
  return configuration;
}

}  // namespace middlemark
