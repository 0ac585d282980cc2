/* The clock of core/clock.hpp in C: the invariant TSC if it is the kernel's own clock source, CNTVCT on ARM, otherwise
 * CLOCK_MONOTONIC. */
#ifndef MIDDLEMARK_PROBE_CLOCK_H
#define MIDDLEMARK_PROBE_CLOCK_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "file.h"

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Reads the first line of a small file; empty if the file cannot be read. */
static void read_line(const char* path, char* text, size_t bytes) {
  memset(text, 0, bytes);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  if (read(file, text, bytes - 1) < 0) text[0] = '\0';
  close(file);
  text[strcspn(text, "\n")] = '\0';
}

static uint32_t choose_clock(void) {
  const char* wanted = getenv("MIDDLEMARK_CLOCK");
  if (wanted != NULL && strcmp(wanted, "monotonic") == 0) return clock_monotonic;
#if defined(__x86_64__)
  char kernels[16];
  read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", kernels, sizeof kernels);
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const int supported = __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx);
  return supported != 0 && (edx & 1U << 8) != 0 && strcmp(kernels, "tsc") == 0 ? clock_tsc : clock_monotonic;
#elif defined(__aarch64__)
  return clock_cntvct;
#else
  return clock_monotonic;
#endif
}

/* Returns the current time in ticks. It waits for all earlier loads, so the stamp of an arrival is never too early. */
static inline uint64_t ticks_of(uint32_t clock) {
#if defined(__x86_64__)
  if (clock == clock_tsc) {
    _mm_lfence();
    const uint64_t now = __rdtsc();
    atomic_signal_fence(memory_order_seq_cst);
    return now;
  }
#elif defined(__aarch64__)
  if (clock == clock_cntvct) {
    uint64_t now;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(now)::"memory");
    return now;
  }
#endif
  (void)clock;
  return monotonic_ns();
}

/* Reads both clocks at one instant. It reads several times and keeps the shortest reading, which was not interrupted. */
static struct anchor read_both(uint32_t clock, int readings) {
  struct anchor best = {0, 0};
  uint64_t tightest = UINT64_MAX;
  for (int i = 0; i < readings; ++i) {
    const uint64_t before = ticks_of(clock), ns = monotonic_ns(), after = ticks_of(clock);
    if (after - before < tightest) {
      tightest = after - before;
      best.ticks = before + (after - before) / 2;
      best.monotonic_ns = clock == clock_monotonic ? best.ticks : ns;
    }
  }
  return best;
}

#endif
