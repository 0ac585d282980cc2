// The data that all publishers and subscribers of this process share. An adapter that shares more derives from it.
#pragma once

#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::kit {

/// `Options` is constructed from the settings.
template <class Options>
struct Trial : Pinned {
  explicit Trial(const Settings& its_settings) : settings(its_settings), options(settings), notes(settings) {}

  const Settings settings;
  const Options options;
  const Rendezvous notes;  ///< in the trial's folder: how publishers and subscribers find each other
};

}  // namespace middlemark::kit
