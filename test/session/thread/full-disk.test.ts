import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { readThread } from '../../../session/thread/read-thread.ts';

const program = fileURLToPath(new URL('full-disk-program.ts', import.meta.url));

t.test('a message that does not fit on the disk is refused whole, and the next one is stored', async (t) => {
  const [directory, home] = [join(t.testdir(), 'thread'), join(t.testdirName, 'home')];
  // Files of at most 16 KiB; with the signal ignored, a write beyond that is an error as on a full disk.
  const limited = `trap '' XFSZ; ulimit -f 32; exec "$0" "$@"`;
  const said = execFileSync('/bin/sh', ['-c', limited, process.execPath, program, directory, home]);
  t.strictSame(JSON.parse(said.toString()), {
    told: ['stored', 'EVIDENCE_WRITE_FAILED EFBIG, nothing changed', 'stored'],
    performed: 2,
  });
  const { proven, transcript } = await readThread(directory, 't', userJournalWitness({ HOME: home }));
  t.ok(proven, 'and it is whole');
  t.strictSame(
    transcript.map(({ content }) => content?.length),
    [10, 20],
  );
});
