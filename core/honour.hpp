// Refuses what an adapter does not list. The plan refuses it earlier; a worker that is asked all the same must not guess.
#pragma once

#include <middlemark/settings.hpp>

namespace middlemark {

/// Throws AdapterError naming every setting that `about` does not list, native ones too, and what it does list. Opens nothing.
void refuse_what_is_not_listed(const Description& about, const Settings& settings);

}  // namespace middlemark
