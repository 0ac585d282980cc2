// Contains all code that differs between versions of Cyclone DDS. 0.10 has shared memory built in; 11 has it in a
// plug-in of its "publish-subscribe message exchange" (PSMX).
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

// 11.0 declares this function, but exports it only if it was built with EXPORT_ALL_SYMBOLS.
extern "C" [[gnu::weak]] void dds_set_log_sink(dds_log_write_fn_t callback, void* userdata);

namespace middlemark::cyclonedds {

/// Returns false if the library does not export the function.
inline bool set_log_sink(dds_log_write_fn_t callback, void* userdata) {
  if (dds_set_log_sink == nullptr) return false;
  dds_set_log_sink(callback, userdata);
  return true;
}

/// Paths below CycloneDDS/Domain, and their values.
using Elements = std::vector<std::pair<std::string, std::string>>;

#if DDS_VERSION_MAJOR == 0

/// The numbers of processes for which the transport `shm` works; 1 means within one process.
inline constexpr std::initializer_list<int> shared_memory_processes = {1, 2};
inline constexpr const char* shared_memory_needs =
    "check that the loaded libddsc was built with iceoryx (ENABLE_SHM): `ldd` on it shows libiceoryx_binding_c";

/// Pattern of the lock files that killed workers leave. Their names contain iceoryx's name of the process.
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

/// Returns the message in shared memory; null if the message did not come through shared memory.
[[nodiscard]] inline const void* chunk_of(const ddsi_serdata* data) noexcept { return data->iox_chunk; }

/// In 0.10, batching is the element Internal/WriteBatch of the configuration.
inline constexpr bool batching_is_a_quality = false;
inline void batch(dds_qos_t* /*qos*/) {}

#else

/// 1 is not in the list: within one process a writer always gives its readers a copy in the process's memory.
inline constexpr std::initializer_list<int> shared_memory_processes = {2};
inline constexpr const char* shared_memory_needs =
    "check that Cyclone DDS's plug-in libpsmx_iox.so was built (ENABLE_ICEORYX) and is next to libddsc or on "
    "LD_LIBRARY_PATH";

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

/// In 11, batching is a quality of service; the element Internal/WriteBatch is deprecated.
inline constexpr bool batching_is_a_quality = true;
inline void batch(dds_qos_t* qos) { dds_qset_writer_batching(qos, true); }

#endif

}  // namespace middlemark::cyclonedds
