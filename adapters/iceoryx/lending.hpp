// What publishers, clients and servers share: one chunk of iceoryx's, lent until it is sent.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <middlemark/adapter.hpp>

#include "runtime.hpp"

namespace middlemark::iceoryx {

/// The chunk that is `lent` already, else one that `lend` gives; empty, with the reason noted, when it gives none.
template <class Lend>
[[nodiscard]] std::span<std::byte> lent_chunk(void*& lent, std::size_t bytes, LastFailure& failure,
                                              const Lend& lend) noexcept {
  if (lent == nullptr) {
    const auto chunk = lend();
    if (chunk.has_error()) {
      failure.note("loan", iox::popo::asStringLiteral(chunk.get_error()));
      return {};
    }
    lent = chunk.value();
  }
  return {static_cast<std::byte*>(lent), bytes};
}

/// Sends what is lent as a request or a response.
template <class End>
[[nodiscard]] Published send_lent(End& end, void*& lent, LastFailure& failure) noexcept {
  if (lent == nullptr) return Published::failed;
  const auto sent = end.send(std::exchange(lent, nullptr));
  if (!sent.has_error()) return Published::ok;
  failure.note("send", iox::popo::asStringLiteral(sent.get_error()));
  return Published::failed;
}

}  // namespace middlemark::iceoryx
