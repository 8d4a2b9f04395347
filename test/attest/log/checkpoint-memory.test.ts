import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import {
  type CheckpointMemory,
  openCheckpointMemory,
  type SeenLog,
} from '../../../attest/log/checkpoint-memory.ts';
import { parseVkey } from '../../../attest/log/note.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';

/** A memory that has seen a log at sizes 1 and 2, as the log itself keeps it. */
async function seen(t: Test) {
  const place = makePlace();
  t.teardown(() => rmSync(place.root, { recursive: true, force: true }));
  const ledger = openLedger(place);
  for (const text of ['one', 'two']) await ledger.append(Buffer.from(text));
  const { name: origin, keyId } = parseVkey(await ledger.vkey());
  const directory = join(place.root, 'memory');
  const file = (size: number): string => join(directory, globSync(`*/${size}`, { cwd: directory })[0] ?? '');
  return { memory: openCheckpointMemory(directory), log: { origin, keyId }, file };
}

t.test('a remembered checkpoint is found by its size, and a mismatch is STATE_CORRUPT', async (t) => {
  const { memory, log, file } = await seen(t);
  t.match(await memory.latest(log), { size: 2, origin: log.origin });
  t.match(await memory.at(log, 1), { size: 1 });
  t.equal(await memory.at(log, 3), undefined);
  copyFileSync(file(1), file(2));
  await t.rejects(memory.at(log, 2), { code: 'STATE_CORRUPT' }, 'a checkpoint of another size');
});

t.test('a stored checkpoint of another log is STATE_CORRUPT', async (t) => {
  const { memory, log, file } = await seen(t);
  const text = readFileSync(file(2), 'utf8');
  writeFileSync(file(2), text.replaceAll(log.origin, `${log.origin}x`));
  await t.rejects(memory.latest(log), { code: 'STATE_CORRUPT' });
});

t.test('an unused memory has no checkpoint', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'writ-memory-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const memory = openCheckpointMemory(join(root, 'none'));
  t.equal(await memory.latest({ origin: 'log', keyId: Buffer.alloc(32) }), undefined);
});

t.test('`near` returns the nearest smaller and the nearest larger checkpoint', async (t) => {
  const { memory, log } = await seen(t);
  const sizes = async (size: number) => (await memory.near(log, size)).map((one) => one.size);
  t.strictSame(await sizes(1), [2], 'itself is not next to it');
  t.strictSame(await sizes(2), [1]);
  t.strictSame(await sizes(9), [2]);
  t.strictSame(await sizes(0), [1]);
  t.strictSame(await memory.near({ ...log, keyId: Buffer.alloc(32) }, 1), []);
});

t.test('a log name with spaces, as in Rekor v1, is remembered and found again', async (t) => {
  const memory = openCheckpointMemory(t.testdir());
  const log = { origin: 'rekor.example - 1193050959916656506', keyId: Buffer.alloc(32, 1) };
  const source = `${log.origin}\n3\n${Buffer.alloc(32, 7).toString('base64')}\n\n\u2014 rekor.example AAAAAAA=\n`;
  await memory.remember({ ...log, size: 3, root: Buffer.alloc(32, 7), source });
  t.match(await memory.latest(log), { size: 3, origin: log.origin });
});

t.test('stored checkpoints are readable only by their user', async (t) => {
  const { file } = await seen(t);
  t.equal(statSync(file(2)).mode & 0o777, 0o600);
  t.equal(statSync(dirname(file(2))).mode & 0o777, 0o700);
});

/** What somebody may have put in the place of the newest checkpoint, or of what it stands in. */
const harms: Readonly<Record<string, (path: string) => void>> = {
  garbage: (path) => writeFileSync(path, '\u0000\u0001 nothing'),
  nothing: (path) => writeFileSync(path, ''),
  'half of it': (path) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, 60)),
  'more than a checkpoint holds': (path) => writeFileSync(path, Buffer.alloc(300 * 1024, 'x')),
  'a link to a sound one'(path) {
    renameSync(path, `${path}.moved`);
    symlinkSync(`${path}.moved`, path);
  },
  'a link to nowhere'(path) {
    rmSync(path);
    symlinkSync('/nowhere/at/all', path);
  },
  'a pipe'(path) {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  'a directory'(path) {
    rmSync(path);
    mkdirSync(path);
  },
  'a link for the folder of the log'(path) {
    renameSync(dirname(path), `${dirname(path)}-moved`);
    symlinkSync(`${dirname(path)}-moved`, dirname(path));
  },
  'a link to nowhere for the folder of the log'(path) {
    rmSync(dirname(path), { recursive: true });
    symlinkSync('/nowhere/at/all', dirname(path));
  },
  'a file for the folder of the log'(path) {
    rmSync(dirname(path), { recursive: true });
    writeFileSync(dirname(path), '');
  },
  'a file for all that was seen'(path) {
    rmSync(dirname(dirname(path)), { recursive: true });
    writeFileSync(dirname(dirname(path)), '');
  },
};

for (const [what, harm] of Object.entries(harms))
  t.test(`${what} in place of a remembered checkpoint is STATE_CORRUPT and is not overwritten`, async (t) => {
    const { memory, log, file } = await seen(t);
    harm(file(2));
    const ways: Readonly<Record<string, (memory: CheckpointMemory, log: SeenLog) => Promise<unknown>>> = {
      latest: (memory, log) => memory.latest(log),
      at: (memory, log) => memory.at(log, 2),
      near: (memory, log) => memory.near(log, 3),
      remember: (memory, log) =>
        memory.remember({ ...log, size: 2, root: Buffer.alloc(32), source: 'never written' }),
    };
    for (const [way, ask] of Object.entries(ways))
      await t.rejects(
        ask(memory, log),
        {
          code: 'STATE_CORRUPT',
          message: /expected .*found .*remove/,
          detail: { found: what.startsWith('more than') ? /^\d+ octets$/ : /./ },
        },
        way,
      );
  });
