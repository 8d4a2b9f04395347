import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { type ParsedJournal, parseJournal } from '../../store/parse-journal.ts';
import { journalFile, requireOwnPlace } from '../../store/run-directory.ts';

/** A thread of months is far below; what is larger would take all of the memory. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * Reads the journal of a thread without its lock, also while another process writes it; `undefined` where there is
 * none. Follows no link and waits for no pipe. JOURNAL_CORRUPT, OBJECT_CORRUPT.
 */
export async function readThreadJournal(directory: string): Promise<ParsedJournal | undefined> {
  await requireOwnPlace(directory, ['lock', journalFile]);
  const path = join(directory, journalFile);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(absent);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > maxBytes) {
      const message = `expected \`${path}\` to have at most ${maxBytes} octets, found ${size}`;
      throw new WritError('JOURNAL_CORRUPT', { message, detail: { path, size } });
    }
    return parseJournal(await file.readFile(), path, true);
  } finally {
    await file.close();
  }
}
