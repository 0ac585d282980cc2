// Refuses settings that an adapter does not list. The plan already checks this; workers may be started without a plan.
#pragma once

#include <middlemark/settings.hpp>

namespace middlemark {

/// Throws AdapterError naming every setting that `about` does not list, and the values that it lists. Opens nothing.
void refuse_what_is_not_listed(const Description& about, const Settings& settings);

}  // namespace middlemark
