import {
  appendFileSync,
  chmodSync,
  cpSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { logOf } from './open-log.ts';

t.test('each audit line carries its envelope fields in sequence, in a file of mode 0600', async (t) => {
  const log = logOf(t);
  t.strictSame(await log.write('one', 'two'), []);
  t.strictSame(await log.write('three'), []);
  const [path = ''] = await log.paths();
  t.equal(statSync(path).mode & 0o777, 0o600);
  const lines = await log.lines();
  t.match(lines[0], {
    seq: 1,
    trace_id: 't',
    principal_id: 'tui',
    action: 'submit',
    policy_version: 'local-tui-control/v1',
    redacted_summary: 'one',
    at: /^\d{4}-/,
    prev: '0'.repeat(64),
    mac: /^[0-9a-f]{64}$/,
  });
  t.strictSame(
    lines.map(({ seq, redacted_summary: words }) => [seq, words]),
    [
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ],
  );
  t.match(await log.judge(), { problems: [], lines: 3 });
});

t.test('tampering with an audit log is reported at once and after later writes', async (t) => {
  const deeds: readonly (readonly [string, (path: string, directory: string) => void, string])[] = [
    ['a changed line', (path) => edit(path, (text) => text.replace('two', 'TWO')), 'audit-altered'],
    [
      'a last line that was changed',
      (path) => edit(path, (text) => text.replace('three', 'THREE')),
      'audit-altered',
    ],
    ['a line in between gone', (path) => edit(path, (text) => without(text, 1)), 'audit-altered'],
    ['lines that changed places', (path) => edit(path, swapped), 'audit-altered'],
    ['something that is no line', (path) => appendFileSync(path, 'x\n'), 'audit-altered'],
    ['its last line gone', (path) => edit(path, (text) => without(text, 2)), 'audit-cut'],
    ['all of its lines gone', (path) => truncateSync(path, 0), 'audit-missing'],
    [
      'the file under another number',
      (path, directory) => renameSync(path, join(directory, 'audit-7.jsonl')),
      'audit-altered',
    ],
    ['the file gone', (path) => rmSync(path), 'audit-missing'],
    ['the directory gone', (_, directory) => rmSync(directory, { recursive: true }), 'audit-missing'],
    ['a link in its place', (path) => linked(path), 'audit-foreign'],
    ['open to others', (path) => chmodSync(path, 0o644), 'audit-foreign'],
  ];
  for (const [what, deed, code] of deeds) {
    await t.test(what, async (t) => {
      const log = logOf(t);
      await log.write('one', 'two', 'three');
      const [path = ''] = await log.paths();
      deed(path, log.directory);
      t.equal((await log.judge()).problems[0]?.code, code);
      t.equal((await log.write('four', 'five'))[0], code, 'whoever goes on is told');
      t.ok((await log.judge()).problems.length > 0, 'and what came after hides nothing');
      const { seq } = (await log.judge()).end;
      t.ok(seq >= 5, 'the log goes on behind all that there was');
      await log.write('six');
      t.equal((await log.judge()).end.seq, seq + 1, 'in the file that was begun then');
    });
  }
});

t.test('an audit log that another user wrote is reported as foreign', async (t) => {
  const log = logOf(t);
  await log.write('one');
  const stranger = userJournalWitness({ HOME: join(t.testdirName, 'other') });
  t.match(await log.judge(stranger), { problems: [{ code: 'audit-foreign' }, { code: 'audit-foreign' }] });
  const own = readFileSync((await log.paths())[0] ?? '', 'utf8');
  const { prev, mac, ...line } = JSON.parse(own);
  const forged = { ...line, redacted_summary: 'forged', prev, mac };
  writeFileSync((await log.paths())[0] ?? '', `${JSON.stringify(forged)}\n`);
  t.not((await log.judge()).problems.length, 0);
});

t.test('an audit log that a kill interrupted reports no problems', async (t) => {
  const log = logOf(t);
  await log.write('one');
  const [path = ''] = await log.paths();
  appendFileSync(path, '{"seq":2,"trace');
  t.match(await log.judge(), { problems: [], lines: 1 });
  t.strictSame(await log.write('two'), []);
  t.match(await log.judge(), { problems: [], lines: 2 });
  // Killed between the line and the word to the witness: the log is longer than is known of it.
  const home = join(t.testdirName, 'home');
  const before = `${home}-before`;
  cpSync(home, before, { recursive: true });
  await log.write('three');
  rmSync(home, { recursive: true });
  cpSync(before, home, { recursive: true });
  t.match(await log.judge(), { problems: [], lines: 3 });
});

t.test('an audit log rotates its files and reports a kept file that is missing', async (t) => {
  const log = logOf(t, { maxFileBytes: 1500, keptFiles: 2 });
  const words = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  t.strictSame(await log.write(...words.slice(0, 25)), []);
  t.strictSame(await log.write(...words.slice(25)), []);
  const paths = await log.paths();
  t.equal(paths.length, 3);
  t.notOk(paths[0]?.endsWith('audit-1.jsonl'));
  for (const path of paths) t.ok(statSync(path).size < 2500);
  t.strictSame((await log.judge()).problems, []);
  t.equal((await log.lines()).at(-1)?.redacted_summary, 'line 39');
  rmSync(paths[0] ?? '');
  t.match((await log.judge()).problems, [{ code: 'audit-missing' }], 'one more than they say');
  await log.write(...words.slice(0, 4));
  t.match((await log.judge()).problems, [{ code: 'audit-missing' }]);
});

t.test('an audit line that cannot be written leaves the log intact', async (t) => {
  const log = logOf(t);
  await using open = await log.open();
  await open.append({ principal_id: 'tui', action: 'submit', redacted_summary: 'one' });
  const big = { principal_id: 'tui', action: 'submit', redacted_summary: 'x'.repeat(5000) } as const;
  await t.rejects(open.append(big), { code: 'EVIDENCE_WRITE_FAILED' });
  await open.append({ principal_id: 'tui', action: 'submit', redacted_summary: 'two' });
  t.match(await log.judge(), { problems: [], lines: 2 });
});

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

function without(text: string, at: number): string {
  return text.split('\n').toSpliced(at, 1).join('\n');
}

function swapped(text: string): string {
  const [a, b, ...rest] = text.split('\n');
  return [b, a, ...rest].join('\n');
}

function linked(path: string): void {
  cpSync(path, `${path}.other`);
  rmSync(path);
  symlinkSync(`${path}.other`, path);
}
