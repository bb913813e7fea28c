/* Calls vector_add through its header as a program of a user would: right, wrong, from threads, after unloading. */
#include "vector_add.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, LAUNCHES = 50 };

static float memory[3][4096] __attribute__((aligned(64)));

static void say(const char *what, int status) { printf("%s: %d %s\n", what, status, status ? tw_last_error() : ""); }

static void *work(void *argument) {
  uintptr_t self = (uintptr_t)argument;
  for (uintptr_t i = 0; i < LAUNCHES; i++)
    if (vector_add((tw_stream)(self + 1), memory[0] + 16 * self, memory[1], memory[2], (int64_t)(1000 * self + i))) {
      fprintf(stderr, "%s\n", tw_last_error());
      exit(1);
    }
  return NULL;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "threads")) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
  }
  if (!strcmp(what, "twice")) {
    say("load", tw_load_vector_add());
    say("first", vector_add((tw_stream)7, memory[0], memory[1], memory[2], 100));
    say("second", vector_add((tw_stream)7, memory[0], memory[1], memory[2], 100));
    say("unload", tw_unload_vector_add());
    say("third", vector_add(NULL, memory[0], memory[1], memory[2], 100));
    printf("device %d\n", tw_device_vector_add());
    return 0;
  }
  if (!strcmp(what, "arguments")) {
    say("null", vector_add(NULL, NULL, memory[1], memory[2], 100));
    say("misaligned", vector_add(NULL, memory[0] + 1, memory[1], memory[2], 100));
    say("negative", vector_add(NULL, memory[0], memory[1], memory[2], -1));
    say("large", vector_add(NULL, memory[0], memory[1], memory[2], (int64_t)1 << 32));
    say("empty", vector_add(NULL, NULL, NULL, NULL, 0));
    say("select", tw_select_vector_add((enum tw_device)9));
    say("select hip", tw_select_vector_add(TW_DEVICE_HIP));
    say("launch", vector_add(NULL, memory[0], memory[1], memory[2], 100));
    return 0;
  }
  if (!strcmp(what, "cpu")) {
    for (int i = 0; i < 4096; i++) {
      memory[0][i] = (float)i;
      memory[1][i] = 2.0f * (float)i;
    }
    say("select", tw_select_vector_add(TW_DEVICE_CPU));
    say("launch", vector_add(NULL, memory[0], memory[1], memory[2], 4000));
    printf("%g %g %g\n", (double)memory[2][1], (double)memory[2][3999], (double)memory[2][4000]);
    return 0;
  }
  say("launch", vector_add(NULL, memory[0], memory[1], memory[2], 100));
  return 0;
}
