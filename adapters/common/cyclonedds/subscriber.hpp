// A data reader that implements the contract's Subscriber. Its `Intake` determines the type of the messages.
#pragma once

#include <dds/dds.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deliverer.hpp>
#include <middlemark/kit/pinned.hpp>

#include "entity.hpp"

namespace middlemark::cyclonedds {

/// Returns the number of writers of its topic that a reader has found.
[[nodiscard]] inline std::size_t writers_found(const Entity& reader) {
  dds_subscription_matched_status_t status{};
  checked(dds_get_subscription_matched_status(reader.get(), &status), "dds_get_subscription_matched_status");
  return status.current_count;
}

/// `Intake` owns the memory that messages are taken into:
/// batch()                                  returns the most samples that take() reads at once
/// take(reader, visitor, visits, failure)   takes a batch and visits its messages; returns the number of samples, or
/// Cyclone DDS's error code
template <class Intake>
class Subscriber : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 1024;

  Subscriber(Entity reader, Intake intake, Reception reception)
      : reader_(std::move(reader)), intake_(std::move(intake)) {
    if (reception != Reception::block) return;
    condition_ = Entity(dds_create_readcondition(reader_.get(), DDS_ANY_STATE), "dds_create_readcondition");
    waitset_ = Entity(dds_create_waitset(dds_get_participant(reader_.get())), "dds_create_waitset");
    checked(dds_waitset_attach(waitset_.get(), condition_.get(), 0), "dds_waitset_attach");
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return take_up_to(most_per_take, visitor);
  }

  /// Waits for the read condition, which is true while the reader contains messages. Only a trial with the reception
  /// `block` has this condition; otherwise the function returns true at once.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (waitset_.get() == 0) return true;
    return dds_waitset_wait(waitset_.get(), nullptr, 0, timeout.count()) != 0;
  }

  void listen(Listener listener) {
    listener_ = listener;
    dds_listener_t* callbacks = dds_create_listener(this);
    dds_lset_data_available(callbacks, [](dds_entity_t, void* self) { static_cast<Subscriber*>(self)->deliver(); });
    const dds_return_t code = dds_set_listener(reader_.get(), callbacks);
    dds_delete_listener(callbacks);
    checked(code, "dds_set_listener");
    deliver();  // messages that arrived before the listener was set raise no event
  }

  /// Ends the listening: dds_set_listener() returns only after the last callback has returned.
  void silence() {
    if (!listener_) return;
    dds_set_listener(reader_.get(), nullptr);
    listener_ = {};
  }

  [[nodiscard]] std::size_t publishers_found() { return writers_found(reader_); }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

  [[nodiscard]] const Intake& intake() const noexcept { return intake_; }

 private:
  template <class Visitor>
  std::size_t take_up_to(std::size_t most, Visitor& visitor) noexcept {
    std::size_t visits = 0;
    std::int32_t taken = 0;
    do {
      taken = intake_.take(reader_.get(), visitor, visits, failure_);
    } while (std::cmp_equal(taken, intake_.batch()) && visits < most);
    if (taken < 0) failure_.note("dds_take", taken);
    return visits;
  }

  /// Delivers all messages that have arrived. If it left one in the reader, no later event would report it.
  void deliver() noexcept {
    deliver_([this]() noexcept { take_up_to(std::numeric_limits<std::size_t>::max(), listener_); });
  }

  Entity reader_;
  Entity condition_;
  Entity waitset_;
  Intake intake_;
  Listener listener_;
  kit::OneDeliverer deliver_;
  LastFailure failure_;
};

}  // namespace middlemark::cyclonedds
