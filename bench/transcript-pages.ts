import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { userJournalWitness } from '../attest/signer/user-journal-witness.ts';
import { openThreadTranscript } from '../session/thread/open-transcript.ts';
import { figure, median, timed } from './measure.ts';
import { makeThread } from './open-thread.ts';
import { sized } from './sized.ts';

const counts = sized([10_000, 70_000], [40, 80]);
const limit = 200;

/**
 * Paging back through a thread: the first page, which reads the journal once, and every other one. Two messages make
 * three entries.
 */
export async function benchTranscriptPages(): Promise<boolean> {
  const box = mkdtempSync(join(tmpdir(), 'writ-bench-pages-'));
  try {
    const told: string[] = [];
    let longest = Number.NaN;
    for (const messages of counts) {
      const name = await makeThread(box, messages, 0);
      const witness = userJournalWitness({ HOME: join(box, 'home') });
      const transcript = openThreadTranscript({ directory: join(box, name), threadId: name, witness });
      const entries = (messages / 2) * 3;
      const firstMs = await timed(() => transcript.page({ before: entries, limit }));
      const times: number[] = [];
      for (let before = entries - limit; before > 0; before -= limit)
        times.push(await timed(() => transcript.page({ before, limit })));
      longest = median(times);
      told.push(`${entries} entries: first ${firstMs.toFixed(0)} ms, others ${longest.toFixed(1)} ms`);
    }
    return figure('a page of 200 earlier entries of 105,000', longest, 20, 'ms', told.join(', '));
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}
