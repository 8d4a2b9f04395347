/** Grammars that `@vscode/tree-sitter-wasm` ships and that something here reads. */
export type GrammarName =
  | 'bash'
  | 'c-sharp'
  | 'go'
  | 'java'
  | 'javascript'
  | 'php'
  | 'python'
  | 'ruby'
  | 'tsx'
  | 'typescript';
