// The data that all publishers and subscribers of this process share. Adapters derive a class from it to share more
// data.
#pragma once

#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::kit {

/// `Options` is a struct whose constructor takes the trial's settings.
template <class Options>
struct Trial : Pinned {
  explicit Trial(const Settings& its_settings) : settings(its_settings), options(settings), notes(settings) {}

  const Settings settings;
  const Options options;
  mutable AppliedCode applied;  ///< for own_settings(): filled on the main thread before the start
  const Rendezvous notes;       ///< files with which publishers and subscribers find each other
};

}  // namespace middlemark::kit
