// Limits of iceoryx and RouDi on the size of a crowd. They are constants of their build.
#pragma once

#include <cstdint>
#include <string>

#include <iceoryx_posh/iceoryx_posh_types.hpp>

#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

/// Throws an AdapterError if RouDi cannot serve a crowd of this size. Each participant is a process.
inline void check_crowd(const Settings& settings) {
  if (settings.pattern != Pattern::crowd) return;
  const std::uint64_t topics = std::uint64_t{settings.participants} * settings.topics_each;
  const std::uint64_t others = settings.participants - 1;
  const std::uint64_t heard = settings.subscribe == Subscribe::all ? others : others > 0 ? 1 : 0;
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
      settings.participants, "processes", iox::MAX_PROCESS_NUMBER,
      "measure fewer participants; to raise the limit, change MAX_PROCESS_NUMBER in iceoryx_posh_types.hpp and build "
      "iceoryx");
  refuse(topics, "publishers", iox::MAX_PUBLISHERS - iox::NUMBER_OF_INTERNAL_PUBLISHERS, build("IOX_MAX_PUBLISHERS"));
  refuse(topics * heard, "subscribers", iox::MAX_SUBSCRIBERS, build("IOX_MAX_SUBSCRIBERS"));
  refuse(heard, "subscribers of a topic", iox::MAX_SUBSCRIBERS_PER_PUBLISHER,
         build("IOX_MAX_SUBSCRIBERS_PER_PUBLISHER"));
}

}  // namespace middlemark::iceoryx
