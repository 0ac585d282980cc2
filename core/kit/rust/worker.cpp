// The main() of every worker of an adapter in Rust.
#include <middlemark/kit/cdr.hpp>
#include <middlemark/kit/rust_bridge.hpp>
#include <middlemark/worker.hpp>

int main(int argc, char** argv) {
  using namespace middlemark;
  return kit::rust::calls().client == nullptr ? run_worker<kit::BytesAndCdr<kit::RustAdapter>>(argc, argv)
                                              : run_worker<kit::BytesAndCdr<kit::RustRequestReplyAdapter>>(argc, argv);
}
