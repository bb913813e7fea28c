import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { inFolder, tilewright } from '../support/cli.js';
import { describeTool } from '../support/tools.js';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const run = (target: string, ...more: string[]) =>
  tilewright(
    [
      'run',
      'examples/vector-add.kernel.ts',
      '--target',
      target,
      '--input',
      'n=1000',
      '--input',
      'x=random:1',
      '--input',
      'y=random:2',
      ...more,
    ],
    { cwd },
  );

describeTool('triton', 'run on a simulated device', () => {
  test.each(['sim:sm_90', 'sim:gfx942'])('%s gives what the interpreter gives', async (target) => {
    const [simulated, interpreted] = [await run(target), await run('interpret')];
    expect(simulated).toMatchObject({ code: 0, stderr: '' });
    expect(simulated.stdout).toMatch(/^z: f32\[1000\] = /);
    expect(simulated.stdout).toBe(interpreted.stdout);
  });

  test.each(['sm_80', 'gfx942'])('%s profiles the code, as text and as a file', (target) =>
    inFolder(async (folder) => {
      const { code, stderr } = await run(`sim:${target}`, '--profile');
      expect(code).toBe(0);
      expect(stderr).toMatch(/^vector_add\n\d+ instructions of warps/);
      expect(stderr).toMatch(target === 'sm_80' ? /^global +96 +8000 B +4000 B/m : /^global +\d+ +8\d{3} B +4000 B/m);
      expect(stderr).toMatch(/^vector-add\.kernel\.ts:\d+ +\d+ +\d+\.\d %/m);
      const file = join(folder, 'profile.json');
      expect(await run(`sim:${target}`, `--profile=${file}`)).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
        target,
        launches: [{ launch: 'vector_add', memory: { global: { writtenBytes: 4000 } } }],
      });
    }),
  );

  test.each([
    ['sim:sm_80', 'PTX'],
    ['sim:gfx1100', 'assembly'],
  ])('%s stops at --max-steps, at the line of the kernel', async (target, language) => {
    const { code, stderr } = await run(target, '--max-steps', '10');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /error\[TW6007\]: stopped after 10 instructions\n +--> examples\/vector-add\.kernel\.ts:\d+/,
    );
    expect(stderr).toMatch(new RegExp(`note: line \\d+ of the ${language}: `));
  });
});

describe('a simulated device', () => {
  test('that does not exist, or cannot be timed', async () => {
    expect(await run('sim:cpu')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("unknown target 'sim:cpu'"),
    });
    expect(await run('interpret', '--profile')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a simulated target, as sim:sm_90a'),
    });
    expect(await run('sim:sm_80', '--time', '3')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a target that is not simulated'),
    });
  });
});
