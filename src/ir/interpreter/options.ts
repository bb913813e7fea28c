/** What a run of the interpreter is given. */

import type { CheckName } from '../sanitizer/checks.js';
import type { Buffer } from './memory.js';

/** The arguments of one call, each in its final shape. */
export interface InterpreterArguments {
  readonly dims: ReadonlyMap<string, number>;
  readonly scalars: ReadonlyMap<string, number | bigint>;
  readonly arrays: ReadonlyMap<string, Omit<Buffer, 'name'>>;
}

/** What a run is asked to look for, and how it goes. */
export interface InterpretOptions {
  /** Ops that one program may execute. Default 100 million. */
  readonly maxSteps?: number;
  /** Programs that a launch may have. Default 4 million. */
  readonly maxPrograms?: number;
  /** Asked between programs; true ends the run by its own means (an abort signal, say). */
  readonly cancelled?: () => boolean;
  /** Takes the lines of `debug_print` and of `show`; the console by default. */
  readonly print?: (line: string) => void;
  /** Told between programs how far a launch is. */
  readonly progress?: (done: number, programs: number) => void;
  /** Checks that are on: all, or some by name. None by default. */
  readonly sanitize?: boolean | readonly CheckName[];
  /** Report the first NaN or infinity that an op makes. */
  readonly trapNaN?: boolean;
  /**
   * Programs start in an order drawn from this seed and take turns at single ops. Without it they run one after the
   * other, the last grid axis fastest.
   */
  readonly seed?: number;
  /** Values to print whenever they are computed: their names in the source, or `FILE:LINE`. */
  readonly show?: readonly string[];
}
