#include <middlemark/crowd.hpp>

#include "adapter.hpp"

namespace {

[[maybe_unused]] const bool registered = middlemark::register_crowd<middlemark::fastdds::FastDds>();

}  // namespace
