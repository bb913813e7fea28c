import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  array,
  blockProgram,
  cdiv,
  dim,
  element,
  f16,
  f32,
  grid,
  kernel,
  pallasCall,
  printKernel,
  scalar,
  sequence,
  shapeDtype,
  squeezed,
} from 'tilewright';

let written = '';
beforeEach(() => {
  written = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written += text;
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const [m, n] = [dim('m'), dim('n')];

test('debug prints the grid mapping and the kernel IR under a headline that names the kernel and its line', () => {
  const g = grid({ h: m, i: cdiv(n, 32) }, { sequential: ['h'] });
  const row = array(f32, [m, n]).block([squeezed, 32], [g.h, g.i]);
  const k = kernel('rows', {}, () =>
    blockProgram(
      {
        grid: g,
        inputs: {
          x: row,
          w: array(f16, [n]),
          e: array(f32, [m, n]).block([element(4), n], [g.h.mul(2).add(1), 0]),
          s: scalar(f32),
        },
        outputs: { z: row },
        debug: true,
      },
      ({ x, s, z }) => z.store(x.load().mul(s)),
    ),
  );
  const { kernel: ir } = k.trace();
  k.trace();
  const [headline, ...rest] = written.split('\n');
  expect(headline).toMatch(/^kernel 'rows' at ".*frontend-debug.test.ts":\d+:13$/);
  expect(rest.join('\n')).toBe(`  launch rows: grid h = m (sequential), i = cdiv(n, 32)
    x: f32[m, n], block [squeezed, 32] at [h, i]
    w: f16[n], whole
    e: f32[m, n], block [element(4), n] at [((h * 2) + 1), 0]
    s: f32, scalar
    z: f32[m, n], block [squeezed, 32] at [h, i]
${printKernel(ir)}`);
});

test('every launch of a sequence has its mapping', () => {
  const v = array(f32, [n]);
  const k = kernel('two', {}, () =>
    sequence({ temps: { t: v } }, [
      blockProgram({ grid: grid({}), inputs: { x: v }, outputs: { t: v } }, ({ x, t }) =>
        t.at(0).store(x.at(0).load()),
      ),
      blockProgram({ grid: grid({}), inputs: { t: v }, outputs: { z: v }, debug: true }, ({ t, z }) =>
        z.at(0).store(t.at(0).load()),
      ),
    ]),
  );
  k.trace();
  expect(written).toContain(`
  launch two_0: grid of one program
    x: f32[n], whole
    t: f32[n], whole
  launch two_1: grid of one program
    t: f32[n], whole
    z: f32[n], whole
kernel @two `);
});

test('pallasCall has it too; without it nothing is printed', () => {
  const call = (debug: boolean) =>
    pallasCall({ kernel: (o) => o.store(0), outShape: shapeDtype([4], f32), name: 'fill', debug })().trace();
  call(false);
  expect(written).toBe('');
  call(true);
  expect(written).toMatch(
    /^kernel 'fill' at ".*":\d+:\d+\n {2}launch fill: grid of one program\n {4}out0: f32\[4\], whole\n/,
  );
});
