// Crowds of every adapter in Rust. Apart from worker.cpp: see crowd.hpp.
#include <middlemark/crowd.hpp>
#include <middlemark/kit/cdr.hpp>
#include <middlemark/kit/rust_bridge.hpp>

namespace middlemark {
namespace {

[[maybe_unused]] const bool registered = kit::rust::calls().client == nullptr
                                             ? register_crowd<kit::BytesAndCdr<kit::RustAdapter>>()
                                             : register_crowd<kit::BytesAndCdr<kit::RustRequestReplyAdapter>>();

}  // namespace
}  // namespace middlemark
