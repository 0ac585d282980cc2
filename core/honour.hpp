// Refuses settings that an adapter does not list. The launcher's plan already checks this, but a worker may be started
// without a plan.
#pragma once

#include <middlemark/settings.hpp>

namespace middlemark {

/// Throws AdapterError with every setting that `about` does not list and the values that it does list. Does not open
/// the middleware.
void refuse_what_is_not_listed(const Description& about, const Settings& settings);

}  // namespace middlemark
