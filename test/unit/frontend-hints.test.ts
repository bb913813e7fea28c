import { expect, test } from '@jest/globals';
import { atomic, gather, iota, multipleOf, scatter } from 'tilewright';
import { bodyOf, vector } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';

test('hints of loads and stores stand on the ops', () => {
  const lines = bodyOf(
    vector(({ x, y, z }) => {
      z.store(x.load({ cacheModifier: 'cg', evictionPolicy: 'evict_first', volatile: true }), { cacheModifier: 'wt' });
      scatter(z, iota([4]), gather(y, iota([4]), { evictionPolicy: 'evict_last' }), { evictionPolicy: 'normal' });
    }),
  ).map((line) => /(load|store|gather|scatter).*?(\{.*\})?( :|$)/.exec(line)?.slice(1, 3));
  expect(lines.filter((line) => line)).toEqual([
    ['load', '{cache = cg, eviction = evict_first, volatile = true}'],
    ['store', '{cache = wt}'],
    ['gather', '{eviction = evict_last}'],
    ['scatter', '{eviction = normal}'],
  ]);
});

test.each([
  [
    'x.load',
    ({ x }) => x.load({ cacheModifier: 'wt' }),
    /the cache modifier of 'load' is one of 'ca', 'cg', 'cs', 'cv', got "wt"/,
  ],
  ['z.store', ({ z }) => z.store(1, { volatile: true }), /'store' has no option 'volatile'/],
  ['eviction', ({ x }) => x.load({ evictionPolicy: 'first' }), /the eviction policy of 'load' is one of/],
  ['volatile', ({ x }) => x.load({ volatile: 1 }), /'volatile' is true or false, got 1/],
  [
    'order',
    ({ z }) => atomic.cas(z.at(iota([4])), 0, 1, { order: 'seq' as never }),
    /the order of 'atomic.cas' is one of/,
  ],
  ['multiple', () => multipleOf(iota([4]) as never, 4), /'multiple_of' needs an i32 scalar/],
  // biome-ignore lint/suspicious/noExplicitAny: mistakes that TypeScript would catch
] as [string, (refs: any) => unknown, RegExp][])('mistakes: %s', async (_, make, message) => {
  const found = await diagnosticsOf(() => vector((refs) => make(refs)).trace());
  expect(found.map((d) => d.message).join()).toMatch(message);
});
