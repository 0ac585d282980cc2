// A data reader behind the contract's Subscriber.
#pragma once

#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>

#include "entity.hpp"
#include "roudi.hpp"

namespace middlemark::cyclonedds {

/// How messages reach the visitor.
enum class Access {
  copied,    ///< dds_take() into memory of the adapter's: Cyclone DDS deserializes, which for octets is one memcpy
  in_place,  ///< dds_takecdr(): a reference to the chunk in shared memory, as ROS 2's rmw takes loaned messages
};

/// dds_take() with null pointers, Cyclone's "reader loan", is neither: it copies as well, and clears the memory when it
/// is returned.
class Subscriber {
 public:
  Subscriber(Entity reader, std::size_t bytes, Access access, Reception reception)
      : reader_(std::move(reader)),
        bytes_(bytes),
        access_(access),
        batch_(access == Access::in_place ? chunks_taken_at_once : copies_at_once(bytes)) {
    samples_.resize(batch_);
    references_.resize(batch_);
    infos_.resize(batch_);
    if (access == Access::copied) {
      copies_.resize(bytes * batch_);
      for (std::uint32_t i = 0; i < batch_; ++i) samples_[i] = copies_.data() + bytes * i;
    }
    if (reception == Reception::block) {
      condition_ = Entity(dds_create_readcondition(reader_.get(), DDS_ANY_STATE), "dds_create_readcondition");
      waitset_ = Entity(dds_create_waitset(dds_get_participant(reader_.get())), "dds_create_waitset");
      checked(dds_waitset_attach(waitset_.get(), condition_.get(), 0), "dds_waitset_attach");
    }
  }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return take_up_to(most_at_once, visitor);
  }

  /// The condition stays true while untaken messages are there. Without one (the trial does not block) every wait is
  /// spurious.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (waitset_.get() == 0) return true;
    return dds_waitset_wait(waitset_.get(), nullptr, 0, timeout.count()) != 0;
  }

  void listen(Listener listener) {
    listener_.emplace(listener);
    dds_listener_t* callbacks = dds_create_listener(this);
    dds_lset_data_available(callbacks, [](dds_entity_t, void* self) { static_cast<Subscriber*>(self)->deliver(); });
    const dds_return_t code = dds_set_listener(reader_.get(), callbacks);
    dds_delete_listener(callbacks);
    checked(code, "dds_set_listener");
    deliver();  // what came before the listener raises no event any more
  }

  /// dds_set_listener() returns after the last callback has.
  void silence() {
    if (!listener_) return;
    dds_set_listener(reader_.get(), nullptr);
    listener_.reset();
  }

  /// Writers of its topic that this reader has found.
  [[nodiscard]] std::size_t publishers_found() {
    dds_subscription_matched_status_t status{};
    checked(dds_get_subscription_matched_status(reader_.get(), &status), "dds_get_subscription_matched_status");
    return status.current_count;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// So many visits end a take(), however fast messages come: the role looks for its stop between two of them.
  static constexpr std::size_t most_at_once = 1024;

  /// As many as stay in a processor's cache together.
  [[nodiscard]] static constexpr std::uint32_t copies_at_once(std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>((std::size_t{256} << 10) / bytes, 1, 64));
  }

  template <class Visitor>
  std::size_t take_up_to(std::size_t most, Visitor& visitor) noexcept {
    std::size_t visits = 0;
    std::int32_t taken = 0;
    do {
      taken = access_ == Access::in_place ? take_in_place(visitor, visits) : take_copies(visitor, visits);
    } while (taken == static_cast<std::int32_t>(batch_) && visits < most);
    if (taken < 0) failure_.note("dds_take", taken);
    return visits;
  }

  /// Everything that is there: an event is not raised again for what was left. Never two at a time: an event that comes
  /// while another is being delivered is left to whoever delivers.
  void deliver() noexcept {
    unsigned events = 1;
    if (events_.fetch_add(events) != 0) return;
    do {
      take_up_to(std::numeric_limits<std::size_t>::max(), *listener_);
      events = events_.fetch_sub(events) - events;
    } while (events != 0);
  }

  template <class Visitor>
  std::int32_t take_copies(Visitor& visitor, std::size_t& visits) noexcept {
    const std::int32_t taken = dds_take(reader_.get(), samples_.data(), infos_.data(), batch_, batch_);
    for (std::size_t i = 0; std::cmp_less(i, taken); ++i) {
      if (!infos_[i].valid_data) continue;  // a writer left
      visitor(std::span(static_cast<const std::byte*>(samples_[i]), bytes_));
      ++visits;
    }
    return taken;
  }

  template <class Visitor>
  std::int32_t take_in_place(Visitor& visitor, std::size_t& visits) noexcept {
    const std::int32_t taken = dds_takecdr(reader_.get(), references_.data(), batch_, infos_.data(), DDS_ANY_STATE);
    for (std::size_t i = 0; std::cmp_less(i, taken); ++i) {
      ddsi_serdata* reference = references_[i];
      if (infos_[i].valid_data) {
        if (reference->iox_chunk != nullptr) {
          visitor(std::span(static_cast<const std::byte*>(reference->iox_chunk), bytes_));
          ++visits;
        } else {  // not delivered: it would be a figure of UDP's under the name of shared memory
          failure_.note("a message came over the network instead of shared memory", DDS_RETCODE_ERROR);
        }
      }
      ddsi_serdata_unref(reference);
    }
    return taken;
  }

  Entity reader_;
  Entity condition_;
  Entity waitset_;
  std::size_t bytes_;
  Access access_;
  std::uint32_t batch_;
  std::vector<std::byte> copies_;
  std::vector<void*> samples_;
  std::vector<ddsi_serdata*> references_;
  std::vector<dds_sample_info_t> infos_;
  std::optional<Listener> listener_;
  std::atomic<unsigned> events_{0};
  LastFailure failure_;
};

}  // namespace middlemark::cyclonedds
