import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { array, blockProgram, dim, f32, grid, kernel, printKernel } from 'tilewright';
import { type Loc, primaryLoc } from '../../src/diagnostics/location.js';
import { fused } from '../support/kernels/fused.kernel.js';
import { fixture, placeOf, placesOf, placeText, vector } from '../support/kernels.js';
import { type OutsidePackage, packageOutside } from '../support/kernels-outside.js';

const main = 'fused.kernel.ts';
const lib = 'lib/activation.ts';
/** Where the callback of `map` calls the two helpers; the frame of `map` itself is the engine's. */
const inMap = (call: string): string => `${placeOf(main, call)} ← ${placeOf(main, 'map(')}`;

/** The places of ops that stand for the kinds of places there are, each with the chain of calls that led there. */
const expected = [
  `load ${placeOf(main, 'load()', 1)}`,
  `load ${placeOf(main, 'load()', 2)}`,
  `dot ${placeOf(main, 'dot(')}`,
  `add ${placeOf(main, 'add(')}`,
  `for ${placeOf(main, 'loop(')}`,
  `max ${placeOf(lib, 'maximum(')} ← ${inMap('relu(doubled')}`,
  `add ${placeOf(lib, 'add(')} ← ${placeOf(lib, 'twice(y)')} ← ${inMap('doubled(x')}`,
  `for ${placeOf(lib, 'loop(')} ← ${inMap('doubled(x')}`,
  `store ${placeOf(main, 'store(')}`,
  `program_id ${placeOf(main, 'grid(')}`,
  `dim ${placeOf(main, "dim('m')")}`,
];

describe('ops are where the user called them', () => {
  test('under the test runner', () => {
    expect(placesOf(fused.trace().kernel)).toEqual(expect.arrayContaining(expected));
  });

  describe('outside of it', () => {
    let outside: OutsidePackage;
    beforeAll(async () => {
      outside = await packageOutside();
    });
    afterAll(() => outside.remove());
    const print = "process.stdout.write((await import('tilewright')).printKernel(fused.trace().kernel));";
    const inJest = (): string => printKernel(fused.trace().kernel);

    test('in the bundle of the loader', async () => {
      const { stdout, stderr } = await outside.run(
        `const { loadKernels } = await import('tilewright/dist/api/loader.js');
         const { kernels } = await loadKernels(${JSON.stringify(fixture(main))});
         const fused = kernels.get('fused');
         ${print}`,
      );
      expect(stderr).toBe('');
      expect(stdout).toBe(inJest());
    });

    test('in compiled files with source maps', async () => {
      await outside.transpile(fixture(''), `${outside.folder}/js`);
      const { stdout, stderr } = await outside.run(`const { fused } = await import('./js/fused.kernel.js'); ${print}`, [
        '--enable-source-maps',
      ]);
      expect(stderr).toBe('');
      expect(stdout).toBe(inJest());
    });

    test('of another package: where the user called it, or in it where no user did', async () => {
      const kit = join(outside.folder, 'node_modules/kit');
      mkdirSync(kit, { recursive: true });
      writeFileSync(join(kit, 'package.json'), '{ "type": "module", "exports": "./kit.js" }');
      const parts = "{ array, blockProgram, f32, grid, kernel } from 'tilewright'";
      writeFileSync(
        join(kit, 'kit.js'),
        `import ${parts};
export const twice = (x) => x.add(x);
const v = array(f32, [4]);
export const made = (body) => kernel('made', {}, () =>
  blockProgram({ grid: grid({}), inputs: { x: v }, outputs: { z: v } }, ({ x, z }) => z.store(body(x.load()))));
`,
      );
      writeFileSync(
        join(outside.folder, 'user.js'),
        `import { made, twice } from 'kit';
export const own = made((x) => twice(x.neg()));
export const theirs = made((x) => x);
`,
      );
      const { stdout } = await outside.run(`
        import { own, theirs } from './user.js';
        import { callersOf, primaryLoc } from 'tilewright/dist/diagnostics/location.js';
        const place = ({ file, line, col }) => file.split('/').at(-1) + ':' + line + ':' + col;
        const places = (k) => k.trace().kernel.launches[0].body.ops.flatMap(({ name, loc }) =>
          name === 'constant' ? [] : [name + ' ' + [primaryLoc(loc), ...callersOf(loc)].map(place).join(' ← ')]);
        console.log(JSON.stringify([places(own), places(theirs)]));
      `);
      expect(JSON.parse(stdout)).toEqual([
        ['load kit.js:5:102', 'neg user.js:2:40', 'add user.js:2:32', 'store kit.js:5:89'],
        ['load kit.js:5:102', 'store kit.js:5:89'],
      ]);
    });

    test('in compiled files without them: the lines of those files', async () => {
      await outside.transpile(fixture(''), `${outside.folder}/js`);
      const { stdout } = await outside.run(`const { fused } = await import('./js/fused.kernel.js'); ${print}`);
      expect(stdout).toMatch(/= dot .* loc\("fused.kernel.js":\d+:\d+\)/);
    });
  });

  test('a place is looked up once, and the same for every trip of a JavaScript loop', () => {
    const k = vector(({ x, z }) => {
      let t = x.load();
      for (let i = 0; i < 50; i++) t = t.neg();
      z.store(t);
    });
    const negs = placesOf(k.trace().kernel).filter((p) => p.startsWith('neg'));
    expect(negs).toHaveLength(50);
    expect(new Set(negs).size).toBe(1);
  });

  test('a call chain of any depth', () => {
    const down = (n: number, then: () => unknown): unknown => (n === 0 ? then() : down(n - 1, then));
    const k = vector(({ x, z }) => z.store(down(30, () => x.load())));
    const [load] = placesOf(k.trace().kernel).filter((p) => p.startsWith('load'));
    // The load, the call of `then`, 30 steps down, the body, and the call of the body in `vector`.
    expect(load!.split(' ← ')).toHaveLength(34);
  });
});

test('parameters, dims, launches and kernels are where they are declared', () => {
  const { kernel } = fused.trace();
  const place = (loc: Loc): string => placeText(primaryLoc(loc)!);
  expect(Object.fromEntries(kernel.params.map((p) => [p.name, place(p.loc)]))).toEqual({
    a: placeOf(main, 'array(f16', 1),
    b: placeOf(main, 'array(f16', 2),
    c: placeOf(main, 'array(f32'),
  });
  expect(kernel.dims.map((d) => place(d.loc))).toEqual([placeOf(main, "dim('m')"), placeOf(main, "dim('n')")]);
  expect(place(kernel.launches[0]!.loc)).toBe(placeOf(main, 'blockProgram({'));
  expect(place(kernel.loc)).toBe(placeOf(main, "kernel('fused'"));
});

test('the loop of a sequential axis is at its grid', () => {
  const k = kernel('s', {}, () => {
    const n = dim('n');
    const g = grid({ i: n }, { sequential: ['i'] });
    const v = array(f32, [n]).block([64], [g.i]);
    return blockProgram({ grid: g, inputs: { x: v }, outputs: { z: v } }, ({ x, z }) => z.store(x.load()));
  });
  const places = placesOf(k.trace().kernel);
  const at = (name: string): string => places.find((p) => p.startsWith(`${name} `))!.split(' ')[1]!;
  const [file, line] = at('for').split(':');
  expect(file).toBe('frontend-locations.test.ts');
  expect(at('for')).toBe(at('yield'));
  // The grid stands one line above the block whose offsets are multiplied, and two above the body.
  expect(Number(at('mul').split(':')[1])).toBe(Number(line) + 1);
  expect(Number(at('load').split(':')[1])).toBe(Number(line) + 2);
});
