import type { Snapshot } from '../../state/snapshot.ts';

/** A transcript as a Markdown document: what was said, done and decided, in order. */
export function transcriptText({ threadId, transcript }: Pick<Snapshot, 'threadId' | 'transcript'>): string {
  return `# Thread ${threadId}\n\n${transcript.map(entryText).join('\n\n')}\n`;
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
