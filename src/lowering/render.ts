/** The one place that renders templates: MLIR here, launchers and build files by their own views. */

import { readFileSync } from 'node:fs';
import Handlebars from 'handlebars';
import { InternalError } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { type MlirOp, type MlirRegion, type MlirValue, mlirLoc } from './mlir.js';

const environment = Handlebars.create();
const templates = new Map<string, Handlebars.TemplateDelegate>();
const compileOptions = { noEscape: true, strict: true, knownHelpersOnly: true, preventIndent: true, data: false };

/** A template by its path below `templates/`, without `.hbs`. */
function template(name: string): Handlebars.TemplateDelegate {
  let found = templates.get(name);
  if (!found) {
    const text = readFileSync(new URL(`../../templates/${name}.hbs`, import.meta.url), 'utf8');
    found = environment.compile(text, compileOptions);
    templates.set(name, found);
  }
  return found;
}

/** What a template sees: text, lists and records of text. A leaf that is missing is a bug of ours, never an empty string. */
export type View = string | boolean | readonly View[] | { readonly [key: string]: View };

function checkLeaves(view: unknown, name: string, path: string): void {
  if (view === null || view === undefined) throw new InternalError(`template '${name}' got nothing for '${path}'`);
  if (typeof view === 'object')
    for (const [key, inner] of Object.entries(view)) checkLeaves(inner, name, path ? `${path}.${key}` : key);
}

/** Renders `templates/NAME.hbs` with a view all of whose leaves are text. */
export function render(name: string, view: View): string {
  checkLeaves(view, name, '');
  return template(name)(view);
}

interface OpView {
  readonly indent: string;
  readonly results: string;
  readonly name: string;
  readonly operands: string;
  readonly properties: string;
  readonly regions: readonly RegionView[] | false;
  readonly attributes: string;
  readonly type: string;
  readonly loc: string;
}

interface RegionView {
  readonly separator: string;
  readonly header: string;
  readonly ops: readonly OpView[];
  readonly close: string;
}

export interface MlirPrintOptions {
  /** Write a location behind every op (the default). */
  readonly locs?: boolean;
}

const dictionary = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key} = ${value}`)
    .join(', ');

/** Prints a module in MLIR's generic form. */
export function renderMlir(module: MlirOp, { locs = true }: MlirPrintOptions = {}): string {
  for (const part of ['op', 'region'])
    if (!environment.partials[part]) environment.registerPartial(part, template(`mlir/${part}`));
  const names = new Map<MlirValue, string>();
  const name = (v: MlirValue): string => {
    let found = names.get(v);
    if (!found) {
      found = `%${names.size}`;
      names.set(v, found);
    }
    return found;
  };
  const locTexts = new Map<Loc, string>();
  const locOf = (loc: Loc): string => {
    let text = locTexts.get(loc);
    if (text === undefined) {
      text = ` loc(${mlirLoc(loc)})`;
      locTexts.set(loc, text);
    }
    return text;
  };
  const region = (r: MlirRegion, i: number, depth: number): RegionView => {
    const indent = '  '.repeat(depth);
    const args = r.args.map((a) => `${name(a)}: ${a.type}`).join(', ');
    return {
      separator: i === 0 ? '' : ', ',
      header: args ? `${indent}^bb0(${args}):\n` : '',
      ops: r.ops.map((op) => view(op, depth + 1)),
      close: `${indent}}`,
    };
  };
  const view = (op: MlirOp, depth: number): OpView => {
    const operands = op.operands.map(name).join(', ');
    const results = op.results.map(name).join(', ');
    const properties = dictionary(op.properties);
    const attributes = dictionary(op.attributes);
    return {
      indent: '  '.repeat(depth),
      results: results && `${results} = `,
      name: op.name,
      operands,
      properties: properties && ` <{${properties}}>`,
      regions: op.regions.length > 0 && op.regions.map((r, i) => region(r, i, depth)),
      attributes: attributes && ` {${attributes}}`,
      type: `(${op.operands.map((v) => v.type).join(', ')}) -> (${op.results.map((v) => v.type).join(', ')})`,
      loc: locs ? locOf(op.loc) : '',
    };
  };
  return template('mlir/module')({ ops: [view(module, 0)] });
}
