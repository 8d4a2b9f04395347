import { readFile } from 'node:fs/promises';
import { type Grammar, loadGrammar } from '../../readers/source/grammar/load-grammar.ts';
import type { GrammarName } from '../../readers/source/grammar/syntax-tree.ts';

/**
 * The grammar of that name, read from its package on first use in this thread. Throws GRAMMAR_FAULT where it does not
 * load.
 */
export function shippedGrammar(name: GrammarName): Promise<Grammar> {
  return loadGrammar(name, () =>
    readFile(new URL(import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`))),
  );
}
