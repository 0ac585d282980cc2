// Native settings, and the MOOS options that follow from a trial's settings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::moos {

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  unsigned buffer_kb = key("buffer_kb", 128U,  // the default of MOOS's clients and of MOOSDB
                           {.help = "SO_SNDBUF and SO_RCVBUF of the clients in KiB", .least = 1, .most = 2047});
  unsigned response_ms =
      key("response_ms", 0U,
          {.help = "`--response` of MOOSDB, for all clients: how long in ms a client collects messages", .most = 1000});
};

struct Options : Native {
  bool is_default = false;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("moos", settings)), is_default(settings.is_default_configuration()) {}
};

/// Returns the most messages that may wait in the inbox. If more arrive, MOOS drops all of them. `moos_limit`: MOOS's
/// default.
[[nodiscard]] inline unsigned inbox(const Topic& topic, unsigned moos_limit) {
  constexpr std::uint64_t most = 1'000'000'000;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(topic.capacity().value_or(0), moos_limit, most));
}

/// Returns the most messages of a publisher that may wait for the client's writing thread. If more than 2048 messages
/// (OUTBOX_PENDING_LIMIT) wait, MOOS drops half of them and does not report this to the publisher.
[[nodiscard]] inline unsigned outbox(std::size_t message_bytes) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  return static_cast<unsigned>(std::clamp<std::size_t>(most_bytes / message_bytes, 1, 1024));
}

}  // namespace middlemark::moos
