/** What a language server is asked; each is an action of the tool `workspace.lsp` (document 1, ToolRule). */
export const codeActions = [
  'hover',
  'goto-definition',
  'find-references',
  'document-symbols',
  'workspace-symbols',
  'diagnostics',
  'preview-rename',
] as const;

export type CodeAction = (typeof codeActions)[number];

/** A question about code. Of what there is to rename, only what would change is told. */
export interface CodeUse {
  readonly kind: 'code';
  readonly action: CodeAction;
  /** A file; `.` for symbols of the workspace. */
  readonly path: string;
  /** From 1. Without it the first line with the name is meant. */
  readonly line?: number;
  /** A name on the line, or what symbols are looked for by. */
  readonly symbol?: string;
  readonly newName?: string;
}

/** What may be asked in an attempt, and of which files. */
export interface CodeDoor {
  readonly actions: readonly CodeAction[];
  /** Endings of files, with their dots. */
  readonly endings: readonly string[];
}
