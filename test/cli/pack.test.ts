import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { example, inFolder, tilewright } from '../support/cli.js';
import { FakeDrivers } from '../support/fake-drivers.js';
import { describeTool } from '../support/tools.js';

let fakes: FakeDrivers;
beforeAll(() => {
  fakes = new FakeDrivers();
});
afterAll(() => fakes.close());

const report = resolve(import.meta.dirname, '../../scripts/gpu-report.js');
const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

describeTool('triton', 'tilewright pack', () => {
  test('a bundle runs on the CPU without anything of ours, tells what is wrong, and is reported', () =>
    inFolder(async (cwd) => {
      const args = ['pack', example('vector-add'), example('layer-norm'), '--target', 'sm_80,gfx942'];
      const { code, stderr } = await tilewright([...args, '--input', 'eps=1e-5', '--input', 'm=9', '-o', 'bundle'], {
        cwd,
      });
      expect([code, stderr]).toEqual([0, expect.stringMatching(/run it with bundle\/run\.sh cuda, hip or cpu\n$/)]);
      const bundle = join(cwd, 'bundle');
      expect(readdirSync(bundle).sort()).toEqual(['bench.py', 'layer_norm', 'run.sh', 'vector_add']);
      expect(readdirSync(join(bundle, 'vector_add')).sort()).toEqual([
        'arguments',
        'case.json',
        'expected',
        'vector_add.cpu.plan.json',
        'vector_add.cpu.so',
        'vector_add.exe',
        'vector_add.gfx942.hsaco',
        'vector_add.gfx942.plan.json',
        'vector_add.sm_80.cubin',
        'vector_add.sm_80.plan.json',
        'x.npy',
        'y.npy',
      ]);
      expect(json(join(bundle, 'layer_norm/case.json'))).toMatchObject({
        kernel: 'layer_norm',
        targets: ['cpu', 'sm_80', 'gfx942'],
        scalars: { eps: 1e-5 },
        dims: { m: 9, n: 328 },
      });
      const run = (device: string, env = {}) =>
        spawnSync(join(bundle, 'run.sh'), [device, '3'], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin', ...env } });
      const cpu = run('cpu');
      expect([cpu.status, cpu.stdout.trim().split('\n').at(-1)]).toEqual([0, '2 passed, 0 failed']);
      const { rows } = json(join(bundle, 'results.json'));
      expect(rows.map((r: { kernel: string; device: string; pass: boolean }) => [r.kernel, r.device, r.pass])).toEqual([
        ['layer_norm', 'cpu', true],
        ['vector_add', 'cpu', true],
      ]);
      // The recording driver leaves zeros: that is found, and said by the name of the device.
      const fake = run('cuda', { TILEWRIGHT_CUDA_LIB: fakes.cuda, FAKE_SM: '80' });
      expect([fake.status, fake.stdout.trim().split('\n').at(-1)]).toEqual([1, '0 passed, 2 failed']);
      expect(json(join(bundle, 'results.json')).rows[1]).toMatchObject({
        name: 'Fake sm_80',
        pass: false,
        nanoseconds: 500000,
      });
      const none = run('hip', { TILEWRIGHT_HIP_LIB: '/nonexistent/libamdhip64.so' });
      expect(none.status).toBe(1);
      expect(none.stdout).toMatch(/HIP runtime not found/);

      const result = {
        kernel: 'vector_add',
        device: 'cuda',
        name: 'Some GPU',
        pass: true,
        maxError: 0,
        nanoseconds: 2000,
        bytes: 8000,
        flops: 0,
      };
      writeFileSync(join(bundle, 'results.json'), JSON.stringify({ rows: [result] }));
      const sims = { rows: [{ name: 'layer_norm', backend: 'sim:sm_80', pass: true }] };
      writeFileSync(join(cwd, 'sims.json'), JSON.stringify(sims));
      writeFileSync(join(cwd, 'page.md'), '# Speed\n\nText.\n');
      const write = () =>
        execFileSync(process.execPath, [
          report,
          bundle,
          '--simulated',
          join(cwd, 'sims.json'),
          '--out',
          join(cwd, 'page.md'),
        ]);
      write();
      const page = readFileSync(join(cwd, 'page.md'), 'utf8');
      expect(page).toMatch(/^# Speed\n\nText\.\n\n<!-- gpu/);
      expect(page).toContain('| layer_norm | m = 9, n = 328 | sm_80, gfx942 | sm_80 |  |\n');
      expect(page).toContain(
        '| vector_add | n = 50003 | sm_80, gfx942 |  | Some GPU: right (largest error 0), 0.002 ms, 4.0 GB/s |\n',
      );
      write();
      expect(readFileSync(join(cwd, 'page.md'), 'utf8')).toBe(page);
    }));

  test('what is no bundle', () =>
    inFolder(async (cwd) => {
      const missing = await tilewright(['pack', example('vector-add'), '--target', 'sm_80'], { cwd });
      expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/expected a folder/)]);
      const twice = await tilewright(['pack', example('softmax'), example('softmax'), '--target', 'sm_80', '-o', 'b'], {
        cwd,
      });
      expect(twice.code).toBe(2);
    }));
});
