/* The layout of a process's file, which is mapped into memory; src/middlemark/imports/probe_file.py reads it. The file
 * contains a head, names, counts of the stamps made after the records were full, and chunks of records. Each chunk is filled
 * by one thread. Little endian. */
#ifndef MIDDLEMARK_PROBE_FILE_H
#define MIDDLEMARK_PROBE_FILE_H

#include <stdatomic.h>
#include <stdint.h>

enum {
  probe_version = 1,
  names_most = 256,
  name_bytes = 120,
  octave_bits = 5, /* 32 buckets per octave, so values are exact to 1.6 % */
  octaves = 44,
  buckets = octaves << octave_bits, /* the last bucket contains all longer durations, from some hours */
  chunk_records = 1023,
  clock_tsc = 1,
  clock_cntvct = 2,
  clock_monotonic = 3,
};

/* Two clocks read at one instant. Two such pairs give the length of a tick in ns. */
struct anchor {
  uint64_t ticks, monotonic_ns;
};

struct head {
  char magic[8]; /* "MMPROBE" and a zero */
  uint32_t version, clock, pid, names;
  uint64_t chunks, bytes, filesystem;
  struct anchor opened[2];
  _Atomic uint64_t closed_ticks; /* 0 while the process runs; stays 0 if the process crashed or was killed */
  _Atomic uint64_t full_ticks;   /* when there was no space for a record for the first time; 0 if it never happened */
  _Atomic uint64_t unnamed;      /* number of names that were refused: too long, or too many */
  char boot[40], host[64];
  _Alignas(64) _Atomic uint64_t names_claimed;
  _Alignas(64) _Atomic uint64_t chunks_claimed;
};

struct name {
  _Atomic uint32_t ready; /* 1 when the other fields are complete */
  uint32_t owner;         /* the number of the topic's probe, from 1; 0 if this is the name of a probe */
  char text[name_bytes];
};

/* Counts of one topic's stamps that were made after the records were full. */
struct beyond {
  _Atomic uint64_t sent, received;
  _Atomic uint64_t durations[buckets]; /* of spans, in ticks */
  _Atomic uint64_t iterations[buckets];
};

/* A stamp. `what` is kind << 32 | topic and is stored last: while it is 0, the record is incomplete. */
struct record {
  _Atomic uint64_t what;
  uint64_t at_ticks;
  uint64_t value; /* a message's sequence number, or a span's duration in ticks */
  uint64_t extra; /* a sent message's size in bytes, or the ticks during which a span was paused */
};

struct chunk {
  _Atomic uint64_t claimed; /* number of records claimed; keeps counting after the chunk is full */
  struct anchor anchor;     /* read when the chunk was claimed */
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
