#include <middlemark/honour.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <middlemark/kit/messages.hpp>
#include <middlemark/kit/native.hpp>

namespace middlemark {
namespace {

template <class Level>
std::string shown(const Level& level) {
  if constexpr (std::is_enum_v<Level>) {
    return std::string(word(level));
  } else if constexpr (requires { level.has_value(); }) {
    return level ? shown(*level) : "none";
  } else {
    return fmt::format("{}", level);
  }
}

/// Returns the levels that the transport supports if `asked` is not one of them, otherwise an empty string.
template <class Level>
std::string levels_if_unsupported(const std::vector<Level>& has, const Level& asked) {
  if (std::ranges::find(has, asked) != has.end()) return {};
  std::vector<std::string> levels;
  for (const Level level : has) levels.push_back(shown(level));
  return fmt::format("supported: {}", fmt::join(levels, ", "));
}

/// Returns the transport's highest level if `asked` exceeds it, otherwise an empty string.
template <class Number>
std::string levels_if_unsupported(const std::optional<Number>& most, const std::optional<Number>& asked) {
  return !most || !asked || *asked <= *most ? std::string() : fmt::format("at most {}", *most);
}

std::string levels_if_unsupported(std::size_t most, std::size_t asked) {
  return levels_if_unsupported(std::optional(most), std::optional(asked));
}

/// The problems found in a trial's settings. A problem that is added twice is listed once.
class Problems {
 public:
  void demand(bool fulfilled, std::string otherwise) {
    if (!fulfilled && std::ranges::find(all_, otherwise) == all_.end()) all_.push_back(std::move(otherwise));
  }
  void demand_level(std::string_view factor, const auto& has, const auto& asked) {
    const std::string levels = levels_if_unsupported(has, asked);
    demand(levels.empty(), fmt::format("{} {} ({})", factor, shown(asked), levels));
  }
  void demand_levels(const Transport& transport, const auto& request, const auto& capabilities) {
    const auto demand_all = [&](const auto&... capability) {
      (demand_level(capability.factor, transport.*capability.has, request.*capability.asked), ...);
    };
    std::apply(demand_all, capabilities);
  }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }

 private:
  std::vector<std::string> all_;
};

std::vector<std::string> unlisted(const Transport& transport, const Settings& settings) {
  Problems problems;
  const auto fits = [&problems](MessageType type, std::size_t bytes) {
    problems.demand(kit::fits(type, bytes), fmt::format("messages of type {} and {} bytes", word(type), bytes));
  };
  problems.demand_levels(transport, settings, capabilities);
  problems.demand_level("processes", transport.processes, settings.one_process ? 1 : 2);
  problems.demand(settings.depth.has_value() || transport.keep_all, "keep-all history");
  if (settings.topics.empty()) fits(settings.type, settings.message_bytes);
  for (const TopicRequest& topic : settings.topics) {
    problems.demand_levels(transport, topic, topic_capabilities);
    fits(topic.type, topic.message_bytes);
    problems.demand(transport.varying_sizes || topic.sizes_path.empty(), "messages of varying size on one topic");
    problems.demand(topic.history <= transport.max_history.value_or(topic.history),
                    fmt::format("a history of {} messages for late joiners (at most {})", topic.history,
                                transport.max_history.value_or(0)));
    problems.demand(topic.history == 0 || topic.publishers.size() == 1, "a history on a topic with several publishers");
    problems.demand(transport.services || !topic.replies_to, "services in a graph of topics");
  }
  const bool alone = settings.pattern == Pattern::ping_pong && settings.subscribers == 0;
  problems.demand(alone == transport.alone,
                  transport.alone ? "anything but a ping without pongs" : "a ping without pongs");
  return problems.all();
}

}  // namespace

void refuse_what_is_not_listed(const Description& about, const Settings& settings) {
  const auto transport = std::ranges::find(about.transports, settings.transport, &Transport::name);
  if (transport == about.transports.end()) {
    std::vector<std::string> names;
    for (const Transport& listed : about.transports) names.push_back(listed.name);
    throw AdapterError(fmt::format("{}: unknown transport \"{}\"; available: {}", about.name, settings.transport,
                                   fmt::join(names, ", ")));
  }
  std::vector<std::string> problems;
  std::string advice;
  if (const std::vector<std::string> missing = unlisted(*transport, settings); !missing.empty()) {
    problems.push_back(fmt::format("{}: does not support {}", transport->name, fmt::join(missing, "; ")));
    const bool secure = levels_if_unsupported(transport->security, settings.security).empty();
    if (!secure && !transport->security_why.empty()) problems.back() += ": " + transport->security_why;
    const bool passes = levels_if_unsupported(transport->via, settings.via).empty();
    if (!passes && !transport->via_why.empty()) problems.back() += ": " + transport->via_why;
    advice = transport->max_bytes_advice;
  }
  for (std::string& problem : kit::native_problems(about.native, settings)) {
    problems.push_back(std::move(problem));
    if (advice.empty()) advice = "`middlemark list adapters --verbose` lists the settings of each adapter";
  }
  if (!problems.empty()) throw AdapterError(fmt::format("{}: {}", about.name, fmt::join(problems, "; ")), advice);
}

}  // namespace middlemark
