import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatBundle, parseBundle } from '../../../attest/bundle/bundle.ts';
import { parsePublicKey } from '../../../attest/encoding/public-key.ts';
import { openUserLedgerKey, openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { formatTlogProof, signCheckpoint, verifyCheckpoint } from '../../../attest/log/checkpoint.ts';
import { openUserLedger, userCheckpointMemory } from '../../../attest/log/internal-ledger-source.ts';
import { leafHash } from '../../../attest/log/merkle.ts';
import { ledgerKeyFor, parseVkey } from '../../../attest/log/note.ts';
import {
  formatEntry,
  parseEntries,
  proveInclusion,
  readFrom,
  readSubtrees,
} from '../../../attest/log/tiles.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import type { EvidenceSource } from '../../../attest/verify/evidence-source.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { rootOver, tilesOver } from '../../attest/log/test-tree.ts';
import {
  makeMachine,
  rebound,
  removeMachines,
  type SealedRun,
  sealRun,
  toSource,
} from '../../attest/verify/sealed-run.ts';
import type { Loose } from '../../attest/verify/strangers.ts';
import { runLine } from '../../bin/host.ts';
import { proofPath, provenancePath, withFile } from '../mutants.ts';

t.teardown(removeMachines);

const author = makeMachine();
const authorEnv = { HOME: author.home };
const ledgerFiles = readFrom(join(author.commonDir, 'writ/ledger'));
const exported: string[] = [];
const runs: SealedRun[] = [];
for (let n = 1; n <= 5; n += 1) {
  // Exported as soon as it was sealed: the file of run n knows n entries. All are `run-1`, so that any can be rebound.
  const run = await sealRun(author, { runId: 'run-1', artifactDays: 30, moreEvidence: n });
  runs.push(run);
  exported.push(await formatEvidenceFile('run-1', toSource(run, author)));
}
const signer = await openUserLedgerKey(authorEnv);
const vkey = await openUserLedger(author.commonDir, authorEnv, systemClock).vkey();
const { name: origin } = parseVkey(vkey);
const key = ledgerKeyFor(origin, parsePublicKey(signer.publicKeyPem));
const pem = (await openUserSigningKey(authorEnv)).publicKeyPem;
const honest = parseEntries(Buffer.from((await ledgerFiles('tile/entries/000.p/5')) ?? [])) ?? [];

/** A whole tree over these entries, signed by the log's own key: what its holder can always make. */
async function treeOver(entries: readonly Buffer[]): Promise<Map<string, Buffer>> {
  const leaves = entries.map(leafHash);
  const { source } = await signCheckpoint({ size: leaves.length, root: await rootOver(leaves) }, signer, key);
  return new Map([
    ['checkpoint', Buffer.from(source)],
    [`tile/entries/000.p/${entries.length}`, Buffer.concat(entries.map(formatEntry))],
    ...[...tilesOver(leaves)].map(([path, bytes]) => [path, Buffer.from(bytes)] as const),
  ]);
}

/** Run `n` as it stands in another tree, with that tree beside it. */
async function inTree(n: number, entries: readonly Buffer[]): Promise<EvidenceSource> {
  const files = await treeOver(entries);
  const read = async (path: string) => files.get(path);
  const run = runs[n - 1];
  const body = honest[n - 1];
  if (run === undefined || body === undefined) throw new Error('no such run');
  const checkpoint = (files.get('checkpoint') ?? '').toString();
  const head = verifyCheckpoint(checkpoint, [key]);
  const logIndex = entries.findIndex((entry) => entry.equals(body));
  const proof = {
    origin,
    logIndex,
    treeSize: head.size,
    rootHash: head.root,
    hashes: await proveInclusion(logIndex, head, readSubtrees(read, head.size)),
    checkpoint,
    body,
    logId: key.keyId,
  };
  const bundle = parseBundle(run.run.get(provenancePath) ?? Buffer.alloc(0));
  const changed = withFile(run, provenancePath, formatBundle({ ...bundle, proof }));
  changed.run.set(proofPath, Buffer.from(formatTlogProof(proof)));
  return { ...toSource(await rebound(author, changed)), readLedger: read };
}

const rewritten = [honest[0], honest[2], honest[1], ...honest.slice(3)].flatMap((entry) => entry ?? []);
const filler = Array.from({ length: 40 }, (_, n) => Buffer.from(`filler ${n}`));

function newVerifier() {
  const machine = makeMachine();
  mkdirSync(machine.home, { recursive: true });
  writeFileSync(join(machine.root, 'signer.pem'), pem);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: machine.home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  let named = 0;
  return {
    machine,
    async verify(content: string | Buffer, ...more: readonly string[]): Promise<Loose> {
      named += 1;
      const name = `./${named}.json`;
      writeFileSync(join(machine.root, name), content);
      const line = ['--json', 'verify', name, '--key', 'signer.pem', '--ledger-key', vkey, ...more];
      const { code, out, err } = await runLine(line, commands, { cwd: machine.root, env });
      return { code, err, ...JSON.parse(out) };
    },
    seen: () => userCheckpointMemory({ HOME: machine.home }).latest({ origin, keyId: key.keyId }),
  };
}

type Ledger = { path: string; data: string }[];
const history = (found: Loose): Loose => found.data.checks.find(({ id }: Loose) => id === 'log-history');
const without = (text: string): string => JSON.stringify({ ...JSON.parse(text), ledger: null });

t.test('evidence exported at different times verifies as one log, in any order', async (t) => {
  for (const order of [
    [1, 2, 3, 4, 5],
    [5, 4, 3, 2, 1],
    [3, 1, 5, 2, 4, 3],
  ]) {
    const verifier = newVerifier();
    for (const n of order) {
      const found = await verifier.verify(exported[n - 1] ?? '');
      t.equal(found.code, 0, `${order} at ${n}: ${found.error?.message}`);
      t.match(history(found), { status: 'passed' });
    }
    t.match(await verifier.seen(), { size: Math.max(...order) });
  }
});

t.test('a fork of any size is refused with both checkpoints, and the memory stays unchanged', async (t) => {
  for (const [what, entries] of [
    ['of the same size', rewritten],
    ['larger', [...rewritten, ...filler]],
    ['smaller', rewritten.slice(0, 4)],
  ] as const) {
    const verifier = newVerifier();
    t.equal((await verifier.verify(exported[4] ?? '')).code, 0);
    const fork = await inTree(2, entries);
    const found = await verifier.verify(await formatEvidenceFile('run-1', fork));
    t.match(found, { code: 1, error: { code: 'LOG_FORKED' }, data: { verified: false } }, what);
    const { detail } = history(found);
    t.equal(detail.seen_checkpoint[0], origin);
    t.equal(detail.found_checkpoint[0], origin);
    t.not(detail.seen_checkpoint.join(), detail.found_checkpoint.join());
    t.match(await verifier.seen(), { size: 5 }, 'nothing moved');
    // Stripped of its hashes a fork cannot be told, and is believed as little.
    const bare = await verifier.verify(without(await formatEvidenceFile('run-1', fork)));
    t.ok([1, 3].includes(bare.code), `${what}: ${bare.code}`);
    t.match(await verifier.seen(), { size: 5 });
    t.equal((await verifier.verify(exported[4] ?? '')).code, 0, 'the honest log is as good as before');
    t.equal((await verifier.verify(exported[0] ?? '')).code, 0);
  }
});

t.test('evidence that cannot be compared is exit code 3 and leaves the memory unchanged', async (t) => {
  const verifier = newVerifier();
  t.equal((await verifier.verify(without(exported[2] ?? ''))).code, 0, 'the first of its log');
  const larger = await verifier.verify(without(exported[4] ?? ''));
  t.match(larger, {
    code: 3,
    error: { code: 'VERIFY_NOTHING', details: { check: 'log-history', code: 'not-comparable' } },
  });
  t.match(larger.error.hints, [/export the evidence again/]);
  const smaller = await verifier.verify(without(exported[0] ?? ''));
  t.equal(smaller.code, 3, 'no hashes were kept of the first');
  t.match(await verifier.seen(), { size: 3 });
  t.equal((await verifier.verify(without(exported[2] ?? ''))).code, 0);
  t.equal((await verifier.verify(exported[4] ?? '')).code, 0, 'with its hashes it is shown to continue');
  t.equal(
    (await verifier.verify(without(exported[0] ?? ''))).code,
    0,
    'and from then on smaller ones are told',
  );
});

t.test('hashes that do not match the log are refused and never stored', async (t) => {
  const change = (text: string, edit: (files: Ledger) => unknown): string => {
    const file = JSON.parse(text);
    edit(file.ledger);
    return JSON.stringify(file);
  };
  const flip = (data: string): string => {
    const bytes = Buffer.from(data, 'base64');
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    return bytes.toString('base64');
  };
  const isTile = (path: string): boolean => path !== 'checkpoint';
  const larger = (data: string): string =>
    Buffer.from(Buffer.from(data, 'base64').toString().replace('\n5\n', '\n6\n')).toString('base64');
  const editing = (files: Ledger, which: (path: string) => boolean, edit: (data: string) => string): void => {
    for (const file of files) if (which(file.path)) file.data = edit(file.data);
  };
  const text = exported[4] ?? '';
  const lies: readonly (readonly [string, string, exit: number])[] = [
    ['a hash changed', change(text, (files) => editing(files, isTile, flip)), 1],
    [
      'a tile too short',
      change(text, (files) => editing(files, isTile, () => Buffer.alloc(32).toString('base64'))),
      1,
    ],
    ['a checkpoint changed', change(text, (files) => editing(files, (path) => !isTile(path), larger)), 1],
    [
      'an older head',
      change(text, (files) => files.splice(0, files.length, ...JSON.parse(exported[1] ?? '').ledger)),
      1,
    ],
    [
      'a tile left out',
      change(text, (files) =>
        files.splice(0, files.length, ...files.filter(({ path }) => path === 'checkpoint')),
      ),
      3,
    ],
  ];
  for (const [what, file, exit] of lies) {
    const verifier = newVerifier();
    t.equal((await verifier.verify(exported[1] ?? '')).code, 0);
    const found = await verifier.verify(file);
    t.equal(found.code, exit, `${what}: ${found.error?.message}`);
    t.match(await verifier.seen(), { size: 2 }, what);
    t.equal((await verifier.verify(text)).code, 0);
  }
});

t.test('a bundle or a proof alone is enough to detect a fork', async (t) => {
  const fork = await inTree(2, rewritten);
  const artifact = runs[1]?.content.get('patchset.diff') ?? Buffer.alloc(0);
  const verifier = newVerifier();
  writeFileSync(join(verifier.machine.root, 'a'), artifact);
  writeFileSync(join(verifier.machine.root, 'p.sigstore.json'), runs[1]?.run.get(provenancePath) ?? '');
  const bundle = (await fork.readRun(provenancePath)) ?? Buffer.of();
  const proof = (await fork.readRun(proofPath)) ?? Buffer.of();
  t.equal(
    (await verifier.verify(Buffer.from(bundle), '--artifact', 'a')).code,
    0,
    'who has seen nothing cannot tell',
  );
  t.equal(await verifier.seen(), undefined, 'one attestation is not remembered');
  t.equal((await verifier.verify(exported[4] ?? '')).code, 0);
  for (const bytes of [bundle, proof]) {
    const about = bytes === bundle ? 'a' : 'p.sigstore.json';
    const found = await verifier.verify(Buffer.from(bytes), '--artifact', about);
    t.match(found, { code: 1, error: { code: 'LOG_FORKED' } }, about);
  }
  t.equal(
    (await verifier.verify((runs[1]?.run.get(provenancePath) ?? '').toString(), '--artifact', 'a')).code,
    0,
  );
});

t.test('a bundle or proof that cannot be compared gives a warning and fails `--require log`', async (t) => {
  const verifier = newVerifier();
  const [two, five] = [runs[1], runs[4]];
  writeFileSync(join(verifier.machine.root, 'a'), two?.content.get('patchset.diff') ?? '');
  for (const [n, run] of [two, five].entries())
    writeFileSync(join(verifier.machine.root, `p${n}.sigstore.json`), run?.run.get(provenancePath) ?? '');
  const cases = [two, five].flatMap((run, n) => [
    [run?.run.get(provenancePath) ?? '', 'a'] as const,
    [run?.run.get(proofPath) ?? '', `p${n}.sigstore.json`] as const,
  ]);
  const ask = (bytes: string | Buffer, about: string, ...more: string[]) =>
    verifier.verify(Buffer.from(bytes), '--artifact', about, ...more);
  for (const [bytes, about] of cases)
    t.equal(
      (await ask(bytes, about, '--require', 'log')).code,
      0,
      'nothing was seen that it could contradict',
    );
  t.equal(
    (await verifier.verify(without(exported[2] ?? ''))).code,
    0,
    'a size, and nothing to tell others by',
  );
  for (const [bytes, about] of cases) {
    const loud = await ask(bytes, about);
    t.match(loud, { code: 0, data: { warnings: [{ code: 'LOG_NOT_COMPARED' }] } }, about);
    t.match(await ask(bytes, about, '--require', 'log'), {
      code: 3,
      error: { code: 'VERIFY_NOTHING', details: { check: 'log-history', code: 'not-comparable', seen: 3 } },
    });
  }
  t.match(await verifier.seen(), { size: 3 }, 'nothing moved');
  t.equal((await verifier.verify(exported[4] ?? '')).code, 0, 'with its hashes it is told');
  for (const [bytes, about] of cases) {
    const found = await ask(bytes, about, '--require', 'log');
    t.equal(found.code, 0, found.error?.message);
    t.notOk(found.data.warnings);
  }
});

t.test('a log of the same name with another key does not affect the memory', async (t) => {
  const other = makeMachine();
  const verifier = newVerifier();
  const memory = userCheckpointMemory({ HOME: verifier.machine.home });
  const stranger = await openUserLedgerKey({ HOME: other.home });
  const theirs = ledgerKeyFor(origin, parsePublicKey(stranger.publicKeyPem));
  await memory.remember(await signCheckpoint({ size: 1000, root: Buffer.alloc(32, 7) }, stranger, theirs));
  t.equal((await verifier.verify(exported[1] ?? '')).code, 0);
  t.match(await verifier.seen(), { size: 2 });
});

t.test('a damaged checkpoint memory is never reported as a fault of the log', async (t) => {
  const verifier = newVerifier();
  t.equal((await verifier.verify(exported[4] ?? '')).code, 0);
  const folder = join(verifier.machine.home, '.config/writ/trust/checkpoints');
  const { globSync } = await import('node:fs');
  const [tile = ''] = globSync('*/tile/0/**/5', { cwd: folder });
  const bytes = readFileSync(join(folder, tile));
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  writeFileSync(join(folder, tile), bytes);
  t.match(await verifier.verify(without(exported[1] ?? '')), { code: 3 }, 'it cannot be told any more');
  t.equal((await verifier.verify(exported[4] ?? '')).code, 0);
  const [checkpoint = ''] = globSync('*/5', { cwd: folder });
  writeFileSync(join(folder, checkpoint), 'x');
  t.match(await verifier.verify(exported[4] ?? ''), { code: 128, error: { code: 'STATE_CORRUPT' } });
});
