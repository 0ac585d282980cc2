// Refuses settings that an adapter does not list. The plan refuses them earlier; this check is for workers that are
// started without a plan.
#pragma once

#include <middlemark/settings.hpp>

namespace middlemark {

/// Throws AdapterError naming every setting that `about` does not list, including native ones, and the values that it
/// lists instead. Opens nothing.
void refuse_what_is_not_listed(const Description& about, const Settings& settings);

}  // namespace middlemark
