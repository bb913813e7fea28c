/** For tests of kernels: seeded arrays and comparison within tolerances. Works in jest, vitest and node:test alike. */

export * as nd from '../api/arrays.js';
export { expectClose, type Tolerance, toleranceOf } from '../api/compare.js';
export type { OracleCall, OracleCases } from './oracle-cases.js';
