/**
 * Many seeded trials of one property. Trial `i` of a seed is always the same, so that a run of hours can begin again where
 * it ended: TILEWRIGHT_SEED chooses the seed, TILEWRIGHT_RUNS how many trials, TILEWRIGHT_FROM which of them is the first.
 */

import { nd } from '../../src/testing/index.js';

export const seed = Number(process.env.TILEWRIGHT_SEED ?? 20261201);
const wanted = Number(process.env.TILEWRIGHT_RUNS ?? 150);
const first = Number(process.env.TILEWRIGHT_FROM ?? 0);
/** Long runs tell how far they are. */
const isLong = wanted >= 2000;

/** What a random kernel is made of: short to print, and shrunk by taking steps away. */
export interface Recipe {
  readonly seed: number;
  readonly steps: number;
}

export interface Trials {
  /** What holds, for progress and failures. */
  readonly property: string;
  /** Steps of the largest kernels. */
  readonly steps: number;
  /** Of so many trials one is made: in a short run, and in a long one. */
  readonly oneOf?: number;
  readonly oneOfLong?: number;
  /** So many kernels are checked together. */
  readonly batch?: number;
  /** So many batches are under way at a time, where checking waits for other processes. */
  readonly lanes?: number;
  /** The kernel's text, for the message. */
  readonly show: (recipe: Recipe) => string;
}

function recipeAt(index: number, mostSteps: number): Recipe {
  const next = nd.words((seed + Math.imul(index, 0x9e3779b9)) >>> 0);
  return { seed: next() >>> 1, steps: 1 + (next() % mostSteps) };
}

type Check = (recipes: readonly Recipe[]) => void | Promise<void>;

async function failureOf(check: Check, recipes: readonly Recipe[]): Promise<Error | undefined> {
  try {
    await check(recipes);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The first of the recipes that fails alone, with as few steps as still fail. */
async function smallest(
  check: Check,
  recipes: readonly Recipe[],
): Promise<readonly [Recipe, Recipe, Error] | undefined> {
  for (const recipe of recipes)
    if (await failureOf(check, [recipe]))
      for (let steps = 1; steps <= recipe.steps; steps++) {
        const shrunk = { ...recipe, steps };
        const error = await failureOf(check, [shrunk]);
        if (error) return [recipe, shrunk, error];
      }
  return undefined;
}

const named = (r: Recipe): string => `seed ${r.seed}, ${r.steps} steps`;

/** What is wrong with a batch: the smallest kernel that fails, and how to begin there again. */
async function report({ property, show }: Trials, check: Check, recipes: readonly Recipe[], error: Error, at: string) {
  const found = await smallest(check, recipes);
  if (!found)
    return new Error(`${property}: fails, but none of them alone: ${recipes.map(named).join('; ')} (${at})`, {
      cause: error,
    });
  const [recipe, shrunk, cause] = found;
  const what = `${property}: not so of ${named(shrunk)} (shrunk from ${recipe.steps} steps; ${at})`;
  return new Error(`${what}\n${cause.message}\n${show(shrunk)}`, { cause });
}

/** Runs `check` on random recipes; throws what is wrong with the first batch that fails. */
export async function forTrials(trials: Trials, check: Check): Promise<void> {
  const { property, steps, oneOf = 1, oneOfLong = 1, batch = 1, lanes = 1 } = trials;
  const share = isLong ? oneOfLong : oneOf;
  const count = Math.ceil(wanted / share);
  const begin = Math.floor(first / share);
  let [next, done, told] = [begin, begin, begin];
  let failure: Error | undefined;
  const lane = async (): Promise<void> => {
    while (next < count && !failure) {
      const at = next;
      next += batch;
      const recipes = Array.from({ length: Math.min(batch, count - at) }, (_, i) => recipeAt(at + i, steps));
      const error = await failureOf(check, recipes);
      if (error)
        failure ??= await report(
          trials,
          check,
          recipes,
          error,
          `TILEWRIGHT_SEED=${seed} TILEWRIGHT_FROM=${at * share} TILEWRIGHT_RUNS=${wanted}`,
        );
      done += recipes.length;
      if (isLong && (done - told >= 500 || done >= count)) {
        told = done;
        process.stderr.write(`${property}: ${done} of ${count}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (failure) throw failure;
}
