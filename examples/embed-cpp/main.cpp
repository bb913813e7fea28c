// Softmax of rows by the kernel of ../softmax.kernel.ts, on the CPU. For a GPU, select TW_DEVICE_CUDA or TW_DEVICE_HIP and
// pass what cudaMalloc or hipMalloc gave instead of std::vector's memory, and a stream instead of nullptr.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include "softmax.h"

namespace {

// What the C function reports, as an exception.
void check(int status) {
  if (status != TW_OK) throw std::runtime_error(tw_last_error());
}

std::vector<float> softmax_rows(const std::vector<float> &x, std::int64_t rows, std::int64_t columns) {
  std::vector<float> y(x.size());
  check(softmax(nullptr, x.data(), y.data(), rows, columns));
  return y;
}

}  // namespace

int main() {
  try {
    const std::int64_t rows = 37, columns = 781;
    std::vector<float> x(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < x.size(); i++) x[i] = std::sin(static_cast<float>(i));
    check(tw_select_softmax(TW_DEVICE_CPU));
    const auto y = softmax_rows(x, rows, columns);
    for (std::int64_t r = 0; r < rows; r++) {
      double sum = 0;
      for (std::int64_t c = 0; c < columns; c++) sum += y[static_cast<std::size_t>(r * columns + c)];
      if (std::abs(sum - 1) > 1e-5) throw std::runtime_error("row " + std::to_string(r) + " sums to " + std::to_string(sum));
    }
    // The kernel promises at most 1024 columns: more is refused, and nothing is launched.
    if (softmax(nullptr, x.data(), x.data(), 1, 2000) != TW_ERR_ARGUMENT) throw std::runtime_error("2000 columns were taken");
    std::printf("softmax: %d rows are right; refused: %s\n", static_cast<int>(rows), tw_last_error());
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
