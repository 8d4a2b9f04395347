import { WritError } from '../../core/base/errors.ts';
import { fields, listOf, oneOf, type TypeOf, text, wholeNumber } from '../shape.ts';
import { parseObject } from '../stored-object.ts';
import { parseNamedJson } from './parse-named-json.ts';

/** File of a run's record that says in short what the tools of its workers were used for. */
export const toolUsesPath = 'tool-uses.json';
/** Of one attempt: a ToolInvocation for each use. */
export const workerToolsFolder = 'tools/worker/';

const maxBytes = 1024 * 1024;
const shape = fields({
  schema: oneOf('urn:writ:tool-uses:v1'),
  count: wholeNumber,
  tools: listOf(
    fields(
      { tool: text, action: text, done: wholeNumber, denied: wholeNumber, failed: wholeNumber },
      { unknown: wholeNumber },
    ),
  ),
});

type ToolUsesRecord = TypeOf<typeof shape>;

/** What the ToolInvocations among the files of a record come to, by tool and action; `undefined` without any. */
export function toolUsesIn(
  files: Iterable<readonly [path: string, bytes: Uint8Array]>,
): ToolUsesRecord | undefined {
  const byName = new Map<
    string,
    { tool: string; action: string; done: number; denied: number; failed: number; unknown?: number }
  >();
  let count = 0;
  for (const [path, bytes] of files) {
    if (!path.includes(`/${workerToolsFolder}`)) continue;
    const { tool, action, outcome } = parseObject('tool_invocation', bytes);
    const name = `${tool} ${action}`;
    const one = byName.get(name) ?? { tool, action, done: 0, denied: 0, failed: 0 };
    one[outcome] = (one[outcome] ?? 0) + 1;
    byName.set(name, one);
    count += 1;
  }
  if (count === 0) return undefined;
  const tools = [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return { schema: 'urn:writ:tool-uses:v1', count, tools };
}

/** Reads `tool-uses.json` strictly; OBJECT_CORRUPT. */
export function parseToolUses(bytes: Uint8Array): ToolUsesRecord {
  const value = parseNamedJson(toolUsesPath, bytes, { maxBytes, maxDepth: 8 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  if (problems.length === 0) return value as ToolUsesRecord;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${toolUsesPath}\` is not what it must be: ${problems[0]}`,
    detail: { path: toolUsesPath, problems },
  });
}
