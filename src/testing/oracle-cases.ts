/** How a kernel of the library says which of the oracle's results are its own. */

/** One call as the oracle states it. */
export interface OracleCall {
  /** Element type of the call's arrays, or `tf32`: f32 whose products may be rounded. */
  readonly dtype: string;
  /** Shapes of the arrays, inputs and outputs, by name. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Values of the scalars by name. */
  readonly scalars: Readonly<Record<string, number>>;
}

/** What a kernel exports beside itself as `cases`. */
export interface OracleCases {
  /** The kernel's number in the corpus. */
  readonly id: number;
  /** Parameters, as `-D` takes them, and the dims that no input's shape tells. */
  readonly settings: (call: OracleCall) => {
    readonly params: Readonly<Record<string, string>>;
    readonly dims?: Readonly<Record<string, number>>;
  };
}
