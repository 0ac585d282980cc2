// The native keys: iceoryx's own options, by their names there. README.md says what each is good for.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <iceoryx_posh/iceoryx_posh_types.hpp>

#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

struct Key {
  std::string_view name;
  std::string_view text;
  std::uint64_t least;
  std::uint64_t most;
  bool calls;   ///< it has an effect on requests and replies
  bool topics;  ///< it has an effect on topics
  bool power_of_two = false;
};

inline constexpr Key keys[] = {
    {"historyCapacity", "messages a publisher keeps for subscribers to come, each of them a chunk longer in use (0)", 0,
     iox::MAX_PUBLISHER_HISTORY, false, true},
    {"queueCapacity",
     "messages that may wait for a subscriber when the history is keep-all (256, or what 256 MiB hold)", 1,
     iox::MAX_SUBSCRIBER_QUEUE_CAPACITY, false, true},
    {"requestQueueCapacity", "requests that may wait for the server (16 a client)", 1, iox::MAX_REQUEST_QUEUE_CAPACITY,
     true, false},
    {"responseQueueCapacity", "responses that may wait for a client (16)", 1, iox::MAX_RESPONSE_QUEUE_CAPACITY, true,
     false},
    {"userPayloadAlignment", "alignment of a message in its chunk, a power of two (8)", 1, 4096, true, true, true},
};

/// What a trial's native settings come to. Throws AdapterError for what is unknown, out of range, without effect, or set by
/// a factor of the trial.
class Native {
 public:
  explicit Native(const Settings& settings) {
    for (const auto& [key, value] : settings.native) {
      const auto* known = std::ranges::find(keys, key, &Key::name);
      if (known == std::end(keys)) refuse_unknown(key);
      const bool calls = settings.pattern == Pattern::request_reply;
      if (!(calls ? known->calls : known->topics)) {
        throw AdapterError(
            "iceoryx: native." + key + " has no effect on " + (calls ? "requests and replies" : "topics"),
            "leave it out here");
      }
      if (key == "queueCapacity" && settings.depth) {
        throw AdapterError("iceoryx: native.queueCapacity is set by the factor 'depth'",
                           "choose depth = \"all\" beside it, or leave it out");
      }
      values_[key] = checked(*known, value);
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> get(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::uint64_t history_capacity() const { return get("historyCapacity").value_or(0); }
  [[nodiscard]] std::uint32_t alignment() const {
    return static_cast<std::uint32_t>(get("userPayloadAlignment").value_or(iox::CHUNK_DEFAULT_USER_PAYLOAD_ALIGNMENT));
  }

 private:
  [[noreturn]] static void refuse_unknown(const std::string& key) {
    static const std::map<std::string, const char*> factors{{"queueFullPolicy", "reliability"},
                                                            {"subscriberTooSlowPolicy", "reliability"}};
    if (const auto factor = factors.find(key); factor != factors.end()) {
      throw AdapterError("iceoryx: native." + key + " is set by the factor '" + factor->second + "'",
                         std::string("choose it with ") + factor->second);
    }
    std::string accepted;
    for (const Key& known : keys) accepted.append(accepted.empty() ? "" : ", ").append(known.name);
    throw AdapterError("iceoryx: native." + key + " is not a setting that can be set", "one of " + accepted);
  }

  [[nodiscard]] static std::uint64_t checked(const Key& known, const std::string& value) {
    std::uint64_t number = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, number);
    const bool whole = error == std::errc{} && end == last && number >= known.least && number <= known.most;
    if (!whole || (known.power_of_two && !std::has_single_bit(number))) {
      throw AdapterError("iceoryx: native." + std::string(known.name) + " = '" + value + "' is not a " +
                         (known.power_of_two ? "power of two" : "whole number") + " from " +
                         std::to_string(known.least) + " to " + std::to_string(known.most));
    }
    return number;
  }

  std::map<std::string, std::uint64_t> values_;
};

}  // namespace middlemark::iceoryx
