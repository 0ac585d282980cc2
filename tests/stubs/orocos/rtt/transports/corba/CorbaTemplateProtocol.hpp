#include <rtt.hpp>
