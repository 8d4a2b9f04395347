import type { ToolRequest } from '../../core/interfaces/hook-payload.ts';

/** A tool call that rules and scope let through, about to be made for a session. */
export interface ToolUse {
  /** Of this one call; no other has it. */
  readonly id: string;
  readonly request: Pick<ToolRequest, 'tool' | 'action' | 'command' | 'paths' | 'query'>;
  /** The words of a tool that takes words and no shell text (`vcs`), none left out or cut. */
  readonly argv?: readonly string[];
  /** Where it works: absolute, every symbolic link resolved. */
  readonly cwd: string;
  /** `sandboxDigest` of what confines it, or would where it is to leave the sandbox. */
  readonly sandbox: string;
  /** Full name of the branch that the work is for; the commit where there is none. */
  readonly branch: string;
  /** It asks to be made outside the sandbox. */
  readonly isOutside: boolean;
}

/** Whether it runs shell text. */
export function isCommand({ request: { tool, action } }: Pick<ToolUse, 'request'>): boolean {
  return tool === 'workspace.command' && action === 'execute';
}
