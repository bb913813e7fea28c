"""Times NumPy and JAX on the CPU for `npm run bench:cpu`, one request at a time, so that the caller can interleave sides.

Reads lines `SIDE CASE REPEAT` (`numpy softmax 4`) on standard input and answers each with the nanoseconds of every
repetition, separated by spaces. A case is made when it is first asked for. Inputs are seeded; results are not checked
here (the tests do that). NumPy writes to arrays that exist where its functions can.
"""

import sys
import time

import numpy_cases
from inputs import inputs


def make(side, case):
    args = inputs(case)
    if side == "numpy":
        run = numpy_cases.CASES[case](*args)
    else:
        import jax_cases

        run = jax_cases.prepare(case, args)
    run()
    run()
    return run


def main():
    runs = {}
    print("ready", flush=True)
    for line in sys.stdin:
        side, case, repeat = line.split()
        if (side, case) not in runs:
            runs = {key: run for key, run in runs.items() if key[1] == case}
            runs[side, case] = make(side, case)
        run = runs[side, case]
        times = []
        for _ in range(int(repeat)):
            start = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - start)
        print(*times, flush=True)


main()
