import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { Fact } from '../../../session/state/fact.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { ground } from '../state/walk.ts';

/** A place with threads in it, and whoever vouches for them. */
export function threadPlace(box: string) {
  const repository = { commonDir: join(box, 'git') };
  mkdirSync(repository.commonDir, { recursive: true });
  const witness = userJournalWitness({ HOME: join(box, 'home') });
  return { repository, witness, say: sayIn(repository, box) };
}

/** Writes threads of a repository: when one was opened, and what was said at what times. */
export function sayIn(repository: { readonly commonDir: string }, box: string) {
  const witness = userJournalWitness({ HOME: join(box, 'home') });
  return async (
    threadId: string,
    atMs: number,
    ...said: readonly (readonly [atMs: number, text: string])[]
  ) => {
    const directory = threadDirectory(repository, threadId);
    await using thread = await openThread(directory, threadId, { clock: systemClock, witness });
    const isNew = thread.facts.length === 0;
    if (isNew) await thread.append([{ type: 'opened', ground: ground({ threadId }), atMs }]);
    for (const [at, text] of said) {
      const id = `${threadId}-${at}`;
      const facts: Fact[] = [
        { type: 'said', id, text, by: { kind: 'tui' } },
        { type: 'turn-began', turn: id },
        { type: 'turn-ended', turn: id, end: 'done' },
      ];
      await thread.append(facts.map((fact) => ({ ...fact, atMs: at })));
    }
    return directory;
  };
}
