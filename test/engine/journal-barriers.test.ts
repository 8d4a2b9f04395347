import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { JournalWitness } from '../../store/journal-witness.ts';
import { processWitness } from '../../store/journal-witness.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { listRunDirectories, runDirectory } from '../../store/run-directory.ts';
import { fixtures, makeSample } from './sample.ts';

/** What could be seen outside of the journal when so many of its lines were on disk. */
interface Seen {
  readonly records: number;
  readonly refs: string;
  readonly file: string;
}

t.test('a run waits for the disk before its effects, and nowhere else', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const seen: Seen[] = [];
  const look = (records: number): void => {
    const refs = execFileSync('git', ['for-each-ref'], { cwd: sample.root, encoding: 'utf8' });
    seen.push({ records, refs, file: readFileSync(join(sample.root, 'src/price.js'), 'utf8') });
  };
  const witness: JournalWitness = {
    look: processWitness.look,
    voucher: processWitness.voucher,
    async open(runId) {
      const known = await processWitness.open(runId);
      return {
        ...known,
        vouch: known.vouch,
        vouched: known.vouched,
        reached: known.reached,
        async reach(to) {
          look(to.records);
          await known.reach(to);
        },
        [Symbol.asyncDispose]: known[Symbol.asyncDispose],
      };
    },
  };
  const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  const view = await sample.run({ source: { kind: 'patch', bytes }, witness });
  t.equal(view.decision?.type, 'commit');
  const repository = { commonDir: join(sample.root, '.git') };
  const [run = ''] = await listRunDirectories(repository);
  const { records } = await readJournal(join(runDirectory(repository, run), 'journal.jsonl'));
  const begins = (step: string): number =>
    records.find(({ type, data }) => type === 'step-begun' && (data as { step: string }).step.endsWith(step))
      ?.seq ?? Number.NaN;
  const before = (step: string): Seen | undefined => seen.find((one) => one.records >= begins(step));
  const { refs: refsAtStart, file: fileAtStart } = seen[0] ?? {};
  t.equal(seen[0]?.records, 0);
  t.equal(before('/record/run')?.refs, refsAtStart, 'no ref is written before the line that announces it');
  const main = (refs = ''): string | undefined => /^(\w+) .*refs\/heads\/main$/m.exec(refs)?.[1];
  t.equal(main(before('/swap')?.refs), main(refsAtStart), 'nor does the branch move');
  t.match(before('/swap')?.refs, /refs\/ai\/runs\//, 'which comes after the record');
  t.equal(before('/follow')?.file, fileAtStart, 'nor does the working tree change');
  t.not(main(before('/follow')?.refs), main(refsAtStart));
  t.equal(seen.at(-1)?.records, records.length);
  t.ok(seen.length * 3 < records.length, `${seen.length} times for ${records.length} lines`);
});
