import type { Journal } from '../../store/journal.ts';
import type { BoxMemory } from '../state/record-box.ts';

const noteType = 'recorded';

interface Note {
  readonly files: readonly (readonly [path: string, sha256: string])[];
}

/** What a run's journal says was put into its record: the files lie beside it, for whoever can write there. */
export function recordMemory(journal: Pick<Journal, 'records' | 'append'>): BoxMemory {
  const digests = new Map<string, string>();
  for (const { type, data } of journal.records)
    if (type === noteType) for (const [path, digest] of (data as Note).files) digests.set(path, digest);
  return {
    digests,
    async note(files) {
      await journal.append(noteType, { files });
    },
  };
}
