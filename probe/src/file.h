/* The file of one process, as it is mapped and as src/middlemark/imports/probe_file.py reads it: a head, names, what came when the
 * records were full, and chunks of records, each of them filled by one thread. Little endian. */
#ifndef MIDDLEMARK_PROBE_FILE_H
#define MIDDLEMARK_PROBE_FILE_H

#include <stdatomic.h>
#include <stdint.h>

enum {
  probe_version = 1,
  names_most = 256,
  name_bytes = 120,
  octave_bits = 5, /* 32 buckets an octave: a value is known to 1.6 % */
  octaves = 44,
  buckets = octaves << octave_bits, /* the last one has all that is longer: some hours */
  chunk_records = 1023,
  clock_tsc = 1,
  clock_cntvct = 2,
  clock_monotonic = 3,
};

/* Two readings of one instant: what ticks are in ns follows from two such pairs. */
struct anchor {
  uint64_t ticks, monotonic_ns;
};

struct head {
  char magic[8]; /* MMPROBE, a zero */
  uint32_t version, clock, pid, names;
  uint64_t chunks, bytes, filesystem;
  struct anchor opened[2];
  _Atomic uint64_t closed_ticks; /* 0: the process has not ended, or not by returning or exit() */
  _Atomic uint64_t full_ticks;   /* when the first record found no room; 0: all did */
  _Atomic uint64_t unnamed;      /* names refused: too long, or too many */
  char boot[40], host[64];
  _Alignas(64) _Atomic uint64_t names_claimed;
  _Alignas(64) _Atomic uint64_t chunks_claimed;
};

struct name {
  _Atomic uint32_t ready; /* published last */
  uint32_t owner;         /* the number of its probe, from 1; 0: it is one */
  char text[name_bytes];
};

/* Of one topic, what found no room. */
struct beyond {
  _Atomic uint64_t sent, received;
  _Atomic uint64_t durations[buckets]; /* of spans, in ticks */
  _Atomic uint64_t iterations[buckets];
};

/* `what` is kind << 32 | topic and is stored last: a record without it is not whole. */
struct record {
  _Atomic uint64_t what;
  uint64_t at_ticks;
  uint64_t value; /* sequence, or duration in ticks */
  uint64_t extra; /* bytes of what was sent, or ticks paused */
};

struct chunk {
  _Atomic uint64_t claimed; /* may count on when it is full */
  struct anchor anchor;     /* when it was claimed */
  uint64_t thread;
  struct record records[chunk_records];
};

struct file {
  _Alignas(4096) struct head head;
  _Alignas(4096) struct name names[names_most];
  _Alignas(4096) struct beyond beyond[names_most];
  _Alignas(4096) struct chunk chunks[];
};

#endif
