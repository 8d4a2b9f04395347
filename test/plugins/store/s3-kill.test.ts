import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { isLong, leaveOut } from '../../rooms/long.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { startS3 } from './fault-proxy.ts';
import { openWriter, writeOnce } from './s3-writer.ts';

/*
 * A writer is killed at each request to the bucket: before the bucket has it, when the bucket has done it, and when
 * the writer has its answer. No content that was acknowledged is lost, and no part of a write is believed.
 */

const server = await startS3();
const root = mkdtempSync(join(tmpdir(), 'writ-s3-kill-'));
t.teardown(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});
const writer = fileURLToPath(new URL('./s3-writer.ts', import.meta.url));
const { dir: directory } = makeRepository(join(root, 'repo'));
const files = Array.from(
  { length: 18 },
  (_, index) => [`artifacts/${index}.log`, `line ${index}\n`.repeat(index + 1)] as const,
);

const config = `[store.s3]\nendpoint = "${server.endpoint}"\nbucket = "${server.bucket}"\nprefix = "kill/"\n`;

t.test('a ref does not move unless all of its content is stored', async (t) => {
  const ref = 'refs/ai/content/full';
  const order = { directory, config, ref, files };
  let puts = 0;
  server.fault = ({ method, key }) => {
    puts += method === 'PUT' && key.includes('/full/') ? 1 : 0;
    return puts > 5 ? { answer: 507, code: 'QuotaExceeded' } : undefined;
  };
  await t.rejects(writeOnce(order), { code: 'EVIDENCE_WRITE_FAILED', message: /507 QuotaExceeded/ });
  server.fault = undefined;
  const store = await openWriter(order);
  t.equal(await store.version(ref), undefined);
  await writeOnce(order);
  t.equal((await store.list(ref)).length, files.length);
});

const moments = ['before', 'done', 'answered'] as const;
/** The proof of conditions is one request, or two the first time; then each file is one. */
const rounds = moments.flatMap((moment) =>
  Array.from({ length: files.length + 1 }, (_, index) => ({ moment, at: index + 1 })),
);
const chosen = isLong ? rounds : rounds.filter(({ at }) => at === 7);
leaveOut(rounds.length - chosen.length);

t.test(`a writer is killed ${chosen.length} times`, { timeout: 900_000 }, async (t) => {
  let acknowledged = 0;
  for (const [round, { moment, at }] of chosen.entries()) {
    const ref = `refs/ai/content/run-${round}`;
    const order = { directory, config, ref, files };
    const child = spawn(process.execPath, [writer, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => said.push(part));
    const exited = new Promise((resolve) => child.once('close', resolve));
    const first = server.seen.length;
    server.fault = async ({ count }) => {
      if (count - first !== at) return undefined;
      if (moment === 'answered') return 'then-kill';
      if (moment === 'before') {
        child.kill('SIGKILL');
        await exited;
        return 'cut-request';
      }
      return 'lost-answer';
    };
    server.afterAnswer = () => void child.kill('SIGKILL');
    await exited;
    server.fault = undefined;

    const store = await openWriter(order);
    const isAcknowledged = Buffer.concat(said).toString() === 'written\n';
    const version = await store.version(ref);
    if (isAcknowledged) acknowledged += 1;
    t.ok(!isAcknowledged || version !== undefined, `${moment} ${at}: what was acknowledged is there`);
    // The ref is there whole, or not at all.
    const found = await store.readMany(
      ref,
      files.map(([path]) => path),
    );
    t.equal(found.size, version === undefined ? 0 : files.length, `${moment} ${at}`);
    // The run goes on: the same write again.
    const again = await writeOnce(order);
    t.ok(version === undefined || version === again, 'the same version');
    const whole = await store.readMany(
      ref,
      files.map(([path]) => path),
    );
    t.strictSame(
      files.map(([path]) => whole.get(path)?.toString()),
      files.map(([, text]) => text),
    );
    t.strictSame((await store.content?.audit(ref, true)) ?? ['none'], []);
    t.equal((await server.keys()).filter((key) => key.startsWith(`kill/run-${round}/`)).length, files.length);
  }
  t.comment(`${acknowledged} writes were acknowledged before the kill`);
});
