import type { Heard } from './listen.ts';

// biome-ignore lint/suspicious/noExplicitAny: a snapshot as a client has it
type Shown = any;

const lists: Readonly<Record<string, string>> = {
  transcript_entry: 'transcript',
  plan: 'plans',
  task: 'tasks',
  tool_call: 'toolCalls',
  patchset: 'patchsets',
  interaction: 'interactions',
};

/** What a client of the second wire shows, made from its events alone, as `docs/reference/session-events.md` says. */
export function foldChanges(events: readonly Heard[]): Shown {
  let shown: Shown;
  for (const { data } of events) {
    const { kind, payload, at } = data;
    const list = lists[kind];
    if (kind === 'resync') shown = structuredClone(payload.snapshot);
    else if (kind === 'text_delta') {
      const entry = shown.transcript.find(({ id }: Shown) => id === payload.id);
      entry.content += payload.text;
      entry.updatedAt = at;
    } else if (kind === 'element_removed')
      shown[payload.list] = shown[payload.list].filter(({ id }: Shown) => id !== payload.id);
    else if (kind === 'member_removed') delete shown[payload.member];
    else if (list === undefined) Object.assign(shown, payload);
    else {
      const place = shown[list].findIndex(({ id }: Shown) => id === payload.id);
      if (place < 0) shown[list].push(payload);
      else shown[list][place] = payload;
    }
    shown.updatedAt = at;
  }
  return shown;
}
