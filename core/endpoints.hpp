// The topics and services of a trial, as every adapter is told of them in Settings::endpoints.
#pragma once

#include <vector>

#include <middlemark/configuration.hpp>
#include <middlemark/settings.hpp>

namespace middlemark {

/// Of the whole trial, and what this process has of it. `native_calls`: request and reply are the middleware's own.
[[nodiscard]] std::vector<Topic> endpoints_of(const Configuration& configuration, bool native_calls);

}  // namespace middlemark
