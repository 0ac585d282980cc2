#include <openrtm.hpp>
