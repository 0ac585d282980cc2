/* Reads the file of a process, for the C++ tests. In C, because probe/src/file.h is C. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seen {
  uint32_t kind, topic;
  uint64_t at_ticks, value, extra, thread;
};

struct contents {
  uint32_t pid, clock;
  uint64_t closed_ticks, full_ticks, unnamed, sent_beyond, received_beyond, spans_beyond, longest_bucket;
  char names[8][120];
  uint32_t owners[8];
};

/* Fills `contents` and calls `visit` for every complete record. Returns NULL if the file is valid, otherwise the reason
 * why it is not. */
const char* read_file(const char* path, struct contents* contents, void (*visit)(void*, const struct seen*),
                      void* context);

/* Makes a stamp, a span and an iteration from C, with the macros. */
void stamp_from_c(uint32_t probe);

#ifdef __cplusplus
}
#endif
