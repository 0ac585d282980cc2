#include <middlemark/honour.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <middlemark/kit/messages.hpp>
#include <middlemark/kit/native.hpp>

namespace middlemark {
namespace {

template <class Level>
bool lists(const std::vector<Level>& levels, const Level& level) {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

template <class Level>
std::string listed(const std::vector<Level>& levels) {
  std::vector<std::string_view> words;
  for (const Level each : levels) words.push_back(word(each));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string lacking_security(const Transport& transport, Security level) {
  const std::string why = transport.security_why.empty() ? "" : ": " + transport.security_why;
  return fmt::format("security {} (it has {}{})", word(level), listed(transport.security), why);
}

std::vector<std::string> unlisted(const Transport& transport, const Settings& settings) {
  std::vector<std::string> problems;
  const auto demand = [&problems](bool fulfilled, std::string otherwise) {
    if (!fulfilled) problems.push_back(std::move(otherwise));
  };
  std::set<std::pair<MessageType, std::size_t>> types{{settings.type, settings.message_bytes}};
  if (!settings.topics.empty()) types.clear();
  for (const TopicRequest& each : settings.topics) types.emplace(each.type, each.message_bytes);
  std::set<Reliability> reliabilities{settings.reliability};
  for (const TopicRequest& each : settings.topics) reliabilities.insert(each.reliability);
  const int processes = settings.one_process ? 1 : 2;
  demand(lists(transport.receive, settings.reception),
         fmt::format("receive {} (it has {})", word(settings.reception), listed(transport.receive)));
  for (const Reliability each : reliabilities) {
    demand(lists(transport.reliability, each),
           fmt::format("reliability {} (it has {})", word(each), listed(transport.reliability)));
  }
  for (const auto& [type, bytes] : types) {
    demand(lists(transport.types, type), fmt::format("messages of type {}", word(type)));
    demand(kit::fits(type, bytes), fmt::format("messages of type {} and {} bytes", word(type), bytes));
  }
  demand(lists(transport.processes, processes),
         fmt::format("{} (it has {})", settings.one_process ? "one process" : "two processes", transport.processes));
  demand(lists(transport.security, settings.security), lacking_security(transport, settings.security));
  demand(lists(transport.loan, settings.loan), settings.loan ? "loans" : "messages that are not loaned");
  demand(settings.message_bytes <= transport.max_bytes,
         fmt::format("messages of {} bytes (at most {})", settings.message_bytes, transport.max_bytes));
  demand(
      transport.varying_sizes || std::ranges::all_of(settings.topics, &std::string::empty, &TopicRequest::sizes_path),
      "messages of one topic whose sizes vary");
  for (const TopicRequest& each : settings.topics) {
    demand(each.history <= transport.max_history.value_or(each.history),
           fmt::format("a history of {} messages for who joins late (at most {})", each.history,
                       transport.max_history.value_or(0)));
    demand(each.history == 0 || each.publishers.size() == 1, "a history of several publishers");
  }
  demand(transport.services ||
             std::ranges::all_of(settings.topics, [](const TopicRequest& each) { return !each.replies_to; }),
         "services among topics");
  demand(settings.depth.has_value() || transport.keep_all, "keep-all history");
  demand(!settings.depth || !transport.max_depth || *settings.depth <= *transport.max_depth,
         fmt::format("a depth of {} (at most {})", settings.depth.value_or(0), transport.max_depth.value_or(0)));
  const bool alone = settings.pattern == Pattern::ping_pong && settings.subscribers == 0;
  demand(alone == transport.alone,
         transport.alone ? "anything but a ping without pongs: nobody else takes part" : "a ping without pongs");
  return problems;
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
    advice = transport->max_bytes_advice;
  }
  for (std::string& each : kit::native_problems(about.native, settings)) {
    problems.push_back(std::move(each));
    if (advice.empty()) advice = "`middlemark list adapters --verbose` names the settings of an adapter";
  }
  if (!problems.empty()) throw AdapterError(fmt::format("{}: {}", about.name, fmt::join(problems, "; ")), advice);
}

}  // namespace middlemark
