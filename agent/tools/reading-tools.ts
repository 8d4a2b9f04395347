/* The read-only tools for drafting and for questions. */
import type { ToolCall } from '../../core/interfaces/model.ts';
import type { Hands, Web } from '../../core/interfaces/worker.ts';
import { webSearch } from './coder-tools.ts';
import { grepFiles, listDir, readFile } from './files.ts';
import { type CoderTool, declarationOf, readArguments } from './tool.ts';

/** Read-only access for a model. */
export interface Looking {
  readonly hands: Hands;
  /** Searched only; absent: the network is closed. */
  readonly web?: Web;
}

function readingTools({ web }: Pick<Looking, 'web'>): readonly CoderTool[] {
  return [readFile, listDir, grepFiles, ...(web?.actions.includes('search') ? [webSearch] : [])];
}

/** The declarations of the tools that the model gets. */
export function readingDeclarations(looking: Pick<Looking, 'web'> = {}) {
  return readingTools(looking).map(declarationOf);
}

/** What a call of one of them came to, for the model; a call of any other is answered with their names. */
export async function useReading(
  { name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>,
  { hands, web }: Looking,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tools = readingTools({ ...(web && { web }) });
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const known = tools.map((one) => one.name).join(', ');
    return { text: `there is no such tool; there is ${known}`, isError: true };
  }
  const parsed = readArguments(tool, given);
  return 'wrong' in parsed
    ? { text: parsed.wrong, isError: true }
    : tool.use(parsed.given, hands, { ...(web && { web }) });
}
