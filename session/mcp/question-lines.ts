import type { ApprovalQuestion } from './mcp-ground.ts';

const maxFiles = 20;

/** What a person is told before he allows a change: what it is, who wants it, and the files that it is about. */
export function questionLines({ planned: { title, paths }, actor }: ApprovalQuestion): readonly string[] {
  const who =
    actor.client === undefined
      ? ''
      : `, for the MCP client that calls itself ${JSON.stringify(actor.client)}`;
  const files = paths.slice(0, maxFiles).map((path) => JSON.stringify(path));
  const more = paths.length > files.length ? [`and ${paths.length - files.length} more`] : [];
  return [`writ is asked to ${title}${who}`, ...files, ...more];
}
