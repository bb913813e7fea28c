import { irCodes } from '../diagnostics/codes/ir.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { type FileLoc, fileLoc } from '../diagnostics/location.js';
import { type Token, tokenize, tryUnquote } from './lexer.js';

/** Ends parsing at the first place that breaks the grammar; caught where parsing began. */
export class ParseFailure extends Error {
  constructor(readonly diagnostic: Diagnostic) {
    super(diagnostic.message);
  }
}

/** Reads tokens of one `.kir` file in order. */
export class TokenReader {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(
    source: string,
    private readonly file: string,
  ) {
    this.tokens = tokenize(source);
  }

  get token(): Token {
    return this.tokens[this.at]!;
  }

  get loc(): FileLoc {
    return fileLoc(this.file, this.token.line, this.token.col);
  }

  fail(expected: string): never {
    const { kind, text } = this.token;
    throw new ParseFailure(irCodes.syntax({ expected, got: kind === 'end' ? text : `'${text}'` }, { loc: this.loc }));
  }

  advance(): Token {
    const { token } = this;
    if (token.kind !== 'end') this.at++;
    return token;
  }

  /** Whether the current token is this word or punctuation. */
  is(text: string): boolean {
    return this.token.text === text && (this.token.kind === 'word' || this.token.kind === 'punctuation');
  }

  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.advance();
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) this.fail(`'${text}'`);
  }

  word(what: string): string {
    return this.token.kind === 'word' ? this.advance().text : this.fail(what);
  }

  /** A bare or quoted name. */
  identifier(what: string): string {
    const { token } = this;
    if (token.kind === 'string') {
      this.advance();
      return token.value;
    }
    return this.word(what);
  }

  /** A name behind `@` or `%`, unquoted. */
  private sigiled(kind: 'symbol' | 'value', what: string): string {
    if (this.token.kind !== kind) this.fail(what);
    const name = this.token.text.slice(1);
    const plain = name.startsWith('"') ? tryUnquote(name) : name;
    if (plain === undefined) this.fail(what);
    this.advance();
    return plain;
  }

  symbol(what: string): string {
    return this.sigiled('symbol', what);
  }

  /** The name of a value, without `%`. */
  valueName(): string {
    return this.sigiled('value', 'a value (%name)');
  }

  integer(what: string): number {
    const { token } = this;
    if (token.kind !== 'number' || !Number.isSafeInteger(token.value)) this.fail(what);
    this.advance();
    return token.value;
  }

  string(what: string): string {
    const { token } = this;
    if (token.kind !== 'string') this.fail(what);
    this.advance();
    return token.value;
  }

  /** `open item, item close`; the opening bracket has been read. */
  list<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    if (this.accept(close)) return items;
    do items.push(item());
    while (this.accept(','));
    this.expect(close);
    return items;
  }
}
