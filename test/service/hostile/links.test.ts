import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import type { ErrorCode } from '../../../core/base/error-codes.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { formatDiscovery } from '../../../http/private-files.ts';
import { findService } from '../../../service/find-service.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { type Ground, makeGround, openGround } from './open-ground.ts';
import { openSteward } from './open-steward.ts';
import { markTarget } from './sound-request.ts';

/** Everything below a directory that a write could change. */
function snapshot(directory: string): unknown {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, mtimeMs, ctimeMs, ino } = lstatSync(join(directory, name));
      const path = join(directory, name);
      return {
        name,
        mode,
        mtimeMs,
        ctimeMs,
        ino,
        text: statSync(path).isFile() ? readFileSync(path, 'hex') : '',
      };
    });
}

t.test('swapping a directory for a symlink during a request writes nothing outside', async (t) => {
  const place = await openGround(t);
  const steward = await openSteward(t, place);
  const before = snapshot(place.outside);
  const stop = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL('./swap-links.ts', import.meta.url), {
    workerData: { root: place.root, outside: place.outside, stop, seed: toldSeed(t) },
  });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const wanted = 10;
  const outcomes = { marked: 0, refused: 0 };
  const marked = new Set<unknown>();
  for (let asked = 0; asked < 50_000 && Math.min(outcomes.marked, outcomes.refused) < wanted; asked += 1) {
    try {
      const answer = await steward.ask(markTarget, { paths: ['swapped/x', 'swapped/y/../z'] });
      outcomes.marked += 1;
      for (const path of answer.marked as readonly string[]) marked.add(path);
    } catch (fault) {
      if (!String(fault).includes('PATH_ESCAPES_REPOSITORY')) throw fault;
      outcomes.refused += 1;
    }
  }
  Atomics.store(stop, 0, 1);
  await ended;
  t.ok(
    outcomes.marked > 0 && outcomes.refused > 0,
    `both were met: ${JSON.stringify(outcomes)}, ${stop[1]} swaps`,
  );
  t.strictSame([...marked].sort(), ['swapped/x', 'swapped/z']);
  const { stored } = await steward.look();
  t.strictSame(stored, ['swapped/x', 'swapped/z'], 'and the marks are names within the repository');
  t.strictSame(snapshot(place.outside), before, 'nothing outside was written');
  t.strictSame(place.faults, []);
});

const content = 'somebody else’s\n';

/**
 * What a repository that is cloned can bring: links to a file (`dir`: to a directory) outside; nothing else is in
 * `.writ`.
 */
function plant(ground: Ground, links: readonly string[], dir = false): void {
  const target = join(ground.outside, 'target');
  rmSync(join(ground.root, '.writ'), { recursive: true, force: true });
  rmSync(target, { recursive: true, force: true });
  if (dir) mkdirSync(target);
  else writeFileSync(target, content, { mode: 0o644 });
  for (const link of links) {
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link);
  }
}

t.test('replaces a planted symlink and never writes through it', async (t) => {
  const ground = await makeGround(t);
  const { token, discovery } = ground.files;
  plant(ground, [token, discovery]);
  const before = snapshot(ground.outside);
  const place = await openGround(t, {}, ground);
  for (const path of [token, discovery]) {
    t.ok(lstatSync(path).isFile(), 'it is a file of ours now');
    t.equal(statSync(path).mode & 0o777, 0o600);
  }
  await place.service.stop();
  t.notOk(existsSync(token) || existsSync(discovery), 'and is gone afterwards');
  t.strictSame(snapshot(ground.outside), before, 'the target is as it was');
});

t.test('refuses to start if a planted symlink cannot be replaced', async (t) => {
  const ground = await makeGround(t);
  const { root, files } = ground;
  const kinds: readonly (readonly [code: ErrorCode, link: string, dir?: boolean])[] = [
    ['PRIVATE_FILE_UNSAFE', join(root, '.writ'), true],
    ['PRIVATE_FILE_UNSAFE', files.directory, true],
    ['PRIVATE_FILE_UNSAFE', files.directory],
    ['PRIVATE_FILE_UNSAFE', files.lock],
    ['STATE_UNUSABLE', files.database],
    ['STATE_UNUSABLE', `${files.database}-wal`],
    ['STATE_UNUSABLE', `${files.database}-journal`],
    ['STATE_UNUSABLE', `${files.database}.lock`, true],
  ];
  for (const [code, link, dir] of kinds) {
    plant(ground, [link], dir);
    const before = snapshot(ground.outside);
    const says = `${link.slice(root.length)}${dir ? ' to a directory' : ''}`;
    const fault = await openGround(t, {}, ground).catch((fault: unknown) => fault);
    t.ok(isWritError(fault, code), `${says}: ${code}, found ${String(fault)}`);
    t.strictSame(snapshot(ground.outside), before, `${says}: the target is as it was`);
    t.ok(lstatSync(link).isSymbolicLink(), 'and the link is there to be looked at');
    t.notOk(existsSync(files.token), 'nothing is published');
    rmSync(link);
  }
  const place = await openGround(t, {}, ground);
  t.strictSame(
    await (await openSteward(t, place)).look(),
    { stored: [], published: [] },
    'without it, it does',
  );
});

t.test('a dangling symlink does not create its target', async (t) => {
  const ground = await makeGround(t);
  const { outside, files } = ground;
  const replaced = [
    files.token,
    files.discovery,
    `${files.database}.new`,
    join(files.directory, '.gitignore'),
  ];
  for (const links of [[files.directory], [files.lock], [files.database], replaced]) {
    plant(ground, links);
    rmSync(join(outside, 'target'));
    const before = snapshot(outside);
    const place = await openGround(t, {}, ground).catch(() => undefined);
    t.equal(place !== undefined, links === replaced, 'where it can be replaced, the service starts');
    await place?.service.stop();
    t.strictSame(snapshot(outside), before, links.join().replaceAll(ground.root, ''));
    for (const link of links) rmSync(link, { force: true });
  }
});

t.test('replaces or refuses an unexpected file in place of its own, without hanging', async (t) => {
  const ground = await makeGround(t);
  mkdirSync(ground.files.directory, { recursive: true });
  chmodSync(ground.files.directory, 0o777);
  mkdirSync(ground.files.token);
  const fault = await openGround(t, {}, ground).catch((fault: unknown) => fault);
  t.ok(isWritError(fault, 'PRIVATE_FILE_UNSAFE'), 'a directory in place of the token');
  rmSync(ground.files.token, { recursive: true });
  writeFileSync(ground.files.token, 'known to everybody', { mode: 0o666 });
  const place = await openGround(t, {}, ground);
  t.match(place.token, /^[\w-]{43}$/, 'a token that somebody else has laid there is not used');
  t.equal(statSync(ground.files.token).mode & 0o777, 0o600);
  t.equal(statSync(ground.files.directory).mode & 0o777, 0o700, 'and nobody else can enter');
});

t.test('discovery refuses a planted symlink without reading through it', async (t) => {
  const ground = await makeGround(t);
  const { root, files } = ground;
  plant(ground, []);
  mkdirSync(files.directory, { recursive: true });
  symlinkSync('/dev/zero', files.lock);
  const startedAt = '2026-01-01T00:00:00.000Z';
  const discovery = {
    version: 1,
    mode: 'service',
    pid: 1,
    baseUrl: 'http://127.0.0.1:1',
    workingDir: root,
    startedAt,
  } as const;
  writeFileSync(files.discovery, formatDiscovery(discovery), { mode: 0o600 });
  await t.rejects(findService(files), { code: 'PRIVATE_FILE_UNSAFE', detail: { path: files.lock } });
  rmSync(files.lock);
  t.equal((await findService(files)).state, 'stale', 'a planted address without a lock is nobody’s');
  rmSync(files.discovery);
  symlinkSync('/dev/zero', files.discovery);
  await t.rejects(findService(files), { code: 'PRIVATE_FILE_UNSAFE', detail: { path: files.discovery } });
});
