import type { Hands } from '../../core/contract/hands.ts';
import type { ToolCall } from '../../core/contract/model.ts';
import { grepFiles, listDir, readFile } from './files.ts';
import { declarationOf, readArguments } from './tool.ts';

const readingTools = [readFile, listDir, grepFiles];

/** The tools of whoever may look, and change nothing. */
export const readingDeclarations = readingTools.map(declarationOf);

/** What a call of one of them came to, for the model; a call of any other is answered with their names. */
export async function useReading(
  { name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>,
  hands: Hands,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tool = readingTools.find((one) => one.name === name);
  if (tool === undefined) {
    const known = readingTools.map((one) => one.name).join(', ');
    return { text: `there is no such tool; there is ${known}`, isError: true };
  }
  const parsed = readArguments(tool, given);
  return 'wrong' in parsed ? { text: parsed.wrong, isError: true } : tool.use(parsed.given, hands, {});
}
