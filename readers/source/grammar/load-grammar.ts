/* Loads tree-sitter grammars. */
import { setFlagsFromString } from 'node:v8';
import type { Language, Parser } from 'web-tree-sitter';
import { WritError } from '../../../core/base/errors.ts';
import type { GrammarName } from './syntax-tree.ts';

/** A parser and what its node numbers mean. One per thread and grammar; used by one parse at a time. */
export interface Grammar {
  readonly parser: Parser;
  /** Node type by number; `undefined` for punctuation and keywords, which are left out of trees. */
  readonly types: readonly (string | undefined)[];
  readonly fields: readonly (string | null)[];
}

let loaded = new Map<GrammarName, Promise<Grammar>>();
/** Kept for good: collecting a parser of a broken runtime would run that runtime's code once more. */
const broken: unknown[] = [];
let runtime: Promise<typeof import('web-tree-sitter')> | undefined;
let generation = 0;
/** Source after which a thread gives up: each runtime that hostile text has broken stays in memory. */
const maxGenerations = 50;

/**
 * Returns the grammar of that name. Its bytes are read on first use in this thread. Throws GRAMMAR_FAULT if it does
 * not load.
 */
export function loadGrammar(name: GrammarName, read: () => Promise<Uint8Array>): Promise<Grammar> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = load(name, read);
  loaded.set(name, loading);
  return loading;
}

async function load(name: GrammarName, read: () => Promise<Uint8Array>): Promise<Grammar> {
  try {
    runtime ??= startRuntime();
    const { Language: language, Parser: parser } = await runtime;
    const grammar = language.loadSync(compilePlainly(await read()));
    return {
      parser: new parser().setLanguage(grammar),
      types: namedTypes(grammar),
      fields: grammar.fields,
    };
  } catch (cause) {
    throw new WritError('GRAMMAR_FAULT', {
      message: `the grammar \`${name}\` cannot be loaded`,
      hints: ['install the dependencies again, with optional files left in place'],
      cause,
    });
  }
}

/**
 * Compiles a module completely and at once, and disables later optimisation of its functions. One function of the
 * shell grammar costs the optimiser 700 MB of memory. For the other grammars it retains 15 MB and more of freed
 * memory. The flags apply to the process: if another thread first calls a function of another module meanwhile, that
 * function stays unoptimised. This costs some speed and has no other effect.
 */
function compilePlainly(bytes: Uint8Array): object {
  const flags = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'];
  for (const flag of flags) setFlagsFromString(`--no-${flag}`);
  try {
    return new WebAssembly.Module(new Uint8Array(bytes));
  } finally {
    for (const flag of flags) setFlagsFromString(`--${flag}`);
  }
}

/** Drops a runtime with memory that can no longer be trusted; the next grammar is loaded into a new one. */
export function dropRuntime(): void {
  generation += 1;
  broken.push(loaded);
  runtime = undefined;
  loaded = new Map();
}

async function startRuntime(): Promise<typeof import('web-tree-sitter')> {
  if (generation > maxGenerations)
    throw new TypeError(`${maxGenerations} texts have broken the runtime of grammars in this thread`);
  // A module keeps one runtime for good; another address is another module.
  const address = new URL(import.meta.resolve('web-tree-sitter'));
  if (generation > 0) address.search = String(generation);
  const module: typeof import('web-tree-sitter') = await import(address.href);
  await module.Parser.init({ print: () => {}, printErr: () => {} });
  return module;
}

function namedTypes(grammar: Language): readonly (string | undefined)[] {
  return grammar.types.map((type, id) => (grammar.nodeTypeIsNamed(id) ? type : undefined));
}
