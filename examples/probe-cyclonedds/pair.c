/* Two Cyclone DDS programs with a probe: `pair camera COUNT [LOSE]` writes, `pair detector COUNT` reads. Every LOSE-th
 * sample is stamped but not written, as if the network had lost it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dds/dds.h>
#include <middlemark/probe.h>

#include "image.h"

static dds_entity_t topic_of(dds_entity_t participant) {
  dds_qos_t* qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
  const dds_entity_t topic = dds_create_topic(participant, &Image_desc, "image", qos, NULL);
  dds_delete_qos(qos);
  return topic;
}

static int camera(dds_entity_t participant, unsigned long long count, unsigned long long lose) {
  const mm_probe probe = mm_probe_open("camera");
  const dds_entity_t writer = dds_create_writer(participant, topic_of(participant), NULL, NULL);
  dds_publication_matched_status_t matched = {0};
  do {
    dds_sleepfor(DDS_MSECS(10));
    dds_get_publication_matched_status(writer, &matched);
  } while (matched.current_count == 0);
  Image image = {0};
  for (unsigned long long sequence = 1; sequence <= count; ++sequence) {
    image.sequence_number = sequence;
    MM_SENT(probe, "image", sequence, sizeof image);
    if ((lose == 0 || sequence % lose != 0) && dds_write(writer, &image) != DDS_RETCODE_OK) return 1;
    dds_sleepfor(DDS_MSECS(1));
  }
  while (matched.current_count != 0) {
    dds_sleepfor(DDS_MSECS(10));
    dds_get_publication_matched_status(writer, &matched);
  }
  return 0;
}

static int detector(dds_entity_t participant, unsigned long long count) {
  const mm_probe probe = mm_probe_open("detector");
  const mm_topic stamps = mm_topic_of(probe, "image"), detect = mm_topic_of(probe, "detect");
  const dds_entity_t reader = dds_create_reader(participant, topic_of(participant), NULL, NULL);
  const dds_entity_t waiting = dds_create_waitset(participant);
  dds_waitset_attach(waiting, dds_create_readcondition(reader, DDS_ANY_STATE), 0);
  Image image;
  void* samples[] = {&image};
  dds_sample_info_t info;
  int silent_s = 0;
  for (unsigned long long last = 0; last != count && silent_s < 30;) {
    silent_s = dds_waitset_wait(waiting, NULL, 0, DDS_SECS(1)) > 0 ? 0 : silent_s + 1;
    while (dds_take(reader, samples, &info, 1, 1) > 0) {
      if (!info.valid_data) continue;
      mm_received(stamps, image.sequence_number);
      mm_span span = mm_begin(detect);
      last = image.sequence_number;
      mm_end(&span);
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  const unsigned long long count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  const dds_entity_t participant = dds_create_participant(DDS_DOMAIN_DEFAULT, NULL, NULL);
  int status = 2;
  if (argc > 2 && strcmp(argv[1], "camera") == 0)
    status = camera(participant, count, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
  else if (argc > 2 && strcmp(argv[1], "detector") == 0)
    status = detector(participant, count);
  else
    fprintf(stderr, "usage: pair camera COUNT [LOSE], or pair detector COUNT\n");
  dds_delete(participant);
  return status;
}
