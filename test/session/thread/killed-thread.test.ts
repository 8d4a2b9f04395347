import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { listAuditFiles } from '../../../session/audit/audit-files.ts';
import { judgeAudit } from '../../../session/audit/judge-audit.ts';
import { auditName } from '../../../session/audit/open-audit.ts';
import { openThread } from '../../../session/thread/open-thread.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';

t.setTimeout(240_000);

const program = fileURLToPath(new URL('say-program.ts', import.meta.url));

/** Runs the program until it has said so much, and kills it then. */
async function talk(directory: string, home: string, lines: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, directory, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.split('\n').length > lines) child.kill('SIGKILL');
    });
    child.on('close', () => resolve());
  });
  return said.split('\n').slice(0, -1);
}

t.test('killed at any instant, a thread has everything that was acknowledged, in order', async (t) => {
  const [directory, home] = [join(t.testdir(), 'thread'), join(t.testdirName, 'home')];
  const random = seededRandom(toldSeed(t));
  let acknowledged = 0;
  for (let round = 0; round < 6; round += 1) {
    const [heard = '', ...said] = await talk(directory, home, 1 + Math.floor(random() * 40));
    const [, count, last] = heard.split(' ').map(Number);
    t.ok((last ?? 0) >= acknowledged, `round ${round}: heard up to ${last}, acknowledged ${acknowledged}`);
    t.equal(count, last, 'each once');
    acknowledged = Number(said.at(-1)?.split(' ')[1] ?? last);
    const known = await userJournalWitness({ HOME: home }).look(auditName('t'));
    const { problems, end } = await judgeAudit(directory, await listAuditFiles(directory), known);
    t.strictSame(problems, [], 'its audit log is whole');
    t.ok(end.seq >= acknowledged, 'and has a line of each');
  }
  t.ok(acknowledged > 6);
});

t.test('a thread that somebody else wrote, cut or changed is not gone on with', async (t) => {
  const means = { clock: systemClock, witness: userJournalWitness({ HOME: join(t.testdir(), 'home') }) };
  const directory = join(t.testdirName, 'thread');
  const journal = join(directory, 'journal.jsonl');
  const open = () => openThread(directory, 't', means);
  const first = await open();
  for (const text of ['a', 'b', 'c'])
    await first.append([{ type: 'said', id: text, text, by: { kind: 'tui' }, atMs: 1 }]);
  await t.rejects(open(), { code: 'THREAD_BUSY' });
  await first[Symbol.asyncDispose]();
  const whole = readFileSync(journal, 'utf8');
  const lines = whole.split('\n');
  const others: readonly (readonly [string, () => void])[] = [
    ['cut by a line', () => truncateSync(journal, whole.lastIndexOf('\n', whole.length - 2) + 1)],
    ['changed', () => writeFileSync(journal, whole.replace('"text":"b"', '"text":"x"'))],
    ['longer by a line of its own kind', () => appendFileSync(journal, `${lines[0]}\n`)],
    ['empty', () => truncateSync(journal, 0)],
  ];
  for (const [how, change] of others) {
    change();
    const came = await open().then(
      () => 'opened',
      (fault: { readonly code?: string }) => fault.code,
    );
    t.ok(came === 'THREAD_UNPROVEN' || came === 'JOURNAL_CORRUPT', `${how}: ${came}`);
    writeFileSync(journal, whole);
  }
  const stranger = { ...means, witness: userJournalWitness({ HOME: join(t.testdirName, 'other-home') }) };
  await t.rejects(openThread(directory, 't', stranger), { code: 'THREAD_UNPROVEN' });
  await using again = await open();
  t.equal(again.facts.length, 3, 'and a refusal has changed nothing');
});
