#include <middlemark/crowd.hpp>

namespace middlemark {
namespace {

OpenCrowd& opener_of_this_worker() noexcept {
  static OpenCrowd opener = nullptr;  // in a function, because another file's initialiser sets it
  return opener;
}

}  // namespace

OpenCrowd crowd_opener() noexcept { return opener_of_this_worker(); }
void set_crowd_opener(OpenCrowd opener) noexcept { opener_of_this_worker() = opener; }

}  // namespace middlemark
