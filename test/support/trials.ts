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
  readonly steps: number;
  /** Of so many trials of a short run one is made; a long run makes them all. */
  readonly oneOf?: number;
  /** So many are checked at once. */
  readonly batch?: number;
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

/** Runs `check` on random recipes; throws with the smallest that fails and how to begin there again. */
export async function forTrials(trials: Trials, check: Check): Promise<void> {
  const { property, steps, oneOf = 1, batch = 1, show } = trials;
  const count = isLong ? wanted : Math.ceil(wanted / oneOf);
  let told = first;
  for (let at = first; at < count; at += batch) {
    const recipes = Array.from({ length: Math.min(batch, count - at) }, (_, i) => recipeAt(at + i, steps));
    const error = await failureOf(check, recipes);
    if (error) {
      const found = await smallest(check, recipes);
      const where = `TILEWRIGHT_SEED=${seed} TILEWRIGHT_FROM=${at} TILEWRIGHT_RUNS=${count}`;
      if (!found)
        throw new Error(`${property}: fails, but none of them alone: ${recipes.map(named).join('; ')} (${where})`, {
          cause: error,
        });
      const [recipe, shrunk, cause] = found;
      throw new Error(
        `${property}: not so of ${named(shrunk)} (shrunk from ${recipe.steps} steps; ${where})\n${cause.message}\n${show(shrunk)}`,
        { cause },
      );
    }
    if (isLong && (at + batch - told >= 1000 || at + batch >= count)) {
      told = at + batch;
      process.stderr.write(`${property}: ${Math.min(told, count)} of ${count}\n`);
    }
  }
}
