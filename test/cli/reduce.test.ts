import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { programPath } from '../support/built-cli.js';
import { inFolder, tilewright } from '../support/cli.js';

const kernel = `kernel @other {
  out %z: ref<gmem i32[1]>
  launch @other grid() {
    %0 = constant {value = 0} : i32
    %1 = reshape %0 : i32[1]
    store %z, %1 index(%0)
  }
}
kernel @wrong {
  dim n
  in %x: ref<gmem f32[n]>
  in %unused: ref<gmem f32[n]>
  out %y: ref<gmem f32[n]>
  scalar %k: i32
  launch @wrong grid(i = cdiv(n, 8)) {
    %0 = constant {value = 8} : i32
    %1 = program_id {axis = "i"} : i32
    %2 = mul %1, %0 : i32
    %3 = dim {name = "n"} : i32
    %4 = sub %3, %2 : i32
    %5 = load %x index(%2) valid(%4) : f32[8]
    %6 = exp %5 : f32[8]
    %7 = constant {value = 0} : i32
    %8 = lt %k, %7 : bool
    %9 = if %8 : f32[8] () {
      %10 = mul %6, %6 : f32[8]
      yield values(%10)
    } () {
      %11 = log %6 : f32[8]
      yield values(%11)
    }
    assert %8 {message = "this is what fails"}
    store %y, %9 index(%2) valid(%4)
  }
}
`;

const failing = [process.execPath, programPath, 'run', 'k.kir', '-k', 'wrong', '--target', 'interpret'].concat(
  ['--input', 'k=1', '--input', 'n=8'],
  ['--input', 'x=random:1', '--input', 'unused=random:2'],
);

describe('tilewright reduce', () => {
  test('leaves what makes a command fail, and nothing else that can go', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'k.kir'), kernel);
      const script = 'grep -q "what fails" "$1" && exit 7';
      const { code, stderr } = await tilewright(['reduce', 'k.kir', '--', 'sh', '-c', script, 'sh', 'k.kir'], { cwd });
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('k.reduced.kir') });
      const text = readFileSync(join(cwd, 'k.reduced.kir'), 'utf8').replaceAll(/ loc\(.*\)$/gm, '');
      expect(text).not.toMatch(/@other|load|store|exp|if |%x|dim n/);
      expect(text).toMatch(/assert %\w+ \{message = "this is what fails"\}/);
      expect(text.split('\n').length).toBeLessThan(9);
    }));

  test('keeps the symptom: another failure is another bug', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'k.kir'), kernel);
      const { code, stderr } = await tilewright(['reduce', 'k.kir', '-o', 'small.kir', '--', ...failing], { cwd });
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('the command fails (1 TW5005)'),
      });
      const text = readFileSync(join(cwd, 'small.kir'), 'utf8');
      expect(text).toContain('assert');
      expect(text).not.toMatch(/@other|exp |store /);
    }));

  test('says what it needs', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'k.kir'), kernel);
      expect(await tilewright(['reduce', 'k.kir', '--', 'true', 'k.kir'], { cwd })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('error[TW4017]: `true k.kir` does not fail'),
      });
      expect(await tilewright(['reduce', 'k.kir', '--', 'false'], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('a command that names k.kir'),
      });
      expect(existsSync(join(cwd, 'k.reduced.kir'))).toBe(false);
    }));
});
