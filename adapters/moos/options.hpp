// What the native settings are, and what a trial's settings become in MOOS.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::moos {

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  unsigned buffer_kb = key("buffer_kb", 128U,  // MOOS's own default, at the database too
                           {.help = "SO_SNDBUF and SO_RCVBUF of the clients in KiB", .least = 1, .most = 2047});
  unsigned response_ms =
      key("response_ms", 0U,
          {.help = "`--response` of MOOSDB, for all clients: a client collects messages for so long", .most = 1000});
};

struct Options : Native {
  bool as_it_is = false;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("moos", settings)), as_it_is(settings.comes_as_it_is()) {}
};

/// Messages in an inbox that nobody fetches, at most: when there are more, MOOS throws all of them away.
[[nodiscard]] inline unsigned inbox(const Topic& topic, unsigned by_itself) {
  constexpr std::uint64_t most = 1'000'000'000;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(topic.capacity().value_or(0), by_itself, most));
}

/// Messages that a publisher lets wait for its client's writing thread. Of those that are more than OUTBOX_PENDING_LIMIT, 2048, MOOS throws
/// half away and says nothing to the publisher.
[[nodiscard]] inline unsigned outbox(std::size_t message_bytes) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  return static_cast<unsigned>(std::clamp<std::size_t>(most_bytes / message_bytes, 1, 1024));
}

}  // namespace middlemark::moos
