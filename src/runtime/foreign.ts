/** Calling C: the one place that touches the foreign-function package, which only those who launch from Node install. */

import { LaunchError } from './error.js';

/** What a C function may be called with: numbers, addresses, and typed arrays by their address. */
export type ForeignValue = number | bigint | string | ArrayBufferView | null;
export type ForeignFunction = (...args: readonly ForeignValue[]) => unknown;

export interface ForeignLibrary {
  /** @param types of the result and then of each parameter, as C writes them. */
  function(name: string, result: string, parameters: readonly string[]): ForeignFunction;
}

interface Koffi {
  load(path: string): { func(name: string, result: string, parameters: readonly string[]): ForeignFunction };
}

/** Not by a literal: whoever has no use for it compiles and bundles without it. */
const packageName: string = 'koffi';
let loaded: Promise<Koffi> | undefined;

async function koffi(): Promise<Koffi> {
  loaded ??= import(packageName).then((m: { default: Koffi }) => m.default);
  try {
    return await loaded;
  } catch {
    loaded = undefined;
    throw new LaunchError(
      'no-ffi',
      'tilewright/runtime calls C through the package koffi, which is not installed: npm install koffi',
    );
  }
}

/** Opens a shared library; the first of several that there is. */
export async function openLibrary(paths: readonly string[], status: LaunchError['status']): Promise<ForeignLibrary> {
  const { load } = await koffi();
  const causes: string[] = [];
  for (const path of paths) {
    try {
      const library = load(path);
      return {
        function(name, result, parameters) {
          try {
            return library.func(name, result, parameters);
          } catch {
            throw new LaunchError('bad-driver', `${path} lacks ${name}`);
          }
        },
      };
    } catch (error) {
      causes.push(`${path}: ${(error as Error).message}`);
    }
  }
  throw new LaunchError(status, causes.join('; '));
}
