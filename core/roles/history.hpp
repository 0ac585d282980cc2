// The history of a transient-local topic: published before the start, for subscribers that join late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/message.hpp>
#include <middlemark/recorded.hpp>
#include <middlemark/roles/ends.hpp>

namespace middlemark {

/// Publishes messages 0 to Topic::history. Late joiners must receive messages 1 to Topic::history. Throws AdapterError.
template <class Outgoing>
void publish_history(Outgoing& outgoing, const Topic& topic, const Sizes& sizes, unsigned publisher_id, bool fills) {
  for (std::uint64_t number = 0; topic.history > 0 && number <= topic.history; ++number) {
    const Header header = Header::make(publisher_id, true, Header::history_bit | number, 0);
    const std::size_t bytes = sizes.bytes(header.sequence());
    const std::span<std::byte> message = outgoing.loan(bytes);
    if (message.size() == bytes) {
      if (fills) fill_payload(message, header);
      write_header(message, header);
      if (outgoing.publish() == Published::ok) continue;
    }
    throw AdapterError("publisher " + std::to_string(publisher_id) + ": message " + std::to_string(number + 1) +
                           " of the history of " + topic.name + " was not published",
                       last_error_of(outgoing, &outgoing));
  }
}

}  // namespace middlemark
