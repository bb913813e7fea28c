import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { outcomeOf, startCli } from '../support/built-cli.js';
import { inFolder, tilewright } from '../support/cli.js';
import { childrenOf, commandOf } from '../support/processes.js';
import { describeTool } from '../support/tools.js';

const scale = readFileSync(fileURLToPath(new URL('../support/ttir/scale.ttir', import.meta.url)), 'utf8');

/** Runs `work` in a folder that holds scale.ttir. */
const withStage = (work: (cwd: string) => Promise<void>): Promise<void> =>
  inFolder((cwd) => {
    writeFileSync(join(cwd, 'scale.ttir'), scale);
    return work(cwd);
  });

describeTool('triton', 'build for GPUs', () => {
  const five = 'sm_80,sm_90,sm_100,gfx942,gfx1100';

  test('several targets in one call; the second time from the cache, the same bytes', () =>
    withStage(async (cwd) => {
      const cache = ['--cache-dir', join(cwd, 'cache')];
      const first = await tilewright(['build', 'scale.ttir', '--target', five, '-o', 'a/', ...cache], { cwd });
      expect(first.code).toBe(0);
      const names = ['sm_80.cubin', 'sm_90a.cubin', 'sm_100a.cubin', 'gfx942.hsaco', 'gfx1100.hsaco'];
      expect(readdirSync(join(cwd, 'a')).sort()).toEqual(names.map((n) => `scale.${n}`).sort());
      expect(first.stderr).toMatch(
        /^a\/scale\.sm_90a\.cubin {2}[\d.]+ k?B {2}\d+ ms {2}\d+ registers, no spills, 0 B shared memory, 128 threads, \d+ programs per SM/m,
      );
      expect(first.stderr).toMatch(/^a\/scale\.gfx942\.hsaco .* 256 threads, \d+ programs per CU/m);
      const second = await tilewright(['build', 'scale.ttir', '--target', five, '-o', 'b/', ...cache], { cwd });
      expect(second.stderr.match(/cache hit/g)).toHaveLength(5);
      for (const n of names)
        expect(readFileSync(join(cwd, 'b', `scale.${n}`))).toEqual(readFileSync(join(cwd, 'a', `scale.${n}`)));
    }));

  test('stages by name, by -o, and on from one', () =>
    withStage(async (cwd) => {
      const all = await tilewright(
        ['build', 'scale.ttir', '--target', 'sm_90', '--emit=ttgir,llir,ptx,cubin', '-o', 'o/'],
        { cwd },
      );
      expect(all.code).toBe(0);
      const image = readFileSync(join(cwd, 'o/scale.sm_90a.cubin'));
      for (const stage of ['ttgir', 'llir', 'ptx']) {
        const on = await tilewright(['build', `o/scale.sm_90a.${stage}`, '--target', 'sm_90', '-o', 'on.cubin'], {
          cwd,
        });
        expect([stage, on.code]).toEqual([stage, 0]);
        if (stage !== 'ttgir') expect(readFileSync(join(cwd, 'on.cubin'))).toEqual(image);
      }
    }));

  test('options change the code, and are part of the key', () =>
    withStage(async (cwd) => {
      for (const warps of [2, 8]) {
        const args = [
          'build',
          'scale.ttir',
          '--target',
          'sm_80',
          '-Xtriton',
          `num_warps=${warps}`,
          '-o',
          `${warps}.ptx`,
        ];
        expect((await tilewright(args, { cwd })).code).toBe(0);
        expect(readFileSync(join(cwd, `${warps}.ptx`), 'utf8')).toContain(`.reqntid ${32 * warps}`);
      }
    }));

  test('the commands of a build do the same by themselves', () =>
    withStage(async (cwd) => {
      const { stdout } = await tilewright(['build', 'scale.ttir', '--target', 'sm_90', '-###'], { cwd });
      expect(readdirSync(cwd)).toEqual(['scale.ttir']);
      const [worker, assembler] = stdout.trim().split('\n');
      expect(worker).toMatch(
        /python -I \S+triton-worker\.py --job '\{"folder":"\.","from":"ttir","until":"ptx","backend":"cuda","arch":90,/,
      );
      expect(assembler).toMatch(
        /ptxas-blackwell -v -lineinfo --fmad=false .*--gpu-name=sm_90a kernel\.ptx -o kernel\.cubin$/,
      );
    }));

  test('what is wrong is told with a way out', () =>
    withStage(async (cwd) => {
      const cases = [
        [
          ['--target', 'gfx941'],
          "TW2002]: unknown target 'gfx941'; known are cpu, cpu:native, sm_80, ",
          "did you mean 'gfx942'?",
        ],
        [
          ['--target', 'sm_80', '-Xtriton', 'num_warp=8'],
          "TW2010]: back end triton has no option 'num_warp'",
          "'num_warps'?",
        ],
        [
          ['--target', 'sm_80', '--emit=hsaco'],
          "TW2004]: target 'sm_80' has no stage 'hsaco'",
          'stages of this target: kir',
        ],
        [['--target', 'sm_80', '--emit=cubn'], "TW2004]: target 'sm_80' has no stage 'cubn'", "did you mean 'cubin'?"],
      ] as const;
      for (const [args, message, help] of cases) {
        const { code, stderr } = await tilewright(['build', 'scale.ttir', ...args], { cwd });
        expect(code).toBe(1);
        expect(stderr).toContain(message);
        expect(stderr).toContain(help);
      }
    }));

  test("an error of the compiler is told at the user's line, and can be reproduced", () =>
    inFolder(async (cwd) => {
      const bad =
        'module {\n  tt.func public @f() {\n    %0 = tt.get_program_id w : i32 loc("k.kernel.ts":2:7)\n    tt.return\n  }\n}\n';
      writeFileSync(join(cwd, 'f.ttir'), bad);
      writeFileSync(join(cwd, 'k.kernel.ts'), 'one\nconst id = g.i;\n');
      const env = { TILEWRIGHT_CACHE_DIR: join(cwd, 'cache'), HOME: process.env.HOME! };
      const python = process.env.HOME && (await tilewright(['toolchain', 'path', 'triton:python'])).stdout.trim();
      const { code, stderr } = await tilewright(
        ['build', 'f.ttir', '--target', 'gfx942', '--python', `triton=${python}`],
        { cwd, env },
      );
      expect(code).toBe(3);
      expect(stderr).toMatch(/error\[TW3001\]: triton failed in stage 'ttir': .*\n +--> k\.kernel\.ts:2:7\n/);
      const [, again] = /to reproduce it: tilewright (build .*)/.exec(stderr)!;
      const second = await tilewright(
        [
          ...[...again!.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word),
          '--python',
          `triton=${python}`,
        ],
        { cwd, env },
      );
      expect(second.stderr).toContain("triton failed in stage 'ttir'");
    }));
});

describeTool('triton', 'a build that is stopped', () => {
  test.each(['SIGINT', 'SIGKILL'] as const)('by %s leaves no process', (signal) =>
    inFolder(async (cwd) => {
      const tiles = 'tensor<512x512x!tt.ptr<f32>>';
      const lines = [
        `%a = tt.splat %p : !tt.ptr<f32> -> ${tiles}`,
        `%v = tt.load %a : ${tiles}`,
        '%t = tt.trans %v {order = array<i32: 1, 0>} : tensor<512x512xf32> -> tensor<512x512xf32>',
        `tt.store %a, %t : ${tiles}`,
        'tt.return',
      ];
      writeFileSync(
        join(cwd, 'huge.ttir'),
        `module { tt.func public @huge(%p: !tt.ptr<f32>) {\n${lines.join('\n')}\n} }`,
      );
      // One that cannot clean up leaves its temporary files; they go with the folder.
      mkdirSync(join(cwd, 'tmp'));
      const env = { TMPDIR: join(cwd, 'tmp') };
      const child = startCli(['build', 'huge.ttir', '--target', 'sm_90,gfx942', '--no-cache'], { cwd, env });
      const ended = outcomeOf(child);
      let worker: number | undefined;
      await until(() => {
        worker = childrenOf(child.pid!).find((p) => commandOf(p).includes('triton-worker.py'));
        return worker !== undefined && childrenOf(worker).length === 2;
      });
      const pids = [worker!, ...childrenOf(worker!)];
      child.kill(signal);
      expect((await ended).signal).toBe(signal);
      await until(() => pids.every((p) => commandOf(p) === ''));
      expect(readdirSync(cwd)).toEqual(['huge.ttir', 'tmp']);
      if (signal === 'SIGINT') expect(readdirSync(join(cwd, 'tmp'))).toEqual([]);
    }),
  );

  async function until(condition: () => boolean): Promise<void> {
    for (let i = 0; i < 500 && !condition(); i++) await new Promise((done) => setTimeout(done, 20));
    expect(condition()).toBe(true);
  }
});

describe('build for GPUs without Triton', () => {
  test('says how to get it', () =>
    withStage(async (cwd) => {
      const env = { TILEWRIGHT_CACHE_DIR: join(cwd, 'cache') };
      const { code, stderr } = await tilewright(['build', 'scale.ttir', '--target', 'gfx942'], { cwd, env });
      expect(code).toBe(3);
      expect(stderr).toContain('error[TW3002]: triton was not found\nhelp: run: tilewright toolchain install triton');
    }));
});
