/**
 * Golden files of the Triton back end: the text of each example at its defaults in f16, and of a kernel whose tile is no
 * power of two. BLESS=1 rewrites them.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { lowerForTriton } from '../../../src/api/compile-triton.js';
import { type AnyKernel, withDisplayLocations } from '../../../src/api/source.js';
import { Kernel } from '../../../src/frontend/kernel.js';
import { findGpuTarget } from '../../../src/lowering/gpu-target.js';

const root = resolve(import.meta.dirname, '../../..');
const files: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['vector-add', 'sm_90a', {}],
  ['softmax', 'sm_90a', {}],
  ['layer-norm', 'gfx942', {}],
  ['histogram', 'sm_90a', {}],
  ['matmul', 'sm_90a', {}],
  ['flash-attention', 'gfx942', { causal: 'true' }],
  ['softmax', 'sm_80', { block: '48' }],
];

test.each(files)('%s for %s %p', async (name, target, params) => {
  const module: Readonly<Record<string, unknown>> = await import(join(root, 'examples', `${name}.kernel.ts`));
  const kernel = Object.values(module).find((x) => x instanceof Kernel) as AnyKernel;
  const chosen = kernel.withText({ dtype: 'f16', ...params });
  const { launches } = await withDisplayLocations(chosen.folder, () => lowerForTriton(chosen, findGpuTarget(target)!));
  const file = join(import.meta.dirname, `${[name, target, ...Object.values(params)].join('.')}.ttir`);
  const printed = launches.map((l) => l.text).join('');
  if (process.env.BLESS === '1') writeFileSync(file, printed);
  expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(printed);
});
