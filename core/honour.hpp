// Refuses what an adapter does not list. The plan refuses it earlier; a worker that is asked all the same must not guess.
#pragma once

#include <middlemark/settings.hpp>

namespace middlemark {

/// Throws AdapterError naming every setting that `about` does not list, and what it does list.
void refuse_what_is_not_listed(const Description& about, const Settings& settings);

}  // namespace middlemark
