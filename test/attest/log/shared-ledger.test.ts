import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { auditLedger } from '../../../attest/log/check-ledger.ts';
import { parseTlogProof, verifyCheckpoint } from '../../../attest/log/checkpoint.ts';
import { writeDurably } from '../../../attest/log/ledger-files.ts';
import { addToken, listTokens, removeToken } from '../../../attest/log/ledger-tokens.ts';
import { leafHash, rootFromInclusion } from '../../../attest/log/merkle.ts';
import { acceptEntries, serveLedger } from '../../../attest/log/serve-ledger.ts';
import { parseBatchRecord, type SharedLedger } from '../../../attest/log/shared-ledger.ts';
import { isPartOf, parseEntries, readFrom, tilePath, tileWidth, widthAt } from '../../../attest/log/tiles.ts';
import { type TlogPolicy, verifyByPolicy } from '../../../attest/log/witness-policy.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { LogProof } from '../../../core/interfaces/sealing.ts';
import { isLong, long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import {
  bearer,
  entryOf,
  makeClient,
  makeSharedPlace,
  openShared,
  policyOf,
  post,
  type SharedPlace,
  startShared,
} from './shared-fixture.ts';
import { startWitness, type WitnessServer } from './witness-server.ts';

function makePlace(t: Test): SharedPlace {
  const place = makeSharedPlace();
  t.teardown(() => rmSync(place.root, { recursive: true, force: true }));
  return place;
}

async function makeWitnesses(t: Test, place: SharedPlace, ...names: readonly string[]) {
  const witnesses: WitnessServer[] = [];
  for (const name of names) {
    const witness = await startWitness(name, () => [place.key]);
    t.teardown(() => witness.close());
    witnesses.push(witness);
  }
  const group = `group quorum-of-all ${Math.ceil((names.length + 1) / 2)} ${names.join(' ')}`;
  const lines = [...witnesses.map(({ policyLine }) => policyLine), group, 'quorum quorum-of-all'];
  return { witnesses, lines, policy: policyOf(lines) };
}

/** Every entry of the ledger, batch records included. */
async function entriesOf({ directory, key }: SharedPlace): Promise<readonly Buffer[]> {
  const read = readFrom(join(directory, 'log'));
  const head = verifyCheckpoint(Buffer.from((await read('checkpoint')) ?? []).toString(), [key]);
  await auditLedger(read, head);
  const entries: Buffer[] = [];
  for (let at = 0; at * tileWidth < head.size; at += 1) {
    const bundle = await read(tilePath('entries', at, widthAt(0, at, head.size)));
    entries.push(...(parseEntries(Buffer.from(bundle ?? [])) ?? []));
  }
  return entries;
}

/** What the batch records say of each entry. Fails where they do not cover every entry exactly once. */
function repositoriesOf(entries: readonly Buffer[]): readonly string[] {
  const names: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const record = parseBatchRecord(entry);
    if (record === undefined) continue;
    if (record.first !== names.length) throw new Error(`record ${index} begins at ${record.first}`);
    for (const [name, count] of record.repositories) names.push(...Array<string>(count).fill(name));
    if (names.length !== index) throw new Error(`record ${index} ends at ${names.length}`);
    names.push('');
  }
  if (names.length !== entries.length) throw new Error('entries without a record');
  return names;
}

/** As a verifier holds it, without the server. */
function requireProof(place: SharedPlace, body: Buffer, proof: LogProof, policy?: TlogPolicy): void {
  const { size, root } = verifyCheckpoint(proof.checkpoint, [place.key]);
  if (policy) verifyByPolicy(proof.checkpoint, policy, [place.key]);
  if (rootFromInclusion(proof.logIndex, size, leafHash(body), proof.hashes)?.equals(root) !== true)
    throw new Error(`the proof of entry ${proof.logIndex} does not hold`);
}

t.test('appends of many repositories share checkpoints, and each proof holds offline', async (t) => {
  const place = makePlace(t);
  const { policy, witnesses } = await makeWitnesses(t, place, 'w1', 'w2', 'w3');
  const ledger = await openShared(place, policy);
  const bodies = Array.from({ length: 600 }, (_, n) => entryOf(`entry ${n}`));
  const proofs = await Promise.all(bodies.map((body, n) => ledger.add(body, `repo-${n % 7}`)));
  for (const [n, proof] of proofs.entries()) requireProof(place, bodies[n] ?? Buffer.alloc(0), proof, policy);
  t.ok(new Set(proofs.map(({ treeSize }) => treeSize)).size <= 2, 'few checkpoints');
  const entries = await entriesOf(place);
  const names = repositoriesOf(entries);
  for (const [n, { logIndex }] of proofs.entries()) t.equal(names[logIndex], `repo-${n % 7}`);
  t.ok(witnesses.some((witness) => witness.seen()?.size === ledger.head().size));
  await ledger.close();
  await t.rejects(ledger.add(entryOf('late'), 'repo-1'), { code: 'LEDGER_UNAVAILABLE' });
});

t.test(
  'an entry that is sent again keeps its number, also at the same time and after a restart',
  async (t) => {
    const place = makePlace(t);
    let ledger = await openShared(place);
    const body = entryOf('once');
    const [first, second] = await Promise.all([ledger.add(body, 'a'), ledger.add(body, 'b')]);
    t.equal(second?.logIndex, first?.logIndex);
    await Promise.all(Array.from({ length: 300 }, (_, n) => ledger.add(entryOf(`more ${n}`), 'a')));
    t.equal((await ledger.add(body, 'a')).logIndex, first?.logIndex);
    await ledger.close();
    ledger = await openShared(place);
    const again = await ledger.add(body, 'a');
    t.equal(again.logIndex, first?.logIndex);
    requireProof(place, body, again);
    t.equal((await entriesOf(place)).filter((entry) => entry.equals(body)).length, 1);
    await ledger.close();
  },
);

t.test('a body that is no entry of a run is refused, above all a batch record', async (t) => {
  const place = makePlace(t);
  const ledger = await openShared(place);
  await ledger.add(entryOf('one'), 'a');
  const record = (await entriesOf(place)).find((entry) => parseBatchRecord(entry) !== undefined);
  for (const body of [record ?? Buffer.alloc(0), Buffer.from('text'), Buffer.from('{}'), Buffer.alloc(0)])
    await t.rejects(ledger.add(body, 'a'), { code: 'ATTESTATION_MALFORMED' });
  await ledger.close();
});

t.test('a directory has one server', async (t) => {
  const place = makePlace(t);
  const server = await startShared(place);
  await t.rejects(openShared(place, undefined, { lockWaitMs: 0 }), { code: 'LEDGER_BUSY' });
  server?.child.stdin?.end();
  await server?.ended;
  await (await openShared(place)).close();
});

t.test('without a quorum nothing is acknowledged, and what was signed is published first', async (t) => {
  const place = makePlace(t);
  const { policy, witnesses } = await makeWitnesses(t, place, 'w1', 'w2', 'w3');
  const [w1, w2, w3] = witnesses;
  let ledger = await openShared(place, policy);
  await ledger.add(entryOf('first'), 'a');
  for (const one of [w1, w2]) if (one) one.mood = () => ({ status: 503 });
  await t.rejects(ledger.add(entryOf('second'), 'a'), { code: 'LEDGER_UNWITNESSED' });
  t.equal(ledger.head().size, 2, 'nothing is published');
  t.equal(w3?.seen()?.size, 4, 'one witness has signed it');
  // The next server must not sign another tree of that size.
  await ledger.close();
  for (const one of [w1, w2]) if (one) one.mood = () => undefined;
  ledger = await openShared(place, policy);
  const proof = await ledger.add(entryOf('third'), 'b');
  requireProof(place, entryOf('third'), proof, policy);
  const again = await ledger.add(entryOf('second'), 'a');
  t.equal(again.logIndex, 2, 'it was appended when its checkpoint was signed');
  for (const { shown } of witnesses) for (const roots of shown.values()) t.equal(roots.size, 1);
  await ledger.close();
});

t.test('a ledger that was put back from an older copy is refused by what a witness has seen', async (t) => {
  const place = makePlace(t);
  const { policy } = await makeWitnesses(t, place, 'w1');
  let ledger = await openShared(place, policy);
  await ledger.add(entryOf('first'), 'a');
  const old = new Map(
    ['checkpoint', tilePath(0, 0, 2), tilePath('entries', 0, 2)].map((path) => [path, ledger.read(path)]),
  );
  const files = await Promise.all(
    [...old].map(async ([path, bytes]) => [path, (await bytes) ?? ''] as const),
  );
  await ledger.add(entryOf('second'), 'a');
  await ledger.close();
  rmSync(join(place.directory, 'log'), { recursive: true });
  // Another machine has no memory of its own.
  rmSync(join(place.root, 'memory'), { recursive: true });
  await writeFiles(join(place.directory, 'log'), new Map(files));
  ledger = await openShared(place, policy);
  await t.rejects(ledger.add(entryOf('other'), 'a'), {
    code: 'LEDGER_INCOMPLETE',
    detail: { seen: 4, size: 2, missing: [2, 3] },
  });
  await ledger.close();
});

async function writeFiles(directory: string, files: ReadonlyMap<string, Uint8Array | string>): Promise<void> {
  mkdirSync(join(directory, 'tmp'), { recursive: true });
  await writeDurably(directory, files, join(directory, 'tmp'));
}

for (const cosigned of [false, true])
  t.test(
    `a disk that is full at any write ${cosigned ? 'with' : 'without'} witnesses loses nothing`,
    async (t) => {
      const place = makePlace(t);
      const { policy, witnesses } = await makeWitnesses(t, place, 'w1');
      let failsAt = Number.POSITIVE_INFINITY;
      let writes = 0;
      const open = (): Promise<SharedLedger> =>
        openShared(place, cosigned ? policy : undefined, {
          write: async (directory, files, temporary) => {
            writes += 1;
            if (writes === failsAt) {
              // Some of it is in place, as after a real fault.
              await writeDurably(directory, new Map([...files].slice(0, 1)), temporary);
              throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
            }
            await writeDurably(directory, files, temporary);
          },
        });
      let ledger = await open();
      const acknowledged = new Map<string, number>();
      for (let step = 1; step <= 4; step += 1) {
        for (const restarts of [false, true]) {
          writes = 0;
          failsAt = step;
          const text = `${step} ${restarts}`;
          const outcome = await ledger.add(entryOf(text), 'a').catch((fault: unknown) => fault);
          if (isWritError(outcome)) t.equal(outcome.code, 'LEDGER_FULL');
          failsAt = Number.POSITIVE_INFINITY;
          if (restarts) {
            await ledger.close();
            ledger = await open();
          }
          // Another entry comes first: it must not take the place of one that was signed.
          const other = await ledger.add(entryOf(`other ${text}`), 'b');
          acknowledged.set(`other ${text}`, other.logIndex);
          const proof = await ledger.add(entryOf(text), 'a');
          requireProof(place, entryOf(text), proof, cosigned ? policy : undefined);
          acknowledged.set(text, proof.logIndex);
        }
      }
      const entries = await entriesOf(place);
      repositoriesOf(entries);
      for (const [text, index] of acknowledged) {
        t.ok(entries[index]?.equals(entryOf(text)), `${text} is entry ${index}`);
        t.equal(entries.filter((entry) => entry.equals(entryOf(text))).length, 1);
      }
      for (const { shown } of witnesses) for (const roots of shown.values()) t.equal(roots.size, 1);
      await ledger.close();
    },
  );

t.test('the server refuses what has no token, is too large, too frequent, or no entry', async (t) => {
  const place = makePlace(t);
  const ledger = await openShared(place);
  const add = acceptEntries(place.directory, ledger, systemClock, () => undefined);
  const server = await serveLedger(ledger.read, { port: 0, add });
  t.teardown(async () => {
    await ledger.close();
    await server.close();
  });
  const { url } = server;
  const { token } = await makeClient(place, 'shop');
  const other = await makeClient(place, 'other');
  const file = join(place.directory, 'tokens', 'shop');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.notMatch(JSON.stringify(readdirSync(join(place.directory, 'tokens'))), token);
  const secret = token.split(':')[1] ?? '';
  for (const wrong of [
    undefined,
    '',
    'x',
    `other:${secret}`,
    `shop:${secret}x`,
    'shop:',
    `../tokens/shop:${secret}`,
  ])
    t.match(
      await post(url, entryOf('a'), wrong === undefined ? {} : bearer(wrong)),
      { status: 401, headers: { 'www-authenticate': 'Bearer' } },
      `${wrong}`,
    );
  const answer = await post(url, entryOf('a'), bearer(token));
  t.equal(answer.status, 200);
  const { index, hashes, checkpoint, body } = parseTlogProof(answer.body);
  t.ok(body?.equals(entryOf('a')), 'the answer is a complete proof file');
  t.equal(repositoriesOf(await entriesOf(place))[index], 'shop');
  t.ok(verifyCheckpoint(checkpoint, [place.key]).size > hashes.length);
  t.equal((await post(url, Buffer.alloc(16_385), bearer(token))).status, 413);
  const chunked = { ...bearer(token), 'transfer-encoding': 'chunked' };
  t.equal((await post(url, Buffer.alloc(16_385), chunked)).status, 413);
  t.equal((await post(url, Buffer.from('no entry'), bearer(token))).status, 422);
  t.equal((await post(url, entryOf('a'), bearer(token), { path: '/add?behind=x' })).status, 400);
  t.equal((await post(url, entryOf('a'), bearer(token), { path: '/checkpoint' })).status, 405);
  t.equal((await post(url, entryOf('a'), { ...bearer(token), host: 'evil.example' })).status, 403);
  t.ok(await removeToken(place.directory, 'shop'));
  t.equal((await post(url, entryOf('b'), bearer(token))).status, 401, 'at once');
  await t.rejects(addToken(place.directory, 'other', { perMinute: 1, maxBytes: 9 }), { code: 'USAGE' });
  await t.rejects(addToken(place.directory, '../up', { perMinute: 1, maxBytes: 9 }), { code: 'USAGE' });
  const slow = await addToken(place.directory, 'slow', { perMinute: 2, maxBytes: 9_999 });
  const statuses: number[] = [];
  for (const text of ['1', '2', '3']) statuses.push((await post(url, entryOf(text), bearer(slow))).status);
  t.same(statuses, [200, 200, 429]);
  t.match(await post(url, entryOf('3'), bearer(slow)), { headers: { 'retry-after': /^[1-9]/ } });
  t.same(
    (await listTokens(place.directory)).map(({ name, perMinute }) => [name, perMinute]),
    [
      ['other', 1_000_000],
      ['slow', 2],
    ],
  );
  // A file that others can read, or a link, is no token.
  writeFileSync(join(place.directory, 'tokens', 'loose'), '{}', { mode: 0o644 });
  t.equal((await post(url, entryOf('x'), bearer('loose:x'))).status, 500);
  unlinkSync(join(place.directory, 'tokens', 'loose'));
  t.equal((await post(url, entryOf('y'), bearer(other.token))).status, 200);
});

t.test('plain HTTP beyond the loopback is refused', async (t) => {
  const place = makePlace(t);
  const ledger = await openShared(place);
  await t.rejects(serveLedger(ledger.read, { port: 0, host: '0.0.0.0' }), { code: 'USAGE' });
  await ledger.close();
});

t.test('a client that sends half an entry, or disappears, holds up no one', async (t) => {
  const place = makePlace(t);
  const { policy } = await makeWitnesses(t, place, 'w1');
  const ledger = await openShared(place, policy);
  const add = acceptEntries(place.directory, ledger, systemClock, () => undefined);
  const server = await serveLedger(ledger.read, { port: 0, add });
  const { token } = await makeClient(place, 'shop');
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  const head = `POST /add HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 500\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(`${head}half`, () => resolve()));
  t.equal((await post(server.url, entryOf('a'), bearer(token))).status, 200);
  socket.destroy();
  t.equal((await post(server.url, entryOf('b'), bearer(token))).status, 200);
  await ledger.close();
  await server.close();
});

interface Killed {
  readonly rounds: number;
  readonly clients: number;
  /** Entries of each client. */
  readonly each: number;
  /** Without witnesses, checkpoints are published in another way. */
  readonly alone?: boolean;
}

/**
 * Clients send until everything is acknowledged, while the server is killed at any instant and witnesses fail. Then the
 * log must hold each acknowledged entry at its number, and no entry twice.
 */
async function killAndCompare(t: Test, { rounds, clients, each, alone = false }: Killed): Promise<void> {
  const place = makePlace(t);
  const { witnesses, lines, policy } = await makeWitnesses(t, place, 'w1', 'w2', 'w3');
  for (const [n, witness] of witnesses.entries())
    witness.mood = (submission) => ((submission + n) % 11 === 0 ? { status: 503 } : undefined);
  const asked = alone ? '' : lines.join('\n');
  let server = await startShared(place, asked);
  let kills = 0;
  let isOver = false;
  const acknowledged = new Map<string, { readonly index: number; readonly proof: LogProof }>();
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  async function send(text: string, token: string): Promise<void> {
    while (!isOver) {
      const answer =
        server && (await post(server.url, entryOf(text), bearer(token), { agent }).catch(() => undefined));
      if (answer?.status === 200) {
        const { index, hashes, checkpoint } = parseTlogProof(answer.body);
        const { size, root } = verifyCheckpoint(checkpoint, [place.key]);
        const proof = {
          origin: '',
          logIndex: index,
          treeSize: size,
          rootHash: root,
          hashes,
          checkpoint,
          body: entryOf(text),
        };
        requireProof(place, entryOf(text), proof, alone ? undefined : policy);
        const before = acknowledged.get(text);
        if (before !== undefined && before.index !== index) throw new Error(`${text} moved`);
        acknowledged.set(text, { index, proof });
        return;
      }
      if (answer !== undefined && answer.status < 500) throw new Error(`${answer.status} ${answer.body}`);
      await instant(5);
    }
  }
  const sending = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const { token } = await makeClient(place, `client-${client}`);
      for (let n = 0; n < each || kills < rounds; n += 1) {
        await send(`${client} ${n}`, token);
        // Some are sent again although they were acknowledged.
        if (n % 5 === 0) await send(`${client} ${n}`, token);
      }
    }),
  );
  const killing = (async () => {
    while (kills < rounds) {
      const before = acknowledged.size;
      const delay = (kills * 37) % 120;
      await instant(delay);
      // Each server gets somewhere, so that the loop ends.
      while (kills % 3 === 0 && acknowledged.size === before) await instant(5);
      server?.child.kill('SIGKILL');
      await server?.ended;
      kills += 1;
      server = await startShared(place, asked);
    }
  })();
  try {
    await Promise.all([sending, killing]);
  } finally {
    isOver = true;
    server?.child.stdin?.end();
    await server?.ended;
    agent.destroy();
  }
  const entries = await entriesOf(place);
  const names = repositoriesOf(entries);
  const counted = new Map<string, number>();
  for (const entry of entries)
    counted.set(entry.toString('latin1'), (counted.get(entry.toString('latin1')) ?? 0) + 1);
  t.equal(Math.max(...counted.values()), 1, 'no entry is counted twice');
  const read = readFrom(join(place.directory, 'log'));
  const head = verifyCheckpoint(Buffer.from((await read('checkpoint')) ?? []).toString(), [place.key]);
  const sizes = new Map([...acknowledged.values()].map(({ proof }) => [proof.treeSize, proof]));
  for (const { treeSize: size, rootHash } of sizes.values())
    if (!(await isPartOf({ size, root: Buffer.from(rootHash) }, { head, read })))
      t.fail(`checkpoint ${size} is no prefix`);
  for (const [text, { index }] of acknowledged) {
    if (!entries[index]?.equals(entryOf(text))) t.fail(`${text} is not entry ${index}`);
    if (names[index] !== `client-${text.split(' ')[0]}`) t.fail(`${text} is of ${names[index]}`);
  }
  for (const { shown } of witnesses)
    for (const [size, roots] of shown) if (roots.size > 1) t.fail(`two trees of ${size} entries were signed`);
  t.ok(
    acknowledged.size >= clients * each,
    `${acknowledged.size} entries, ${kills} kills, ${head.size} in the log`,
  );
}

t.test('a server that is killed loses nothing and signs one history', (t) =>
  killAndCompare(t, { rounds: 1, clients: 4, each: 5 }),
);
long('a server that is killed 120 times loses nothing and signs one history', { timeout: 600_000 }, (t) =>
  killAndCompare(t, { rounds: 120, clients: 16, each: 20 }),
);
long('a server without witnesses that is killed 60 times loses nothing', { timeout: 600_000 }, (t) =>
  killAndCompare(t, { rounds: 60, clients: 16, each: 20, alone: true }),
);

long('1,000 clients with tokens of their own append at the same time', { timeout: 600_000 }, async (t) => {
  const place = makePlace(t);
  const { lines, policy } = await makeWitnesses(t, place, 'w1', 'w2', 'w3');
  const server = await startShared(place, lines.join('\n'));
  if (server === undefined) throw new Error('the server did not start');
  const clients = await Promise.all(Array.from({ length: 1000 }, (_, n) => makeClient(place, `client-${n}`)));
  const found: {
    readonly index: number;
    readonly size: number;
    readonly name: string;
    readonly body: Buffer;
  }[] = [];
  await Promise.all(
    clients.map(async ({ name, token }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 0; n < 5; n += 1) {
        const body = entryOf(`${name} ${n}`);
        const answer = await post(server.url, body, bearer(token), { agent });
        if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body}`);
        const { index, hashes, checkpoint } = parseTlogProof(answer.body);
        const { size, root } = verifyCheckpoint(checkpoint, [place.key]);
        const at = { origin: '', logIndex: index, treeSize: size, rootHash: root, hashes, checkpoint, body };
        requireProof(place, body, at, policy);
        found.push({ index, size, name, body });
      }
      agent.destroy();
    }),
  );
  server.child.stdin?.end();
  await server.ended;
  t.equal(found.length, 5000);
  t.equal(new Set(found.map(({ index }) => index)).size, 5000);
  const entries = await entriesOf(place);
  const names = repositoriesOf(entries);
  for (const { index, name, body } of found)
    if (!entries[index]?.equals(body) || names[index] !== name) t.fail(`${name} is not entry ${index}`);
  const checkpoints = new Set(found.map(({ size }) => size)).size;
  t.ok(checkpoints < 1000, `${checkpoints} checkpoints for 5,000 entries`);
});

/** A file system of one megabyte, which only root can mount. */
const mount = (directory: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]).status === 0;

function cannotMount(): string | false {
  if (!isLong) return false;
  const directory = mkdtempSync(join(tmpdir(), 'writ-mount-'));
  const works = mount(directory) && spawnSync('umount', [directory]).status === 0;
  rmSync(directory, { recursive: true });
  return works ? false : 'no file system can be mounted here';
}

const full = { timeout: 600_000, skip: cannotMount() };
long('a disk that is full refuses entries, and accepts them when there is space again', full, async (t) => {
  const place = makeSharedPlace();
  mkdirSync(place.directory);
  mount(place.directory);
  // It is unmounted before the place is removed.
  t.teardown(() => {
    spawnSync('umount', [place.directory]);
    rmSync(place.root, { recursive: true, force: true });
  });
  const { token } = await makeClient(place, 'shop');
  let server = await startShared(place);
  const acknowledged = new Map<string, number>();
  const send = async (text: string): Promise<number> => {
    const answer = await post(server?.url ?? '', entryOf(text), bearer(token));
    if (answer.status === 200) acknowledged.set(text, parseTlogProof(answer.body).index);
    else t.match(answer.body.toString(), /LEDGER_FULL/);
    return answer.status;
  };
  const filler = join(place.directory, 'filler');
  let refusals = 0;
  for (let round = 0; round < 20; round += 1) {
    t.equal(await send(`before ${round}`), 200);
    const { bavail, bsize } = statfsSync(place.directory);
    writeFileSync(filler, Buffer.alloc(Math.max(0, (bavail - (round % 8)) * bsize)));
    let n = 0;
    while ((await send(`${round} ${n}`)) === 200) n += 1;
    refusals += 1;
    if (round % 4 === 3) {
      server?.child.kill('SIGKILL');
      await server?.ended;
    }
    unlinkSync(filler);
    if (round % 4 === 3) server = await startShared(place);
    t.equal(await send(`${round} ${n}`), 200);
  }
  server?.child.stdin?.end();
  await server?.ended;
  t.equal(refusals, 20);
  const entries = await entriesOf(place);
  repositoriesOf(entries);
  for (const [text, index] of acknowledged)
    if (!entries[index]?.equals(entryOf(text))) t.fail(`${text} is not entry ${index}`);
});

long('a file that may not grow is a full disk', async (t) => {
  const place = makePlace(t);
  const { token } = await makeClient(place, 'shop');
  // 24 KiB: some 30 entries in one bundle.
  let server = await startShared(place, '', ['sh', '-c', 'ulimit -f 24; exec "$0" "$@"']);
  let n = 0;
  while ((await post(server?.url ?? '', entryOf(`${n}`), bearer(token))).status === 200) n += 1;
  t.match((await post(server?.url ?? '', entryOf(`${n}`), bearer(token))).body.toString(), /LEDGER_FULL/);
  server?.child.stdin?.end();
  await server?.ended;
  server = await startShared(place);
  t.equal((await post(server?.url ?? '', entryOf(`${n}`), bearer(token))).status, 200);
  server?.child.stdin?.end();
  await server?.ended;
  const entries = await entriesOf(place);
  for (let at = 0; at <= n; at += 1)
    t.equal(entries.filter((entry) => entry.equals(entryOf(`${at}`))).length, 1);
});
