// Checks that no memory is allocated or freed once a role has started. This executable counts, per thread, every call of
// operator new and delete and of malloc, free and similar functions, and runs real roles over shared memory.
#include <middlemark/roles/ping.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <middlemark/roles/pong.hpp>

#include "shm/adapter.hpp"
#include "support/trial.hpp"

namespace {

/// Counts of the calling thread. Zero-initialised, so that counting itself allocates nothing.
thread_local std::uint64_t allocations = 0;
thread_local std::uint64_t releases = 0;

}  // namespace

// glibc's own functions. The replacements below call them.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);

void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ++allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) {
  if (memory != nullptr) ++releases;
  __libc_free(memory);
}
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = __libc_malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  if (void* const memory = __libc_memalign(static_cast<std::size_t>(alignment), bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { free(memory); }

namespace middlemark {
namespace {

using test::calibrated_clock;
using test::samples_request;
using test::trial_settings;

/// The numbers of allocations and of releases of one thread.
struct Traffic {
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
};

template <class Work>
Traffic traffic_of(Work&& work) {
  const std::uint64_t allocations_before = allocations;
  const std::uint64_t releases_before = releases;
  work();
  return {allocations - allocations_before, releases - releases_before};
}

/// A shared-memory adapter that allocates by mistake: publish() calls Mistake::make() for topics whose name ends with
/// Mistake::at.
template <class Mistake>
class Allocating : public SharedMemory {
 public:
  using SharedMemory::SharedMemory;

  class Publisher {
   public:
    Publisher(SharedMemory& adapter, const Topic& topic, unsigned index)
        : errs_(topic.name.ends_with(Mistake::at)), inner_(adapter.publisher(topic, index)) {}
    std::span<std::byte> loan(std::size_t bytes) noexcept { return inner_.loan(bytes); }
    Published publish() noexcept {
      if (errs_) Mistake::make();
      return inner_.publish();
    }
    std::size_t matched() { return inner_.matched(); }

   private:
    const bool errs_;
    SharedMemory::Publisher inner_;
  };

  Publisher publisher(const Topic& topic, unsigned index) { return Publisher(*this, topic, index); }
};

/// Keeps the compiler from removing an allocation whose memory is not used.
void use(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

struct NewInPing {
  static constexpr std::string_view at = "_ping";
  static void make() noexcept { use(std::make_unique<std::uint64_t>(7).get()); }
};
struct NewInPong {
  static constexpr std::string_view at = "_pong";
  static void make() noexcept { use(std::make_unique<std::uint64_t>(7).get()); }
};
struct MallocInPing {
  static constexpr std::string_view at = "_ping";
  static void make() noexcept {
    void* const memory = std::malloc(100);
    use(memory);
    std::free(memory);
  }
};
struct AlignedNewInPing {
  static constexpr std::string_view at = "_ping";
  struct alignas(128) Wide {
    std::byte bytes[128];
  };
  static void make() noexcept { use(std::make_unique<Wide>().get()); }
};
struct GrowingInPong {
  static constexpr std::string_view at = "_pong";
  static void make() noexcept {
    static std::vector<std::uint64_t> samples;
    samples.push_back(samples.size());
  }
};

struct BothTraffics {
  Traffic ping;
  Traffic pong;
  std::uint64_t samples = 0;
};

/// Runs ping and pong over `A`, each on its own thread, and counts the allocations and releases of both threads during
/// run().
template <Adapter A>
BothTraffics run_counted(const Settings& settings, const PingRequest& request) {
  A adapter(settings);
  Progress pong_progress;
  Progress ping_progress;
  PongRequest pong_request;
  pong_request.payload = request.payload;
  pong_request.samples_path = "/dev/null";  // lets the pong stamp messages; the file is never written
  Pong<A> pong(adapter, settings, pong_request, calibrated_clock(), pong_progress);
  Ping<A> ping(adapter, settings, request, calibrated_clock(), ping_progress);
  EXPECT_EQ(ping.matched(), ping.expected());
  EXPECT_EQ(pong.matched(), pong.expected());
  BothTraffics both;
  std::thread ponging([&] { both.pong = traffic_of([&] { pong.run(); }); });
  std::thread pinging([&] { both.ping = traffic_of([&] { ping.run(); }); });
  pinging.join();
  pong_progress.stop.request();
  ponging.join();
  both.samples = ping.result().samples;
  EXPECT_EQ(pong.result().received, both.samples);
  EXPECT_GT(pong.result().stamped, 0U);
  return both;
}

class NoAllocation : public testing::TestWithParam<std::tuple<Reception, bool, Payload>> {};

TEST_P(NoAllocation, happens_while_a_role_runs) {
  const auto [reception, loan, payload] = GetParam();
  Settings settings = trial_settings(reception, 300);
  settings.loan = loan;
  PingRequest request = samples_request(500);
  request.payload = payload;
  request.warmup_s = 0.01;
  const BothTraffics both = run_counted<SharedMemory>(settings, request);
  EXPECT_EQ(both.samples, 500U);
  EXPECT_EQ(both.ping.allocations, 0U);
  EXPECT_EQ(both.ping.releases, 0U);
  EXPECT_EQ(both.pong.allocations, 0U);
  EXPECT_EQ(both.pong.releases, 0U);
}

INSTANTIATE_TEST_SUITE_P(Shm, NoAllocation,
                         testing::Combine(testing::Values(Reception::poll, Reception::block), testing::Bool(),
                                          testing::Values(Payload::filled, Payload::untouched)),
                         [](const auto& parameter) {
                           return std::string(std::get<0>(parameter.param) == Reception::poll ? "poll" : "block") +
                                  (std::get<1>(parameter.param) ? "_handed_over" : "_copied") +
                                  (std::get<2>(parameter.param) == Payload::filled ? "_filled" : "_untouched");
                         });

TEST(NoAllocation, happens_for_lost_late_and_damaged_replies) {
  const std::size_t bytes = 64;
  Replies replies(calibrated_clock(), 2, bytes, true);
  std::vector<std::byte> message(bytes);
  const Traffic traffic = traffic_of([&] {
    for (std::uint64_t sequence = 1; sequence <= 20'000; ++sequence) {
      const Header header = Header::make(0, false, sequence, sequence);
      replies.await(header);
      for (const unsigned source : {0U, 1U, 1U, 9U}) {
        write_header(message, header.from(source));
        fill_payload(message, header);
        if (sequence % 3 == 0) message.back() ^= std::byte{1};
        replies(sequence % 5 == 0 ? std::span<const std::byte>(message).first(20)
                                  : std::span<const std::byte>(message));
        if (sequence % 7 == 0) replies.give_up();
      }
    }
  });
  EXPECT_GT(replies.damaged(), 0U);
  EXPECT_GT(replies.late(), 0U);
  EXPECT_GT(replies.duplicated(), 0U);
  EXPECT_EQ(traffic.allocations + traffic.releases, 0U);
}

// ---- tests of the counters themselves

template <class Mistake>
BothTraffics caught() {
  return run_counted<Allocating<Mistake>>(trial_settings(Reception::block), samples_request(100));
}

TEST(TheCounter, catches_a_new_in_the_pings_publish) {
  const BothTraffics both = caught<NewInPing>();
  EXPECT_GE(both.ping.allocations, 100U);
  EXPECT_GE(both.ping.releases, 100U);
  EXPECT_EQ(both.pong.allocations, 0U) << "one thread's traffic was counted for another";
}

TEST(TheCounter, catches_a_new_in_the_pongs_publish) {
  const BothTraffics both = caught<NewInPong>();
  EXPECT_GE(both.pong.allocations, 100U);
  EXPECT_EQ(both.ping.allocations, 0U);
}

TEST(TheCounter, catches_a_malloc) { EXPECT_GE(caught<MallocInPing>().ping.allocations, 100U); }

TEST(TheCounter, catches_an_aligned_new) { EXPECT_GE(caught<AlignedNewInPing>().ping.allocations, 100U); }

TEST(TheCounter, catches_a_vector_that_grows_rarely) {
  const BothTraffics both = caught<GrowingInPong>();
  EXPECT_GE(both.pong.allocations, 5U);
  EXPECT_LE(both.pong.allocations, 20U);
}

}  // namespace
}  // namespace middlemark
