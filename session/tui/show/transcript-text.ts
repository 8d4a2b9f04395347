import type { Snapshot } from '../../state/snapshot.ts';

/** A transcript as a Markdown document: what was said, done and decided, in order. */
export function transcriptText({
  threadId,
  transcript,
  toolCalls,
}: Pick<Snapshot, 'threadId' | 'transcript' | 'toolCalls'>): string {
  const printed = new Map(toolCalls.map(({ id, output }) => [id, output]));
  const entries = transcript.map((entry) => {
    const output = entry.kind === 'tool_call' ? printed.get(entry.id) : undefined;
    return output === undefined ? entryText(entry) : `${entryText(entry)}\n\n${fenced(output)}`;
  });
  return `# Thread ${threadId}\n\n${entries.join('\n\n')}\n`;
}

/** As code, which nothing in it ends. */
function fenced(output: string): string {
  const longest = Math.max(2, ...[...output.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${output.replace(/\n$/, '')}\n${fence}`;
}

function entryText({ kind, title, content = '', status }: Snapshot['transcript'][number]): string {
  switch (kind) {
    case 'user_message':
      return `## You\n\n${content}`;
    case 'assistant_message':
      return `## Model\n\n${content}`;
    case 'tool_call':
      return `- \`${title ?? 'tool'}\` ${content} (${status ?? 'unknown'})`;
    case 'plan_summary':
      return `## Plan: ${title ?? ''}\n\n${content}`;
    case 'diff':
      return `\`\`\`diff\n${content}\n\`\`\``;
    case 'info_note':
      return `> ${title === undefined ? '' : `**${title}**: `}${content.replace(/\n/g, '\n> ')}`;
  }
}
