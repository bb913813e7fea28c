import { expect, test } from '@jest/globals';
import { parseStack } from '../../src/frontend/site.js';

const root = new URL('../../', import.meta.url).pathname;

test('the first run of user frames, whatever their folders are called', () => {
  const stack = `Error: no
    at binary (${root}src/frontend/tile.ts:1:2)
    at Tile.add (file://${root}dist/frontend/tile.js:3:4)
    at twice (/home/me/a (b) c/lib.ts:5:6)
    at Array.map (<anonymous>)
    at async Scope.run [as body] (file:///home/me/a%20(b)%20c/k.kernel.ts:7:8)
    at /home/me/k2.kernel.ts:9:10
    at eval (eval at f (/home/me/k2.kernel.ts:1:2), <anonymous>:1:1)
    at new Trace (${root}src/frontend/trace.ts:11:12)
    at /home/me/test.ts:13:14`;
  expect(parseStack(stack).map((f) => `${f.file}:${f.line}:${f.col}`)).toEqual([
    '/home/me/a (b) c/lib.ts:5:6',
    '/home/me/a (b) c/k.kernel.ts:7:8',
    '/home/me/k2.kernel.ts:9:10',
  ]);
});

test.each([
  [
    'loading modules',
    '    at /me/k.js:1:2\n    at Module._compile (node:internal/modules/cjs/loader:3:4)\n    at /me/main.js:5:6',
    ['/me/k.js'],
  ],
  [
    'another package',
    '    at /me/k.js:1:2\n    at run (/me/node_modules/runner/run.js:3:4)\n    at /me/main.js:5:6',
    ['/me/k.js'],
  ],
  ['a package in front', '    at help (/me/node_modules/kit/kit.js:1:2)\n    at /me/k.js:3:4', ['/me/k.js']],
  [
    'packages only',
    `    at help (/me/node_modules/kit/kit.js:1:2)\n    at trace (${root}dist/frontend/kernel.js:1:1)\n    at /me/main.js:5:6`,
    ['/me/node_modules/kit/kit.js'],
  ],
  ['nothing of anyone', '    at node:internal/timers:1:2\n    at <anonymous>', []],
])('%s', (_, stack, files) => {
  expect(parseStack(`Error\n${stack}`).map((f) => f.file)).toEqual(files);
});
