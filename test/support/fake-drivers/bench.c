/* What a launch through vector_add costs beside a bare call of the same (recording) driver: bench ROUNDS CALLS */
#include "vector_add.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 20, calls = argc > 2 ? atoi(argv[2]) : 100000;
  static float x[1024] __attribute__((aligned(64)));
  void *library = dlopen(getenv("TILEWRIGHT_CUDA_LIB"), RTLD_NOW), *kernel = NULL, *context = NULL;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  int (*retain)(void **, int), (*set)(void *);
  if (!library) return 1;
  *(void **)&launch = dlsym(library, "cuLaunchKernel");
  *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&set = dlsym(library, "cuCtxSetCurrent");
  if (retain(&context, 0) || set(context)) return 1;
  double start = now();
  if (tw_select_vector_add(TW_DEVICE_CUDA) || tw_load_vector_add()) {
    fprintf(stderr, "%s\n", tw_last_error());
    return 1;
  }
  printf("load %.0f\n", now() - start);
  int n = 1000;
  void *p = x, *null = NULL, *parameters[] = { &p, &p, &p, &n, &null, &null };
  /* The driver looks at no kernel when it records nothing. */
  kernel = parameters;
  for (int r = 0; r < rounds; r++) {
    start = now();
    for (int i = 0; i < calls; i++)
      if (vector_add(NULL, x, x, x, n)) return 1;
    double ours = (now() - start) / calls;
    start = now();
    for (int i = 0; i < calls; i++) launch(kernel, 1, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL);
    printf("round %.1f %.1f\n", ours, (now() - start) / calls);
  }
  return 0;
}
