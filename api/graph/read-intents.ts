import type { FoundRecord } from '../../engine/store/record/list-record-refs.ts';
import { encodeId } from '../../engine/vcs/ref-name.ts';
import { graphLimits } from './graph-limits.ts';
import { parseFile } from './parse-files.ts';
import type { RecordReader } from './record-reader.ts';
import type { IntentRecord } from './thread-record.ts';

const eventPath = /^events\/\d+\.json$/;

/** The intent of a thread with its history, and those before and after it, one after the other. */
export async function readIntents(
  reader: RecordReader,
  intents: readonly (FoundRecord & { readonly threadId: string | undefined })[],
  threadId: string,
): Promise<readonly IntentRecord[]> {
  const byName = new Map(intents.map((record) => [record.id, record]));
  const wanted = intents.filter((record) => record.threadId === threadId);
  const seen = new Set(wanted);
  const read: IntentRecord[] = [];
  for (const record of wanted) {
    const found = await readIntent(reader, record);
    read.push(found);
    for (const name of neighboursOf(found)) {
      const next = byName.get(name);
      if (next === undefined || seen.has(next) || wanted.length >= graphLimits.intents) continue;
      seen.add(next);
      // The loop comes to it.
      wanted.push(next);
    }
  }
  return read;
}

async function readIntent(reader: RecordReader, record: FoundRecord): Promise<IntentRecord> {
  const entries = (await reader.list(record)) ?? [];
  const events = entries
    .filter(({ path }) => eventPath.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(-graphLimits.events);
  const body = entries.filter(({ path }) => path === 'intent.json');
  const files = await reader.read(record, [...body, ...events]);
  const [intent] = body.length === 0 ? [] : files;
  return {
    place: record.ref,
    intent: intent ?? { path: 'intent.json', problem: '`intent.json` is missing' },
    events: files.slice(body.length),
  };
}

/** Intents that its history names, as refs call them. */
function neighboursOf({ events }: IntentRecord): readonly string[] {
  return events.flatMap((file) => {
    const { object } = parseFile('intent_event', file);
    return [object?.superseded_by, object?.supersedes].flatMap((id) =>
      id === undefined ? [] : encodeId(id),
    );
  });
}
