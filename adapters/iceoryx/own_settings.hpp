// Returns the options of iceoryx's publishers, subscribers, clients and servers as lines of code. Reads them from the
// objects that were passed to iceoryx.
#pragma once

#include <iceoryx_posh/popo/client_options.hpp>
#include <iceoryx_posh/popo/publisher_options.hpp>
#include <iceoryx_posh/popo/server_options.hpp>
#include <iceoryx_posh/popo/subscriber_options.hpp>

#include <middlemark/kit/applied.hpp>

namespace middlemark::iceoryx {

[[nodiscard]] inline const char* code_of(iox::popo::ConsumerTooSlowPolicy policy) noexcept {
  return policy == iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER
             ? "iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER"
             : "iox::popo::ConsumerTooSlowPolicy::DISCARD_OLDEST_DATA";
}
[[nodiscard]] inline const char* code_of(iox::popo::QueueFullPolicy policy) noexcept {
  return policy == iox::popo::QueueFullPolicy::BLOCK_PRODUCER ? "iox::popo::QueueFullPolicy::BLOCK_PRODUCER"
                                                              : "iox::popo::QueueFullPolicy::DISCARD_OLDEST_DATA";
}

[[nodiscard]] inline kit::CodeBlock block_of(const iox::popo::PublisherOptions& options) {
  return kit::CodeBlock("publisher")
      .line("iox::popo::PublisherOptions publisher;")
      .assign("publisher.historyCapacity", options.historyCapacity)
      .assign("publisher.subscriberTooSlowPolicy", code_of(options.subscriberTooSlowPolicy));
}
[[nodiscard]] inline kit::CodeBlock block_of(const iox::popo::SubscriberOptions& options) {
  return kit::CodeBlock("subscriber")
      .line("iox::popo::SubscriberOptions subscriber;")
      .assign("subscriber.queueCapacity", options.queueCapacity)
      .assign("subscriber.queueFullPolicy", code_of(options.queueFullPolicy))
      .assign("subscriber.historyRequest", options.historyRequest);
}
[[nodiscard]] inline kit::CodeBlock block_of(const iox::popo::ClientOptions& options) {
  return kit::CodeBlock("client")
      .line("iox::popo::ClientOptions client;")
      .assign("client.responseQueueCapacity", options.responseQueueCapacity)
      .assign("client.responseQueueFullPolicy", code_of(options.responseQueueFullPolicy))
      .assign("client.serverTooSlowPolicy", code_of(options.serverTooSlowPolicy));
}
[[nodiscard]] inline kit::CodeBlock block_of(const iox::popo::ServerOptions& options) {
  return kit::CodeBlock("server")
      .line("iox::popo::ServerOptions server;")
      .assign("server.requestQueueCapacity", options.requestQueueCapacity)
      .assign("server.requestQueueFullPolicy", code_of(options.requestQueueFullPolicy))
      .assign("server.clientTooSlowPolicy", code_of(options.clientTooSlowPolicy));
}

}  // namespace middlemark::iceoryx
