import type { ToolRule } from '../../core/contract/intentspec.gen.ts';

/** What a model needs to do a Task; where it may write, says the scope. */
export const workerRights: readonly ToolRule[] = [
  { tool: 'workspace.fs', actions: ['read', 'write', 'delete'] },
  { tool: 'workspace.search', actions: ['search'] },
];
