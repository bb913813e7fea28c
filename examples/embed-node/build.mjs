// Builds what main.mjs loads: `node build.mjs`. Only this step needs compilers.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [out = 'build', ...program] = process.argv.slice(2);
const [command, ...first] = program.length > 0 ? program : ['npx', 'tilewright'];
const kernel = fileURLToPath(new URL('../vector-add.kernel.ts', import.meta.url));
const targets = process.env.TARGETS ?? 'cpu,sm_80,sm_90,gfx942';
execFileSync(command, [...first, 'build', kernel, '--target', targets, '--emit', 'so,plan.json', '-o', `${out}/`], {
  stdio: 'inherit',
});
