// Limits of iceoryx and RouDi on the size of a crowd. They are constants of their build.
#pragma once

#include <cstdint>
#include <string>

#include <iceoryx_posh/iceoryx_posh_types.hpp>

#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

inline constexpr const char* discovery_by =
    "RouDi introduces publishers and subscribers, and notices no killed process";

/// Throws an AdapterError if RouDi cannot serve a crowd of this size. Each participant is a process.
inline void check_crowd(const Settings& settings) {
  if (settings.pattern != Pattern::crowd) return;
  const std::uint64_t processes = std::uint64_t{settings.participants} + 1;  // and the newcomer
  const bool all = settings.subscribe == Subscribe::all;
  // The newcomer hears one of the participants, or all.
  const std::uint64_t heard = all ? settings.participants : 2;
  const std::uint64_t subscriptions = all ? heard * settings.participants : processes;
  const auto refuse = [](std::uint64_t needed, const char* what, std::uint64_t most, const std::string& advice) {
    if (needed <= most) return;
    throw AdapterError("iceoryx: the crowd has " + std::to_string(needed) + " " + what +
                           ", and this build of RouDi serves " + std::to_string(most),
                       advice);
  };
  const auto build = [](const char* option) {
    return std::string("measure fewer participants or topics, or build iceoryx and RouDi with a larger -D") + option;
  };
  refuse(
      processes, "processes with the newcomer", iox::MAX_PROCESS_NUMBER,
      "measure fewer participants; to raise the limit, change MAX_PROCESS_NUMBER in iceoryx_posh_types.hpp and build "
      "iceoryx");
  refuse(processes * settings.topics_each, "publishers", iox::MAX_PUBLISHERS - iox::NUMBER_OF_INTERNAL_PUBLISHERS,
         build("IOX_MAX_PUBLISHERS"));
  refuse(subscriptions * settings.topics_each, "subscribers", iox::MAX_SUBSCRIBERS, build("IOX_MAX_SUBSCRIBERS"));
  refuse(heard, "subscribers of a topic", iox::MAX_SUBSCRIBERS_PER_PUBLISHER,
         build("IOX_MAX_SUBSCRIBERS_PER_PUBLISHER"));
}

}  // namespace middlemark::iceoryx
