// Notes for the user on how a trial's settings were applied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "domain.hpp"
#include "history.hpp"
#include "native.hpp"

namespace middlemark::cyclonedds {

[[nodiscard]] inline std::vector<std::string> notes(const Settings& settings, const Native& native,
                                                    const Domain& domain) {
  std::vector<std::string> all;
  const std::uint64_t limit = kit::kernel_limit("net/core/rmem_max");
  if (settings.transport == "udp" && settings.message_bytes > limit) {
    all.push_back("a message of " + std::to_string(settings.message_bytes) +
                  " bytes is larger than a socket may buffer (net.core.rmem_max = " + std::to_string(limit) +
                  "): best effort loses such messages, and reliable sends parts of them again after "
                  "Internal/NackDelay; `sysctl -w "
                  "net.core.rmem_max=" +
                  std::to_string(2 * settings.message_bytes) + "` raises the limit");
  }
  if (const auto asked = static_cast<std::uint64_t>(native.receive_buffer_bytes().value_or(0));
      asked > limit && limit > 0) {
    all.push_back("the kernel limits receive buffers to " + std::to_string(limit) + " bytes, but " +
                  std::to_string(asked) +
                  " were requested: raise the limit with `sysctl -w net.core.rmem_max=" + std::to_string(asked) + "`");
  }
  std::set<std::string> histories;  // a set, because several topics may have the same note
  for (const Topic& topic : settings.endpoints) {
    const ReaderHistory history(settings, topic, topic.publishers);
    if (!topic.depth) {
      histories.insert(
          "keep-all is bounded to " + std::to_string(history.messages) +
          " messages waiting in a reader: when it is full, a reliable writer waits and best effort loses messages");
    } else if (history.bounded) {
      histories.insert("a reader keeps " + std::to_string(history.messages) + " messages, although the depth of " +
                       std::to_string(*topic.depth) + " for each publisher requests " +
                       std::to_string(*topic.depth * topic.publishers) +
                       ": all readers together use at most a quarter of the machine's memory");
    }
  }
  all.insert(all.end(), histories.begin(), histories.end());
  if (settings.security != Security::none && settings.workers > 1 &&
      std::ranges::any_of(settings.endpoints,
                          [](const Topic& topic) { return topic.publishers_here > 0 && topic.subscribers_here > 0; })) {
    all.emplace_back("messages between nodes of one process are not protected: Cyclone DDS passes them in memory");
  }
  all.insert(all.end(), domain.notes().begin(), domain.notes().end());
  for (const std::string& warning : domain.warnings()) all.push_back("Cyclone DDS reports: " + warning);
  return all;
}

}  // namespace middlemark::cyclonedds
