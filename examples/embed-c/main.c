/* Adds two vectors by the kernel of ../vector-add.kernel.ts: on the CPU, or with -DWITH_CUDA or -DWITH_HIP on a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include "vector_add.h"

enum { N = 100000 };

/* Where the kernel's pointers point to: memory of the device that it runs on. */
#if defined(WITH_CUDA)
#include <cuda_runtime.h>
static const enum tw_device device = TW_DEVICE_CUDA;
static void *allocate(size_t bytes) { void *at = NULL; return cudaMalloc(&at, bytes) ? NULL : at; }
static int upload(void *to, const void *from, size_t bytes) { return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice); }
static int download(void *to, const void *from, size_t bytes) { return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost); }
#elif defined(WITH_HIP)
#include <hip/hip_runtime_api.h>
static const enum tw_device device = TW_DEVICE_HIP;
static void *allocate(size_t bytes) { void *at = NULL; return hipMalloc(&at, bytes) ? NULL : at; }
static int upload(void *to, const void *from, size_t bytes) { return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice); }
static int download(void *to, const void *from, size_t bytes) { return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost); }
#else
#include <string.h>
static const enum tw_device device = TW_DEVICE_CPU;
static void *allocate(size_t bytes) { return malloc(bytes); }
static int upload(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); return 0; }
static int download(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); return 0; }
#endif

int main(void) {
  static float x[N], y[N], z[N];
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 0.5f * (float)i;
  }
  void *dx = allocate(sizeof x), *dy = allocate(sizeof y), *dz = allocate(sizeof z);
  if (!dx || !dy || !dz || upload(dx, x, sizeof x) || upload(dy, y, sizeof y)) {
    fprintf(stderr, "no memory on the device\n");
    return 1;
  }
  if (tw_select_vector_add(device) || vector_add(NULL, dx, dy, dz, N)) {
    fprintf(stderr, "vector_add: %s\n", tw_last_error());
    return 1;
  }
  if (download(z, dz, sizeof z)) return 1;
  for (int i = 0; i < N; i++)
    if (z[i] != x[i] + y[i]) {
      fprintf(stderr, "z[%d] is %g, not %g\n", i, (double)z[i], (double)(x[i] + y[i]));
      return 1;
    }
  printf("vector_add: %d elements are right\n", N);
  return 0;
}
