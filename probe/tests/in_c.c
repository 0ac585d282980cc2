#include "in_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <middlemark/probe.h>

#include "file.h"

static const char* read_mapped(const struct file* file, uint64_t bytes, struct contents* contents,
                               void (*visit)(void*, const struct seen*), void* context) {
  const struct head* head = &file->head;
  if (memcmp(head->magic, "MMPROBE", 8) != 0 || head->version != probe_version || head->bytes != bytes)
    return "no file of a probe";
  memset(contents, 0, sizeof *contents);
  contents->pid = head->pid;
  contents->clock = head->clock;
  contents->closed_ticks = head->closed_ticks;
  contents->full_ticks = head->full_ticks;
  contents->unnamed = head->unnamed;
  for (int i = 0; i < 8; ++i) {
    memcpy(contents->names[i], file->names[i].text, name_bytes);
    contents->owners[i] = file->names[i].owner;
  }
  for (int i = 0; i < names_most; ++i) {
    contents->sent_beyond += file->beyond[i].sent;
    contents->received_beyond += file->beyond[i].received;
    for (int at = 0; at < buckets; ++at) {
      if (file->beyond[i].durations[at] == 0) continue;
      contents->spans_beyond += file->beyond[i].durations[at];
      contents->longest_bucket = (uint64_t)at;
    }
  }
  for (uint64_t i = 0; i < head->chunks && i < head->chunks_claimed; ++i) {
    for (int at = 0; at < chunk_records; ++at) {
      const struct record* record = &file->chunks[i].records[at];
      if (record->what == 0) continue;
      const struct seen seen = {
          (uint32_t)(record->what >> 32), (uint32_t)record->what, record->at_ticks, record->value, record->extra,
          file->chunks[i].thread};
      visit(context, &seen);
    }
  }
  return NULL;
}

const char* read_file(const char* path, struct contents* contents, void (*visit)(void*, const struct seen*),
                      void* context) {
  struct stat status;
  const int descriptor = open(path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return "cannot be opened";
  void* at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (at == MAP_FAILED) return "cannot be mapped";
  const char* wrong = read_mapped(at, (uint64_t)status.st_size, contents, visit, context);
  munmap(at, (size_t)status.st_size);
  return wrong;
}

void stamp_from_c(uint32_t probe) {
  MM_SENT(probe, "from c", 1U, 64U);
  MM_RECEIVED(probe, "from c", 1U);
  MM_BEGIN(probe, "work", work);
  MM_PAUSE(work);
  MM_RESUME(work);
  MM_ITERATE(work);
  MM_END(work);
}
