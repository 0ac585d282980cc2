// Written by scripts/protocol from src/middlemark/model/protocol.py: change that.
// The crate's request.rs has the same layout.
#pragma once

#include <middlemark/kit/rust_views.hpp>
#include <middlemark/protocol.hpp>

// clang-format off
namespace middlemark::kit::rust {

struct RequestView {
  decltype(shown(RequestedSettings::pattern)) pattern;
  decltype(shown(RequestedSettings::transport)) transport;
  decltype(shown(RequestedSettings::reliability)) reliability;
  decltype(shown(RequestedSettings::reception)) reception;
  decltype(shown(RequestedSettings::depth)) depth;
  decltype(shown(RequestedSettings::loan)) loan;
  decltype(shown(RequestedSettings::one_process)) one_process;
  decltype(shown(RequestedSettings::message_bytes)) message_bytes;
  decltype(shown(RequestedSettings::type)) type;
  decltype(shown(RequestedSettings::publishers)) publishers;
  decltype(shown(RequestedSettings::subscribers)) subscribers;
  decltype(shown(RequestedSettings::participants)) participants;
  decltype(shown(RequestedSettings::topics_each)) topics_each;
  decltype(shown(RequestedSettings::subscribe)) subscribe;
  decltype(shown(RequestedSettings::participants_per_process)) participants_per_process;
  decltype(shown(RequestedSettings::workers)) workers;
  decltype(shown(RequestedSettings::domain)) domain;
  decltype(shown(RequestedSettings::scope)) scope;
  decltype(shown(RequestedSettings::scratch)) scratch;
  decltype(shown(RequestedSettings::interface)) interface;
  decltype(shown(RequestedSettings::write_timeout)) write_timeout_ns;
  decltype(shown(RequestedSettings::security)) security;
  decltype(shown(RequestedSettings::certs)) certs;
  decltype(shown(RequestedSettings::identity)) identity;
  decltype(shown(RequestedSettings::via)) via;
  decltype(shown(RequestedSettings::paired)) paired;
};

[[nodiscard]] inline RequestView shown(const RequestedSettings& own) {
  return {shown(own.pattern), shown(own.transport), shown(own.reliability), shown(own.reception), shown(own.depth), shown(own.loan), shown(own.one_process), shown(own.message_bytes), shown(own.type), shown(own.publishers), shown(own.subscribers), shown(own.participants), shown(own.topics_each), shown(own.subscribe), shown(own.participants_per_process), shown(own.workers), shown(own.domain), shown(own.scope), shown(own.scratch), shown(own.interface), shown(own.write_timeout), shown(own.security), shown(own.certs), shown(own.identity), shown(own.via), shown(own.paired)};
}

}  // namespace middlemark::kit::rust
