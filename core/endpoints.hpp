// Lists the topics and services of a trial for Settings::endpoints.
#pragma once

#include <vector>

#include <middlemark/configuration.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Returns the topics and services of the whole trial, with the numbers of their publishers and subscribers in this
/// process. `native_calls`: the middleware has its own request/reply.
[[nodiscard]] std::vector<Topic> endpoints_of(const Configuration& configuration, bool native_calls);

/// Returns the topics of a crowd that one participant uses. Its adapter sees no others: the list of all topics of a large
/// crowd would take more memory than the participant.
[[nodiscard]] std::vector<Topic> participant_endpoints(const Settings& settings, unsigned participant);

}  // namespace middlemark
