/* See probe.h and file.h. Needs only the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <middlemark/probe.h>

#include "clock.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The state of this process. The kernel fills its page with zeros in a forked child, so the child notices that it has
 * no file yet. */
struct mine {
  _Atomic(struct file*) file;
  _Atomic int opening;
};

static _Atomic(struct mine*) process;
static _Atomic int off; /* nothing will be recorded from now on */
static uint32_t clock_used = clock_monotonic;
static uint64_t chunks_wanted;
static char folder[4000];
static char label[64];      /* part of the file's name: the name of the first probe */
static struct file* latest; /* the file that was opened last; after a fork first the parent's, to copy its names */

#define PER_THREAD \
  static __thread __attribute__((tls_model("initial-exec"))) /* the first stamp of a thread allocates nothing */
PER_THREAD struct chunk* filling;
PER_THREAD uint32_t filling_of; /* the generation of the file that contains `filling`; a forked child has a new one */
PER_THREAD int inside;          /* this thread is opening the file; a signal handler may interrupt it */
static _Atomic uint32_t generation;

static struct file* refused(const char* what, const char* where) {
  fprintf(stderr, "middlemark probe: %s: %s: %s; nothing is recorded\n", where, what, strerror(errno));
  atomic_store(&off, 1);
  return NULL;
}

static size_t bytes_of(uint64_t chunks) { return sizeof(struct file) + (size_t)chunks * sizeof(struct chunk); }

static struct file* mapped(void) {
  char path[sizeof folder + sizeof label + 64];
  snprintf(path, sizeof path, "%s/%s-%d-%llx.mmprobe", folder, label, (int)getpid(),
           (unsigned long long)monotonic_ns());
  const int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return refused("cannot be made", path);
  const size_t bytes = bytes_of(chunks_wanted);
  /* Allocate the disk space now: a store into a page without disk space would end the program. */
  const int full = posix_fallocate(descriptor, 0, (off_t)bytes);
  void* at = full != 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) {
    errno = full != 0 ? full : errno;
    close(descriptor);
    unlink(path);
    return refused("has no room", path);
  }
  struct file* file = at;
  /* A stamp must not cause a page fault. The pages of struct beyond are faulted in only if they are needed. */
  char* records = (char*)file->chunks;
  const size_t length = bytes - sizeof(struct file);
  if (madvise(records, length, MADV_POPULATE_WRITE) != 0) {
    for (size_t i = 0; i < length; i += 4096) ((volatile char*)records)[i] = 0;
  }
  struct head* head = &file->head;
  struct statfs on;
  head->opened[0] = read_both(clock_used, 64);
  head->version = probe_version;
  head->clock = clock_used;
  head->pid = (uint32_t)getpid();
  head->names = names_most;
  head->chunks = chunks_wanted;
  head->bytes = bytes;
  head->filesystem = fstatfs(descriptor, &on) == 0 ? (uint64_t)on.f_type : 0;
  close(descriptor);
  read_line("/proc/sys/kernel/random/boot_id", head->boot, sizeof head->boot);
  gethostname(head->host, sizeof head->host - 1);
  if (latest != NULL) { /* copies the names, so that handles from before the fork stay valid */
    memcpy(file->names, latest->names, sizeof file->names);
    atomic_store(&head->names_claimed, atomic_load(&latest->head.names_claimed));
    munmap(latest, bytes_of(latest->head.chunks));
  }
  /* The second anchor is read 2 ms later, so that the ticks' rate is known even if the process ends soon. */
  const struct timespec rest = {0, 2000000};
  nanosleep(&rest, NULL);
  head->opened[1] = read_both(clock_used, 64);
  atomic_thread_fence(memory_order_release);
  memcpy(head->magic, "MMPROBE", 8);
  return file;
}

/* Reads the environment, once. Returns 0 if MIDDLEMARK_PROBE names no folder, so that nothing is recorded. */
static int wanted(const char* name) {
  const char* chosen = getenv("MIDDLEMARK_PROBE");
  const char* records = getenv("MIDDLEMARK_PROBE_RECORDS");
  if (chosen == NULL || chosen[0] == '\0' || strlen(chosen) >= sizeof folder) return 0;
  const unsigned long long count = records != NULL ? strtoull(records, NULL, 10) : 0;
  chunks_wanted = ((count != 0 ? count : 1U << 20) + chunk_records - 1) / chunk_records;
  strcpy(folder, chosen);
  snprintf(label, sizeof label, "%s", name);
  for (char* letter = label; *letter != '\0'; ++letter) {
    if (*letter == '/' || (unsigned char)*letter < ' ') *letter = '_';
  }
  mkdir(folder, 0755); /* Errors are ignored here. If the folder is missing, creating the file fails and reports it. */
  clock_used = choose_clock();
  return 1;
}

/* Returns the file of this process, or NULL if nothing is recorded. Makes the file if `name` is not NULL, or in a forked child.
 * While one thread makes the file, other threads wait. */
static struct file* opened(const char* name) {
  struct mine* mine = atomic_load_explicit(&process, memory_order_acquire);
  if (__builtin_expect(mine != NULL, 1)) {
    struct file* file = atomic_load_explicit(&mine->file, memory_order_acquire);
    if (__builtin_expect(file != NULL, 1)) return file;
  }
  if (atomic_load(&off) || inside || (mine == NULL && name == NULL)) return NULL;
  if (mine == NULL) {
    mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mine == MAP_FAILED || madvise(mine, 4096, MADV_WIPEONFORK) != 0)
      return refused("a forked child could not be recognised", "the process");
    struct mine* others = NULL;
    if (!atomic_compare_exchange_strong(&process, &others, mine)) {
      munmap(mine, 4096);
      mine = others;
    }
  }
  inside = 1;
  if (atomic_exchange(&mine->opening, 1) == 0) {
    struct file* file = chunks_wanted != 0 || wanted(name) ? mapped() : NULL;
    if (file == NULL) {
      atomic_store(&off, 1);
    } else {
      latest = file;
      atomic_fetch_add(&generation, 1);
      atomic_store_explicit(&mine->file, file, memory_order_release);
    }
  } else {
    while (atomic_load(&mine->file) == NULL && !atomic_load(&off)) sched_yield();
  }
  inside = 0;
  return atomic_load(&mine->file);
}

/* Returns the number of a name, from 1. Adds the name if it is new; returns 0 if there is no space. Two threads may add the
 * same name twice, so the reader of the file identifies topics by name. */
static uint32_t number_of(struct file* file, uint32_t owner, const char* text) {
  if (file == NULL) return 0;
  const uint64_t claimed = atomic_load(&file->head.names_claimed);
  for (uint32_t i = 0; i < names_most && i < claimed; ++i) {
    const struct name* name = &file->names[i];
    if (atomic_load_explicit(&name->ready, memory_order_acquire) && name->owner == owner &&
        strcmp(name->text, text) == 0) {
      return i + 1;
    }
  }
  const uint64_t i =
      strlen(text) < name_bytes && claimed < names_most ? atomic_fetch_add(&file->head.names_claimed, 1) : names_most;
  if (i >= names_most) {
    atomic_fetch_add(&file->head.unnamed, 1);
    return 0;
  }
  struct name* name = &file->names[i];
  name->owner = owner;
  strcpy(name->text, text);
  atomic_store_explicit(&name->ready, 1, memory_order_release);
  return (uint32_t)i + 1;
}

mm_probe mm_probe_open(const char* name) { return number_of(opened(name), 0, name); }

mm_topic mm_topic_of(mm_probe probe, const char* name) { return probe == 0 ? 0 : number_of(opened(NULL), probe, name); }

uint64_t mm_ticks(void) { return ticks_of(clock_used); }

/* Claims space for a record, or returns NULL if all chunks are full. A signal handler that interrupts this function
 * claims the space after it. */
static struct record* claimed(struct file* file) {
  const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
  for (;;) {
    if (__builtin_expect(filling_of == now, 1)) {
      /* Read once: a signal handler that interrupts here may begin the next chunk. */
      struct chunk* const chunk = __atomic_load_n(&filling, __ATOMIC_RELAXED);
      const uint64_t i = atomic_fetch_add_explicit(&chunk->claimed, 1, memory_order_relaxed);
      if (__builtin_expect(i < chunk_records, 1)) return &chunk->records[i];
    }
    if (atomic_load_explicit(&file->head.chunks_claimed, memory_order_relaxed) >= file->head.chunks) return NULL;
    const uint64_t next = atomic_fetch_add(&file->head.chunks_claimed, 1);
    if (next >= file->head.chunks) return NULL;
    struct chunk* chunk = &file->chunks[next];
    chunk->anchor = read_both(clock_used, 4);
    chunk->thread = (uint64_t)syscall(SYS_gettid);
    filling_of = 0; /* a signal handler that interrupts here claims a chunk for itself */
    filling = chunk;
    atomic_signal_fence(memory_order_seq_cst);
    filling_of = now;
  }
}

static uint32_t bucket_of(uint64_t value) {
  if (value < 2U << octave_bits) return (uint32_t)value;
  const uint32_t shift = (uint32_t)(63 - __builtin_clzll(value)) - octave_bits;
  const uint64_t index = ((uint64_t)shift << octave_bits) + (value >> shift);
  return index < buckets ? (uint32_t)index : buckets - 1;
}

static void count_beyond(struct file* file, mm_topic topic, uint32_t kind, uint64_t at_ticks, uint64_t value) {
  uint64_t never = 0;
  atomic_compare_exchange_strong(&file->head.full_ticks, &never, at_ticks);
  struct beyond* beyond = &file->beyond[topic - 1];
  _Atomic uint64_t* count = kind == mm_kind_sent       ? &beyond->sent
                            : kind == mm_kind_received ? &beyond->received
                            : kind == mm_kind_span     ? &beyond->durations[bucket_of(value)]
                                                       : &beyond->iterations[bucket_of(value)];
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

void mm_record(mm_topic topic, uint32_t kind, uint64_t at_ticks, uint64_t value, uint64_t extra) {
  struct file* file = opened(NULL);
  if (__builtin_expect(file == NULL || topic == 0 || topic > names_most, 0)) return;
  struct record* record = claimed(file);
  if (__builtin_expect(record == NULL, 0)) {
    count_beyond(file, topic, kind, at_ticks, value);
    return;
  }
  record->at_ticks = at_ticks;
  record->value = value;
  record->extra = extra;
  atomic_store_explicit(&record->what, (uint64_t)kind << 32 | topic, memory_order_release);
}

__attribute__((destructor)) static void closed(void) {
  struct mine* mine = atomic_load(&process);
  struct file* file = mine != NULL ? atomic_load(&mine->file) : NULL;
  if (file != NULL) atomic_store(&file->head.closed_ticks, mm_ticks());
}
