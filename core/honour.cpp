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

/// Returns what the transport has where it does not list the level that is asked for; else nothing.
template <class Level>
std::string instead(const std::vector<Level>& has, const Level& asked) {
  if (std::ranges::find(has, asked) != has.end()) return {};
  std::vector<std::string> levels;
  for (const Level each : has) levels.push_back(shown(each));
  return fmt::format("it has {}", fmt::join(levels, ", "));
}

/// Returns the same where the transport has a highest level; nullopt: it has none, or what is asked for is no number.
template <class Number>
std::string instead(const std::optional<Number>& most, const std::optional<Number>& asked) {
  return !most || !asked || *asked <= *most ? std::string() : fmt::format("at most {}", *most);
}

std::string instead(std::size_t most, std::size_t asked) { return instead(std::optional(most), std::optional(asked)); }

/// What a transport cannot do, each once.
class Problems {
 public:
  void demand(bool fulfilled, std::string otherwise) {
    if (!fulfilled && std::ranges::find(all_, otherwise) == all_.end()) all_.push_back(std::move(otherwise));
  }
  void demand_level(std::string_view factor, const auto& has, const auto& asked) {
    const std::string other = instead(has, asked);
    demand(other.empty(), fmt::format("{} {} ({})", factor, shown(asked), other));
  }
  void demand_levels(const Transport& transport, const auto& request, const auto& capabilities) {
    const auto each_of_them = [&](const auto&... each) {
      (demand_level(each.factor, transport.*each.has, request.*each.asked), ...);
    };
    std::apply(each_of_them, capabilities);
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
  for (const TopicRequest& each : settings.topics) {
    problems.demand_levels(transport, each, topic_capabilities);
    fits(each.type, each.message_bytes);
    problems.demand(transport.varying_sizes || each.sizes_path.empty(), "messages of one topic whose sizes vary");
    problems.demand(each.history <= transport.max_history.value_or(each.history),
                    fmt::format("a history of {} messages for who joins late (at most {})", each.history,
                                transport.max_history.value_or(0)));
    problems.demand(each.history == 0 || each.publishers.size() == 1, "a history of several publishers");
    problems.demand(transport.services || !each.replies_to, "services among topics");
  }
  const bool alone = settings.pattern == Pattern::ping_pong && settings.subscribers == 0;
  problems.demand(alone == transport.alone, transport.alone
                                                ? "anything but a ping without pongs: nobody else takes part"
                                                : "a ping without pongs");
  return problems.all();
}

}  // namespace

void refuse_what_is_not_listed(const Description& about, const Settings& settings) {
  const auto transport = std::ranges::find(about.transports, settings.transport, &Transport::name);
  if (transport == about.transports.end()) {
    std::vector<std::string> names;
    for (const Transport& each : about.transports) names.push_back(each.name);
    throw AdapterError(
        fmt::format("{}: there is no transport \"{}\"; there is {}", about.name, settings.transport, names));
  }
  std::vector<std::string> problems;
  std::string advice;
  if (const std::vector<std::string> missing = unlisted(*transport, settings); !missing.empty()) {
    problems.push_back(fmt::format("{}: cannot do {}", transport->name, fmt::join(missing, "; ")));
    const bool secure = instead(transport->security, settings.security).empty();
    if (!secure && !transport->security_why.empty()) problems.back() += ": " + transport->security_why;
    advice = transport->max_bytes_advice;
  }
  for (std::string& each : kit::native_problems(about.native, settings)) {
    problems.push_back(std::move(each));
    if (advice.empty()) advice = "`middlemark list adapters --verbose` names the settings of an adapter";
  }
  if (!problems.empty()) throw AdapterError(fmt::format("{}: {}", about.name, fmt::join(problems, "; ")), advice);
}

}  // namespace middlemark
