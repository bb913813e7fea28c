/** Tokens of `.kir` text. */

export interface Position {
  readonly line: number;
  readonly col: number;
}

export type Token = Position & { readonly text: string } & (
    | { readonly kind: 'word' | 'value' | 'symbol' | 'punctuation' | 'end' }
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'number'; readonly value: number }
    | { readonly kind: 'bigint'; readonly value: bigint }
  );

export class LexicalError extends Error {
  constructor(
    message: string,
    readonly at: Position,
  ) {
    super(message);
  }
}

const patterns: readonly (readonly [RegExp, (text: string) => Partial<Token> | undefined])[] = [
  [/(?:\s+|\/\/[^\n]*)+/y, () => undefined],
  [/-?(?:\d+\.\d*|\d+)(?:[eE][+-]?\d+)?(?![\w.])/y, (text) => ({ kind: 'number', value: Number(text) })],
  [/-?\d+n(?!\w)/y, (text) => ({ kind: 'bigint', value: BigInt(text.slice(0, -1)) })],
  [/-inf(?!\w)/y, () => ({ kind: 'word' })],
  [/[A-Za-z_]\w*/y, () => ({ kind: 'word' })],
  [/%(?:\w+|"(?:[^"\\\n]|\\.)*")/y, () => ({ kind: 'value' })],
  [/@(?:[A-Za-z_]\w*|"(?:[^"\\\n]|\\.)*")/y, () => ({ kind: 'symbol' })],
  [/"(?:[^"\\\n]|\\.)*"/y, (text) => ({ kind: 'string', value: unquote(text) })],
  [/[()[\]{}<>:,=+*-]/y, () => ({ kind: 'punctuation' })],
];

/** Undoes JSON quoting; undefined where the text is not a JSON string. */
export function tryUnquote(text: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'string' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const unquote = (text: string): string => {
  const parsed = tryUnquote(text);
  if (parsed === undefined) throw new SyntaxError(`bad escape in ${text}`);
  return parsed;
};

/** All tokens of `source`, ending with one of kind 'end'. Throws LexicalError on a character that starts none. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < source.length; ) {
    const position = { line, col: at - lineStart + 1 };
    const before = at;
    for (const [pattern, make] of patterns) {
      pattern.lastIndex = at;
      const text = pattern.exec(source)?.[0];
      if (!text) continue;
      at += text.length;
      let token: Partial<Token> | undefined;
      try {
        token = make(text);
      } catch (error) {
        throw new LexicalError((error as Error).message, position);
      }
      if (token) tokens.push({ ...position, text, ...token } as Token);
      else {
        for (
          let newline = source.indexOf('\n', before);
          newline >= 0 && newline < at;
          newline = source.indexOf('\n', newline + 1)
        ) {
          line++;
          lineStart = newline + 1;
        }
      }
      break;
    }
    if (at === before) throw new LexicalError(`unexpected character ${JSON.stringify(source[at])}`, position);
  }
  tokens.push({ kind: 'end', text: 'end of file', line, col: source.length - lineStart + 1 });
  return tokens;
}
