import type { JsonData } from '../../api/json-data.ts';
import type { PlannedChange } from '../vcs/plan-vcs-change.ts';
import type { McpActor, McpGround } from './mcp-ground.ts';
import type { ArgumentTable } from './read-arguments.ts';

/** One tool as data: what clients list, and what it does. */
export interface McpTool<Table extends ArgumentTable = ArgumentTable> {
  /** Short, `[a-z_]`: clients put their own name in front of it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: Table;
  /** Clients decide by this whether they run it unattended. */
  readonly reads: boolean;
  readonly call: (given: ReadonlyMap<string, unknown>, call: ToolCall) => Promise<ToolOutcome>;
}

/** One call on its way. */
export interface ToolCall {
  readonly ground: McpGround;
  readonly actor: McpActor;
  readonly signal: AbortSignal;
  /** Resolves where the change is allowed. APPROVAL_REQUIRED, APPROVAL_DENIED; may end the call with a question. */
  readonly allow: (planned: PlannedChange, argv: readonly string[]) => Promise<void>;
}

export interface ToolOutcome {
  readonly data: JsonData;
  /** Instead of the data as JSON. */
  readonly text?: string;
}
