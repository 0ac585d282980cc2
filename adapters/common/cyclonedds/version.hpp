// Where the versions of Cyclone DDS differ, and nowhere else: 0.10 carries shared memory itself, 11 through a plug-in of its
// "publish-subscribe message exchange" (PSMX).
#pragma once

#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsrt/log.h>
#include <dds/version.h>
#if DDS_VERSION_MAJOR == 0
#include <dds/ddsc/dds_loan_api.h>
#else
#include <dds/ddsc/dds_loaned_sample.h>
#include <dds/ddsc/dds_public_loan_api.h>
#endif

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

// 11.0 declares it and, unless built with EXPORT_ALL_SYMBOLS, does not export it.
extern "C" [[gnu::weak]] void dds_set_log_sink(dds_log_write_fn_t callback, void* userdata);

namespace middlemark::cyclonedds {

/// False where there is none to set.
inline bool set_log_sink(dds_log_write_fn_t callback, void* userdata) {
  if (dds_set_log_sink == nullptr) return false;
  dds_set_log_sink(callback, userdata);
  return true;
}

/// Paths below CycloneDDS/Domain and what they are set to.
using Elements = std::vector<std::pair<std::string, std::string>>;

#if DDS_VERSION_MAJOR == 0

/// Processes that share memory; 1: also the ends within one.
inline constexpr std::initializer_list<int> shared_memory_processes = {1, 2};
inline constexpr const char* shared_memory_needs =
    "is the loaded libddsc built with iceoryx (ENABLE_SHM)? 'ldd' on it shows libiceoryx_binding_c";

/// What a killed process leaves behind beside RouDi's: iceoryx's lock, by the name that the process has there.
inline constexpr const char* runtime_residue = "/tmp/iceoryx_rt_*";

[[nodiscard]] inline Elements shared_memory_elements(bool on) {
  if (!on) return {{"SharedMemory/Enable", "false"}};
  return {{"SharedMemory/Enable", "true"}, {"SharedMemory/LogLevel", "warn"}};
}

[[nodiscard]] inline bool shares_memory(dds_entity_t end) {
  return dds_is_shared_memory_available(end) && dds_is_loan_available(end);
}

[[nodiscard]] inline dds_return_t request_loan(dds_entity_t writer, void** sample) noexcept {
  return dds_loan_sample(writer, sample);
}

/// The message in shared memory; null when it came another way.
[[nodiscard]] inline const void* chunk_of(const ddsi_serdata* data) noexcept { return data->iox_chunk; }

/// Here batching is an element of the configuration, Internal/WriteBatch.
inline constexpr bool batching_is_a_quality = false;
inline void batch(dds_qos_t* /*qos*/) {}

#else

/// Within one process a writer hands a copy in the process's memory to the readers, whatever is configured.
inline constexpr std::initializer_list<int> shared_memory_processes = {2};
inline constexpr const char* shared_memory_needs =
    "Cyclone DDS loads its plug-in by the name libpsmx_iox.so: is it built (ENABLE_ICEORYX) and beside libddsc or on "
    "LD_LIBRARY_PATH?";

inline constexpr const char* runtime_residue = "/tmp/CycloneDDS-iox_psmx-*";

[[nodiscard]] inline Elements shared_memory_elements(bool on) {
  if (!on) return {};
  const std::string plugin = "General/Interfaces/PubSubMessageExchange/";
  return {{plugin + "@type", "iox"}, {plugin + "@library", "psmx_iox"}, {plugin + "@config", "LOG_LEVEL=WARN;"}};
}

[[nodiscard]] inline bool shares_memory(dds_entity_t end) { return dds_is_shared_memory_available(end); }

[[nodiscard]] inline dds_return_t request_loan(dds_entity_t writer, void** sample) noexcept {
  return dds_request_loan(writer, sample);
}

[[nodiscard]] inline const void* chunk_of(const ddsi_serdata* data) noexcept {
  const dds_loaned_sample* loan = data->loan;
  return loan != nullptr && loan->loan_origin.origin_kind == DDS_LOAN_ORIGIN_KIND_PSMX ? loan->sample_ptr : nullptr;
}

/// The element is deprecated here.
inline constexpr bool batching_is_a_quality = true;
inline void batch(dds_qos_t* qos) { dds_qset_writer_batching(qos, true); }

#endif

}  // namespace middlemark::cyclonedds
