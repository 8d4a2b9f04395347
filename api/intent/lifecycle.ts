import type { IntentHistory } from '../../engine/intent/intent-history.ts';
import { markdownText } from '../../readers/documents/markdown-text.ts';
import type { JsonData } from '../json-data.ts';

/** What is shown of an intent: its recorded history, or what a document says that was never recorded. */
export type ShownLifecycle = Pick<IntentHistory, 'specId' | 'digest' | 'status' | 'changeLog' | 'events'> & {
  readonly thread?: string;
};

/** Status, changeLog and events as the lifecycle commands answer them. */
export function toLifecycleData(shown: ShownLifecycle): JsonData {
  return {
    spec_id: shown.specId,
    ...(shown.thread === undefined ? {} : { thread_id: shown.thread }),
    digest: shown.digest,
    status: shown.status,
    change_log: shown.changeLog.map(({ at, by, reason, diffSummary }) => ({
      at,
      by,
      reason,
      diff_summary: diffSummary,
    })),
    events: shown.events.map((event) => ({
      at: event.created_at,
      kind: event.kind,
      by: event.by,
      reason: event.reason,
      ...(event.from === undefined ? {} : { from: event.from }),
      ...(event.status === undefined ? {} : { status: event.status }),
      ...(event.run === undefined ? {} : { run_id: event.run }),
      ...(event.superseded_by === undefined ? {} : { superseded_by: event.superseded_by }),
      ...(event.supersedes === undefined ? {} : { supersedes: event.supersedes }),
    })),
  };
}

/** The same for people, as Markdown; every word of others is escaped. */
export function lifecycleMarkdown(shown: ShownLifecycle): string {
  const changes = shown.changeLog.map(
    ({ at, by, reason, diffSummary }) =>
      `- ${markdownText(at)} · ${markdownText(by)} · ${markdownText(reason)}\n  ${markdownText(diffSummary)}`,
  );
  const events = shown.events.map((event) => {
    const move = event.status === undefined ? event.kind : `${event.from ?? ''} → ${event.status}`;
    return `- ${markdownText(event.created_at)} · ${move} · ${markdownText(event.by)} · ${markdownText(event.reason)}`;
  });
  return [
    `# ${markdownText(shown.specId)}`,
    '',
    `Status: **${shown.status}**`,
    '',
    '## Change log',
    '',
    ...(changes.length === 0 ? ['No entry.'] : changes),
    '',
    '## Events',
    '',
    ...(events.length === 0 ? ['Nothing has happened yet.'] : events),
    '',
  ].join('\n');
}
