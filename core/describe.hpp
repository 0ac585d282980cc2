// Description and Companion as JSON: what `--describe` and `--companions` print.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/settings.hpp>

namespace middlemark {

[[nodiscard]] nlohmann::json describe_json(const Description& description);
[[nodiscard]] nlohmann::json companions_json(const std::vector<Companion>& companions);

}  // namespace middlemark
