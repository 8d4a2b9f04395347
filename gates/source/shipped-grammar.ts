/* Finds the grammars that writ installs. */
import { readFile } from 'node:fs/promises';
import { type Grammar, loadGrammar } from '../../readers/source/grammar/load-grammar.ts';
import type { GrammarName } from '../../readers/source/grammar/syntax-tree.ts';

/**
 * The grammar of that name, read from its package on first use in this thread. Throws GRAMMAR_FAULT where it does not
 * load.
 */
export function shippedGrammar(name: GrammarName): Promise<Grammar> {
  return loadGrammar(name, () => readFile(grammarFile(name)));
}

/** Where a grammar is installed. */
export function grammarFile(name: GrammarName): URL {
  switch (name) {
    case 'groovy':
      return new URL(import.meta.resolve('@lumis-sh/wasm-groovy/tree-sitter-groovy.wasm'));
    case 'kotlin':
      return new URL(import.meta.resolve('@lumis-sh/wasm-kotlin/tree-sitter-kotlin.wasm'));
    case 'scala':
      return new URL(import.meta.resolve('@lumis-sh/wasm-scala/tree-sitter-scala.wasm'));
    default:
      return new URL(import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`));
  }
}
