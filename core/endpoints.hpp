// Lists the topics and services of a trial for Settings::endpoints.
#pragma once

#include <vector>

#include <middlemark/configuration.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Returns the endpoints of the whole trial, with the number of ends in this process. `native_calls`: request/reply is
/// native.
[[nodiscard]] std::vector<Topic> endpoints_of(const Configuration& configuration, bool native_calls);

}  // namespace middlemark
