// An adapter that breaks every requirement of the contract. contract_test compiles it and checks the compiler's errors.
#include <middlemark/worker.hpp>

namespace middlemark {

struct SilentPublisher {
  std::span<std::byte> loan(std::size_t) { return {}; }
  bool publish() noexcept { return true; }
  std::string lastError() const { return {}; }
  double serializing() noexcept { return 0; }
};

struct SilentSubscriber {
  template <class Visitor>
  std::size_t take(Visitor& /*visitor*/) {
    return 0;
  }
  void wait(std::chrono::nanoseconds /*timeout*/) noexcept {}
  void listen(Listener /*listener*/) {}
  std::size_t publishers_Found() { return 0; }
  std::uint64_t arrived_ns() { return 0; }
  std::size_t most_per_take = 64;
  CodingTimes* deserializing() { return nullptr; }
  int last_error(int code) const { return code; }
};

class Broken {
 public:
  static std::string describe() { return "broken"; }
  SilentPublisher publisher(const Topic& /*topic*/, unsigned /*index*/) { return {}; }
  SilentSubscriber subscriber(const Topic& /*topic*/, unsigned /*index*/) { return {}; }
  SilentPublisher client(const Topic& /*service*/, unsigned /*index*/) { return {}; }
  std::vector<std::string> notes() { return {}; }
  std::string own_settings() const { return {}; }
  std::vector<Companion> companions(const Settings& /*settings*/) { return {}; }
};

}  // namespace middlemark

int main(int argc, char** argv) { return middlemark::run_worker<middlemark::Broken>(argc, argv); }
