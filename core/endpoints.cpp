#include <middlemark/endpoints.hpp>

#include <algorithm>
#include <variant>

#include <middlemark/roles/topics.hpp>

namespace middlemark {
namespace {

/// Returns how many requests of this type in `configuration` fulfil the condition.
template <class Request, class Condition>
unsigned count(const Configuration& configuration, Condition&& fits) {
  unsigned found = 0;
  for (const AnyRoleRequest& role : configuration.roles) {
    const auto* const request = std::get_if<Request>(&role);
    found += request != nullptr && fits(*request) ? 1U : 0U;
  }
  return found;
}

constexpr auto any = [](const auto& /*request*/) { return true; };

std::vector<Topic> ping_pong_endpoints(const Configuration& configuration) {
  const Settings& settings = configuration.settings;
  unsigned echoing = settings.subscribers;
  const auto read_echoing = [&echoing](const auto& request) {
    echoing = request.echoing;
    return true;
  };
  Topic ping = ping_topic(settings);
  ping.publishers_here = count<PingRequest>(configuration, read_echoing);
  ping.subscribers_here = count<PongRequest>(configuration, read_echoing);
  Topic pong = pong_topic(settings, echoing);
  pong.publishers_here = count<PongRequest>(configuration, [](const PongRequest& request) { return request.echoes; });
  pong.subscribers_here = ping.publishers_here;
  return {ping, pong};
}

std::vector<Topic> request_reply_endpoints(const Configuration& configuration, bool native_calls) {
  const Settings& settings = configuration.settings;
  Topic request = native_calls ? service_topic(settings) : request_topic(settings);
  request.publishers_here = count<ClientRequest>(configuration, any);
  request.subscribers_here = count<ServerRequest>(configuration, any);
  std::vector<Topic> all{request};
  for (unsigned client = 0; !native_calls && client < settings.publishers; ++client) {
    Topic reply = reply_topic(settings, client);
    reply.publishers_here = request.subscribers_here;
    reply.subscribers_here =
        count<ClientRequest>(configuration, [client](const ClientRequest& role) { return role.index == client; });
    all.push_back(reply);
  }
  return all;
}

std::vector<Topic> stream_endpoints(const Configuration& configuration, bool native_calls) {
  std::vector<Topic> all;
  for (unsigned i = 0; i < configuration.settings.topics.size(); ++i) {
    const auto on_topic = [i](const auto& request) { return request.topic == i; };
    const Settings& settings = configuration.settings;
    if (native_calls && settings.topics[i].replies_to) continue;  // the service of the requests includes the replies
    Topic topic = native_calls && replies_of(settings, i) ? graph_service(settings, i) : stream_topic(settings, i);
    topic.publishers_here = count<PublisherRequest>(configuration, on_topic);
    for (const AnyRoleRequest& role : configuration.roles) {
      const auto* const subscriber = std::get_if<SubscriberRequest>(&role);
      if (subscriber == nullptr) continue;
      topic.publishers_here += static_cast<unsigned>(std::ranges::count_if(subscriber->forwards, on_topic));
    }
    topic.subscribers_here = count<SubscriberRequest>(configuration, on_topic);
    all.push_back(topic);
  }
  return all;
}

/// Returns the topics that the participants of this process use. Without roles, returns all topics of the crowd.
std::vector<Topic> crowd_endpoints(const Configuration& configuration) {
  const Settings& settings = configuration.settings;
  std::vector<Topic> all;
  const auto is_newcomer = [&settings](const ParticipantRequest& request) {
    return request.index == settings.participants;
  };
  const unsigned owners = settings.participants + std::min(count<ParticipantRequest>(configuration, is_newcomer), 1U);
  for (unsigned owner = 0; owner < owners; ++owner) {
    unsigned publishers_here = 0;
    unsigned subscribers_here = 0;
    for (const AnyRoleRequest& role : configuration.roles) {
      const auto* const participant = std::get_if<ParticipantRequest>(&role);
      if (participant == nullptr) continue;
      publishers_here += participant->index == owner ? 1 : 0;
      subscribers_here += static_cast<unsigned>(std::ranges::count(crowd_sources(settings, participant->index), owner));
    }
    if (!configuration.roles.empty() && publishers_here + subscribers_here == 0) continue;
    for (unsigned number = 0; number < settings.topics_each; ++number) {
      all.push_back(crowd_topic(settings, owner, number));
      all.back().publishers_here = publishers_here;
      all.back().subscribers_here = subscribers_here;
    }
  }
  return all;
}

std::vector<Topic> made_endpoints(const Configuration& configuration, bool native_calls) {
  switch (configuration.settings.pattern) {
    case Pattern::ping_pong:
      return ping_pong_endpoints(configuration);
    case Pattern::request_reply:
      return request_reply_endpoints(configuration, native_calls);
    case Pattern::crowd:
      return crowd_endpoints(configuration);
    case Pattern::stream:
      break;
  }
  return stream_endpoints(configuration, native_calls);
}

}  // namespace

std::vector<Topic> endpoints_of(const Configuration& configuration, bool native_calls) {
  std::vector<Topic> all = made_endpoints(configuration, native_calls);
  // Use octets if the sizes vary: that is the type on which peers of different adapters agree.
  for (Topic& topic : all) {
    topic.paired = configuration.settings.paired;
    topic.varies = topic.varies || (topic.paired && topic.type == MessageType::octets);
  }
  return all;
}

std::vector<Topic> participant_endpoints(const Settings& settings, unsigned participant) {
  Configuration alone;
  alone.settings = settings;
  alone.settings.endpoints.clear();
  ParticipantRequest request;
  request.index = participant;
  alone.roles.emplace_back(request);
  return endpoints_of(alone, false);
}

}  // namespace middlemark
