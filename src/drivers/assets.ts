import { fileURLToPath } from 'node:url';

/** Path of a file that the package ships beside its code: `assetPath('workers/cpu-runner.c')`. */
export function assetPath(relative: string): string {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}
