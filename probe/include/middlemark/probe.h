/* Timestamps in your own program: which messages were sent and received, and how long something took, in a file that
 * `middlemark import FOLDER` reads. See docs/how-to/measure-your-nodes.md.
 *
 * Stamps are recorded if MIDDLEMARK_PROBE names a folder when the first probe is opened. Otherwise a stamp costs one branch.
 * Compiled with -DMIDDLEMARK_PROBE=OFF, these functions generate no code. mm_probe_open() and mm_topic_of() may be called on
 * any thread. All other functions may also be called in signal handlers, and never allocate, lock, wait or fail. */
#ifndef MIDDLEMARK_PROBE_H
#define MIDDLEMARK_PROBE_H

#include <stddef.h>
#include <stdint.h>

#define MM_JOINED_(a, b) a##b
#define MM_IS_(what) MM_JOINED_(MM_OFF_, what)
#define MM_OFF_OFF 1
#define MM_OFF_0 1
#if defined(MIDDLEMARK_PROBE) && MM_IS_(MIDDLEMARK_PROBE)
#define MM_PROBE_VANISHES 1
#else
#define MM_PROBE_VANISHES 0
#endif

typedef uint32_t mm_probe; /* a node or a program; 0 if nothing is recorded */
typedef uint32_t mm_topic; /* a topic or a span of a probe; 0 if nothing is recorded */

/* A time measurement that is running. The caller owns it, and may copy it or end it on another thread. */
typedef struct mm_span {
  mm_topic topic;
  uint32_t pauses; /* number of mm_pause() without their mm_resume() */
  uint64_t begin_ticks, paused_ticks, pause_began_ticks;
} mm_span;

enum { mm_kind_sent = 1, mm_kind_received = 2, mm_kind_span = 3, mm_kind_iteration = 4 };

#if !MM_PROBE_VANISHES

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Opens the probe called `name`, or returns it if it is open. The first probe of a process makes a file, and all probes
 * of this process write to it. Returns 0 if MIDDLEMARK_PROBE is not set, if the name has more than 119 bytes, or if
 * there are already 256 names. Also returns 0 if the file cannot be made, and reports this once on stderr. A forked
 * child gets its own file at its first stamp. */
mm_probe mm_probe_open(const char* name);

/* Returns the topic or span called `name`. Call it once and keep the result. Returns 0 if the probe is 0, and if
 * mm_probe_open() would refuse the name. */
mm_topic mm_topic_of(mm_probe probe, const char* name);

/* For language bindings; programs use the functions below. */
uint64_t mm_ticks(void);
void mm_record(mm_topic topic, uint32_t kind, uint64_t at_ticks, uint64_t value, uint64_t extra);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

/* Call just before the message is passed to the middleware. `sequence` is a number that sender and receiver both know. Each
 * message of a topic must have its own number. */
static inline void mm_sent(mm_topic topic, uint64_t sequence, size_t bytes) {
  if (topic != 0) mm_record(topic, mm_kind_sent, mm_ticks(), sequence, bytes);
}

/* Call as soon as the application has the message. */
static inline void mm_received(mm_topic topic, uint64_t sequence) {
  if (topic != 0) mm_record(topic, mm_kind_received, mm_ticks(), sequence, 0);
}

static inline mm_span mm_begin(mm_topic topic) {
  mm_span span = {topic, 0, 0, 0, 0};
  if (topic != 0) span.begin_ticks = mm_ticks();
  return span;
}

/* Pauses the measurement: the time until mm_resume() is not counted. Nested pauses count as one pause. */
static inline void mm_pause(mm_span* span) {
  if (span->topic != 0 && span->pauses++ == 0) span->pause_began_ticks = mm_ticks();
}

static inline void mm_resume(mm_span* span) {
  if (span->topic != 0 && span->pauses != 0 && --span->pauses == 0) {
    span->paused_ticks += mm_ticks() - span->pause_began_ticks;
  }
}

static inline void mm_span_ended_(mm_span* span, uint32_t kind, uint64_t now) {
  if (span->pauses != 0) span->paused_ticks += now - span->pause_began_ticks;
  mm_record(span->topic, kind, span->begin_ticks, now - span->begin_ticks - span->paused_ticks, span->paused_ticks);
}

/* Records the span. A second call does nothing. */
static inline void mm_end(mm_span* span) {
  if (span->topic == 0) return;
  mm_span_ended_(span, mm_kind_span, mm_ticks());
  span->topic = 0;
}

/* Records the time since mm_begin() or the last mm_iterate() as an iteration, and starts the next iteration. Call it at the
 * end of each pass of a loop. */
static inline void mm_iterate(mm_span* span) {
  if (span->topic == 0) return;
  const uint64_t now = mm_ticks();
  mm_span_ended_(span, mm_kind_iteration, now);
  span->begin_ticks = now;
  span->paused_ticks = 0;
  span->pause_began_ticks = now;
}

/* mm_topic_of() with a cache. `kept` is a static variable of the calling code, which contains the last probe and topic.
 */
static inline mm_topic mm_topic_kept_(uint64_t* kept, mm_probe probe, const char* name) {
  const uint64_t cached = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (cached >> 32 == probe) return (mm_topic)cached; /* for probe 0 this is topic 0 */
  const mm_topic topic = mm_topic_of(probe, name);
  __atomic_store_n(kept, (uint64_t)probe << 32 | topic, __ATOMIC_RELAXED);
  return topic;
}

#define MM_SENT(probe, name, sequence, bytes)                                \
  do {                                                                       \
    static uint64_t mm_kept;                                                 \
    mm_sent(mm_topic_kept_(&mm_kept, (probe), (name)), (sequence), (bytes)); \
  } while (0)
#define MM_RECEIVED(probe, name, sequence)                              \
  do {                                                                  \
    static uint64_t mm_kept;                                            \
    mm_received(mm_topic_kept_(&mm_kept, (probe), (name)), (sequence)); \
  } while (0)
/* Declares the span `variable` and begins it. */
#define MM_BEGIN(probe, name, variable) \
  static uint64_t mm_kept_##variable;   \
  mm_span variable = mm_begin(mm_topic_kept_(&mm_kept_##variable, (probe), (name)))
#define MM_PAUSE(variable) mm_pause(&(variable))
#define MM_RESUME(variable) mm_resume(&(variable))
#define MM_ITERATE(variable) mm_iterate(&(variable))
#define MM_END(variable) mm_end(&(variable))

#else /* the compiler still checks the arguments, but nothing is done */

static inline mm_probe mm_probe_open(const char* name) { return (void)name, 0U; }
static inline mm_topic mm_topic_of(mm_probe probe, const char* name) { return (void)probe, (void)name, 0U; }
static inline void mm_sent(mm_topic topic, uint64_t sequence, size_t bytes) {
  (void)topic, (void)sequence, (void)bytes;
}
static inline void mm_received(mm_topic topic, uint64_t sequence) { (void)topic, (void)sequence; }
static inline mm_span mm_begin(mm_topic topic) {
  const mm_span span = {topic, 0, 0, 0, 0};
  return span;
}
static inline void mm_pause(mm_span* span) { (void)span; }
static inline void mm_resume(mm_span* span) { (void)span; }
static inline void mm_end(mm_span* span) { (void)span; }
static inline void mm_iterate(mm_span* span) { (void)span; }
#define MM_SENT(probe, name, sequence, bytes) ((void)sizeof(probe), (void)sizeof(sequence), (void)sizeof(bytes))
#define MM_RECEIVED(probe, name, sequence) ((void)sizeof(probe), (void)sizeof(sequence))
#define MM_BEGIN(probe, name, variable) ((void)sizeof(probe))
#define MM_PAUSE(variable) ((void)0)
#define MM_RESUME(variable) ((void)0)
#define MM_ITERATE(variable) ((void)0)
#define MM_END(variable) ((void)0)

#endif

#endif
