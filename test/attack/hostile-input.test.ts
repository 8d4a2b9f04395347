import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatBundle, parseBundle } from '../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../attest/encoding/dsse.ts';
import { parsePublicKey } from '../../attest/encoding/public-key.ts';
import {
  generateKey,
  openUserLedgerKey,
  openUserSigningKey,
  toSigner,
} from '../../attest/keys/key-signer.ts';
import {
  parseCheckpoint,
  parseTlogProof,
  signCheckpoint,
  verifyCheckpoint,
} from '../../attest/log/checkpoint.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { buildLogEntry } from '../../attest/log/log-entry.ts';
import { leafHash } from '../../attest/log/merkle.ts';
import { ledgerKeyFor, parseVkey } from '../../attest/log/note.ts';
import { formatEntry, parseEntries } from '../../attest/log/tiles.ts';
import { buildRevocation } from '../../attest/statement/run-statements.ts';
import { loadAnchors } from '../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../attest/verify/evidence-source.ts';
import { verifyExitCode } from '../../attest/verify/report.ts';
import { type VerifyOptions, verifyRun } from '../../attest/verify/verify-run.ts';
import { commands } from '../../bin/command-table.ts';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { rootOver, tilesOver } from '../attest/log/test-tree.ts';
import {
  commitId,
  copyOf,
  daysLater,
  makeMachine,
  removeMachines,
  resealPayload,
  resealStatement,
  type SealedRun,
  sealRun,
  statementOf,
  toSource,
  troubles,
} from '../attest/verify/sealed-run.ts';
import { runLine } from '../bin/host.ts';
import { long } from '../rooms/long.ts';
import { proofPath, provenancePath, withFile } from './mutants.ts';
import { memoryInHand, people, rich } from './rich-set.ts';

t.teardown(removeMachines);

type Json = Record<string, unknown>;
type Test = Pick<typeof import('tap').default, 'equal' | 'ok'>;
type LedgerFiles = Map<string, Buffer>;

/** Octets that an answer may leave in memory. */
const maxHeap = 512 * 1024 * 1024;

const machine = makeMachine();
for (const runId of ['run-a', 'run-b', 'run-c']) await sealRun(machine, { runId });
const sealed = await sealRun(machine, rich);
await sealRun(machine, { runId: 'run-y' });
await sealRun(machine, { runId: 'run-z' });
const anchors = await loadAnchors({ keyFiles: [], ledgerKeys: [] }, { HOME: machine.home });

interface Answered {
  readonly exit: number;
  readonly said: readonly string[];
  readonly heap: number;
}

async function measured(
  work: () => Promise<{ readonly exit: number; readonly said: readonly string[] }>,
): Promise<Answered> {
  const heap = process.memoryUsage().heapUsed;
  const answer = await work();
  return { ...answer, heap: process.memoryUsage().heapUsed - heap };
}

function judge(source: EvidenceSource, options: Partial<VerifyOptions> = {}): Promise<Answered> {
  return measured(async () => {
    const report = await verifyRun(source, anchors, {
      clock: daysLater(1),
      memory: memoryInHand(),
      ...options,
    });
    return { exit: verifyExitCode(report), said: troubles(report) };
  });
}

function refuses(t: Test, found: Answered, exit: 1 | 3, code: string, what: string): void {
  t.equal(found.exit, exit, `${what}: ${found.said.slice(0, 6).join('; ').slice(0, 400)}`);
  t.ok(found.said.includes(code), `${what}: ${code} in ${found.said.slice(0, 6).join('; ').slice(0, 400)}`);
  t.ok(found.heap < maxHeap, `${what}: ${found.heap} octets`);
}

/** Every file of a machine's ledger, to be lied with. */
function ledgerOf(of: ReturnType<typeof makeMachine>): LedgerFiles {
  const directory = join(of.commonDir, 'writ/ledger');
  const paths = globSync('**/*', { cwd: directory }).filter((path) =>
    statSync(join(directory, path)).isFile(),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(directory, path))]));
}

function entriesOf(files: LedgerFiles): readonly Buffer[] {
  const [path = ''] = [...files.keys()]
    .filter((name) => name.startsWith('tile/entries/'))
    .sort((a, b) => Number(b.split('/').at(-1)) - Number(a.split('/').at(-1)));
  return parseEntries(files.get(path) ?? Buffer.alloc(0)) ?? [];
}

const ledgerSigner = await openUserLedgerKey({ HOME: machine.home });
const { name: origin } = parseVkey(
  await openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock).vkey(),
);

/** A whole ledger over these entries, as only the holder of the log's key can make one. */
async function ledgerOver(
  entries: readonly Buffer[],
  signer: Signer = ledgerSigner,
  name = origin,
): Promise<LedgerFiles> {
  const leaves = entries.map(leafHash);
  const key = ledgerKeyFor(name, parsePublicKey(signer.publicKeyPem));
  const { source } = await signCheckpoint({ size: leaves.length, root: await rootOver(leaves) }, signer, key);
  return new Map([
    ...[...tilesOver(leaves)].map(([path, bytes]) => [path, Buffer.from(bytes)] as const),
    [`tile/entries/000.p/${leaves.length}`, Buffer.concat(entries.map(formatEntry))],
    ['checkpoint', Buffer.from(source)],
  ]);
}

async function headOf(size: number, root: Buffer): Promise<Buffer> {
  const key = ledgerKeyFor(origin, parsePublicKey(ledgerSigner.publicKeyPem));
  return Buffer.from((await signCheckpoint({ size, root }, ledgerSigner, key)).source);
}

function beside(files: LedgerFiles): EvidenceSource {
  return { ...toSource(sealed), readLedger: async (path) => files.get(path) };
}

const honest = ledgerOf(machine);
const entries = entriesOf(honest);
const largestTile =
  [...honest.keys()]
    .filter((path) => path.startsWith('tile/0/'))
    .sort()
    .at(-1) ?? '';

/** A verifier who has seen the honest log as it is. */
async function whoHasSeen(): Promise<Partial<VerifyOptions>> {
  const memory = memoryInHand();
  const key = ledgerKeyFor(origin, parsePublicKey(ledgerSigner.publicKeyPem));
  await memory.remember(verifyCheckpoint((honest.get('checkpoint') ?? '').toString(), [key]));
  return { memory };
}

t.test('an honest ledger raises no objection, with and without remembered checkpoints', async (t) => {
  t.equal(entries.length, 6);
  for (const options of [{}, await whoHasSeen()])
    t.strictSame(
      (await judge(beside(honest), options)).said.filter((line) => !/per-repository$/.test(line)),
      [],
    );
  t.strictSame(
    (await judge(beside(await ledgerOver(entries)))).said.filter((line) => !/per-repository$/.test(line)),
    [],
  );
});

t.test('a log that is forked, shrunk or altered is refused', async (t) => {
  const other = toSigner(generateKey('ed25519'), false);
  const changed = (path: string, change: (bytes: Buffer) => Buffer): LedgerFiles =>
    new Map([...honest, [path, change(Buffer.from(honest.get(path) ?? Buffer.alloc(0)))]]);
  const swapped = (bytes: Buffer): Buffer =>
    Buffer.concat([bytes.subarray(32, 64), bytes.subarray(0, 32), bytes.subarray(64)]);
  const bundle = `tile/entries/000.p/${entries.length}`;
  const lies: Readonly<Record<string, [LedgerFiles, exit: 1 | 3, code: string]>> = {
    'an entry removed and the rest renumbered': [
      await ledgerOver(entries.toSpliced(1, 1)),
      1,
      'log-history failed forked',
    ],
    'two entries exchanged': [
      await ledgerOver([entries[1], entries[0], ...entries.slice(2)].filter((one) => one !== undefined)),
      1,
      'log-history failed forked',
    ],
    'the entry of the run exchanged for another': [
      await ledgerOver(entries.with(3, entries[2] ?? Buffer.alloc(0))),
      1,
      'log-history failed forked',
    ],
    'shrunk to before the run': [await ledgerOver(entries.slice(0, 3)), 1, 'log-history failed stale'],
    'two hashes of a tile exchanged': [changed(largestTile, swapped), 1, 'log-history failed malformed'],
    'a tile of other length': [
      changed(largestTile, (bytes) => bytes.subarray(32)),
      1,
      'log-history failed malformed',
    ],
    'a tile that is gone': [
      new Map([...honest].filter(([path]) => !path.startsWith('tile/0/'))),
      1,
      'log-history failed malformed',
    ],
    'entries that are gone': [
      new Map([...honest].filter(([path]) => !path.startsWith('tile/entries/'))),
      1,
      'log-history failed malformed',
    ],
    'an entry exchanged, its tile left': [
      changed(bundle, (bytes) => {
        bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
        return bytes;
      }),
      1,
      'log-history failed malformed',
    ],
    'entries whose lengths lie': [
      changed(bundle, (bytes) => {
        bytes.writeUInt16BE(65_535, 0);
        return bytes;
      }),
      1,
      'log-history failed malformed',
    ],
    'a checkpoint by another key of the same name': [
      await ledgerOver(entries, other),
      3,
      'log-history unverified untrusted-log',
    ],
    'a checkpoint whose size was changed': [
      changed('checkpoint', (bytes) => Buffer.from(bytes.toString().replace(/^6$/m, '7'))),
      1,
      'log-history failed bad-signature',
    ],
    'a signed head of 2^53 - 1 entries': [
      new Map([...honest, ['checkpoint', await headOf(Number.MAX_SAFE_INTEGER, Buffer.alloc(32))]]),
      1,
      'log-history failed malformed',
    ],
    'a signed head over nothing': [
      new Map([['checkpoint', await headOf(0, Buffer.alloc(32))]]),
      1,
      'log-history failed stale',
    ],
  };
  for (const [what, [files, exit, code]] of Object.entries(lies))
    for (const options of [{}, await whoHasSeen()]) {
      const found = await judge(beside(files), options);
      // What was seen tells a shrunk log from a forked one.
      const seen = found.said.includes('log-history failed stale') ? 'log-history failed stale' : code;
      refuses(t, found, exit, options.memory ? seen : code, what);
    }
});

t.test(
  'a rewritten log is refused only if the verifier remembers a checkpoint of the same size',
  async (t) => {
    const source = beside(await ledgerOver(entries.with(5, entries[4] ?? Buffer.alloc(0))));
    refuses(t, await judge(source, await whoHasSeen()), 1, 'log-history failed forked', 'seen');
    t.equal((await judge(source)).exit, 0, 'what changed is behind the run');
    const rewritten = [...entries.slice(0, 5), ...entries.slice(0, 2)];
    const grown = beside(await ledgerOver(rewritten));
    refuses(
      t,
      await judge(grown, await whoHasSeen()),
      1,
      'log-history failed forked',
      'grown over another past',
    );
    t.equal((await judge(grown)).exit, 0);
  },
);

t.test('verification gives up on a log that grows with every read', async (t) => {
  let size = 10;
  let reads = 0;
  const source: EvidenceSource = {
    ...toSource(sealed),
    readLedger: async (path) => {
      reads += 1;
      if (reads > 100) throw new Error('asked for ever');
      size += 1;
      return path === 'checkpoint' ? headOf(size, Buffer.alloc(32, size)) : undefined;
    },
  };
  refuses(t, await judge(source), 1, 'log-history failed malformed', 'growing');
  t.ok(reads < 100, `${reads} reads`);
});

t.test('exchanging ledger entries cannot hide a revocation', async (t) => {
  const signer = await openUserSigningKey({ HOME: machine.home });
  const payload = Buffer.from(canonicalize(buildRevocation(statementOf(sealed).subject, 'run-1')));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  const revocation = buildLogEntry(envelope, parsePublicKey(signer.publicKeyPem));
  const files = await ledgerOver([...entries, revocation]);
  refuses(t, await judge(beside(files)), 1, 'not-revoked failed revoked', 'revoked');
  const hidden = Buffer.concat([...entries, entries[0] ?? Buffer.alloc(0)].map(formatEntry));
  const hiding = new Map([...files, [`tile/entries/000.p/${entries.length + 1}`, hidden]]);
  refuses(t, await judge(beside(hiding)), 1, 'log-history failed malformed', 'hidden');
});

t.test('forged checkpoints are refused, however they are signed', async (t) => {
  const { proof, envelope } = parseBundle(sealed.run.get(provenancePath) ?? Buffer.alloc(0));
  if (proof === undefined) throw new Error('not logged');
  const { size, root } = parseCheckpoint(proof.checkpoint);
  const withCheckpoint = (checkpoint: string, more: object = {}): SealedRun =>
    withFile(sealed, provenancePath, formatBundle({ envelope, proof: { ...proof, checkpoint, ...more } }));
  const note = proof.checkpoint.split('\n\n');
  const line = note[1] ?? '';
  const lies: Readonly<Record<string, [SealedRun, exit: 1 | 3, code: string]>> = {
    'another root': [
      withCheckpoint((await headOf(size, Buffer.alloc(32, 7))).toString(), { rootHash: Buffer.alloc(32, 7) }),
      1,
      'log-inclusion failed mismatch',
    ],
    'a size of which the proof knows nothing': [
      withCheckpoint((await headOf(size + 1, root)).toString(), { treeSize: size + 1 }),
      1,
      'log-inclusion failed mismatch',
    ],
    'the largest size there is': [
      withCheckpoint((await headOf(Number.MAX_SAFE_INTEGER, root)).toString(), {
        treeSize: Number.MAX_SAFE_INTEGER,
      }),
      1,
      'log-inclusion failed mismatch',
    ],
    'sixty-three hashes': [
      withCheckpoint(proof.checkpoint, { hashes: Array.from({ length: 63 }, () => Buffer.alloc(32)) }),
      1,
      'log-inclusion failed mismatch',
    ],
    'sixty-four hashes': [
      withCheckpoint(proof.checkpoint, { hashes: Array.from({ length: 64 }, () => Buffer.alloc(32)) }),
      1,
      'bundle failed malformed',
    ],
    'the same signature a hundred times': [
      withCheckpoint(`${note[0]}\n\n${line.repeat(100)}`),
      1,
      'log-inclusion failed malformed',
    ],
    'a good signature beside a wrong one by the same key': [
      withCheckpoint(`${proof.checkpoint}${line.replace(/.{10}\n$/, 'AAAAAAAA==\n')}`),
      1,
      'log-inclusion failed bad-signature',
    ],
    'a note of a million lines': [
      withCheckpoint(`${note[0]}\n${'x\n'.repeat(1_000_000)}\n${line}`),
      1,
      'log-inclusion failed malformed',
    ],
  };
  for (const [what, [run, exit, code]] of Object.entries(lies))
    refuses(t, await judge(toSource(run)), exit, code, what);
});

const text = (sealed.run.get(provenancePath) ?? Buffer.alloc(0)).toString();
const mebibyte = 1024 * 1024;

long('huge, deep and malformed documents are refused in bounded time', async (t) => {
  const bundles: Readonly<Record<string, [string, code: string]>> = {
    'five MiB of white space': [text + ' '.repeat(5 * mebibyte), 'bundle failed malformed'],
    'a member of five MiB': [
      text.replace('{', `{"x":"${'y'.repeat(5 * mebibyte)}",`),
      'bundle failed malformed',
    ],
    '1 MiB of base64 that says nothing': [
      text.replace(/"payload":"[^"]*"/, `"payload":"${'QUFB'.repeat(mebibyte / 4)}"`),
      'signature failed bad-signature',
    ],
    '1 MiB of what is nearly base64': [
      text.replace(/"payload":"[^"]*"/, `"payload":"${'QUFB'.repeat(mebibyte / 4)}*"`),
      'bundle failed malformed',
    ],
    '1 MiB of URL-safe base64 with the wrong end': [
      text.replace(/"payload":"[^"]*"/, `"payload":"${'_-_-'.repeat(mebibyte / 4)}==="`),
      'bundle failed malformed',
    ],
    'a signature of 1 MiB': [
      text.replace(/"sig":"[^"]*"/, `"sig":"${'QUFB'.repeat(mebibyte / 4)}"`),
      'signature failed bad-signature',
    ],
    'a key id of 1 MiB': [
      text.replace(/"keyid":"[^"]*"/, `"keyid":"${'a'.repeat(mebibyte)}"`),
      'bundle failed malformed',
    ],
    'a payload type of 1 MiB': [
      text.replace(/"payloadType":"[^"]*"/, `"payloadType":"${'a'.repeat(mebibyte)}"`),
      'bundle failed malformed',
    ],
    '100,000 arrays in each other': ['['.repeat(100_000) + ']'.repeat(100_000), 'bundle failed malformed'],
    '100,000 objects in each other': ['{"a":'.repeat(100_000), 'bundle failed malformed'],
    '33 levels below a known member': [
      text.replace('"publicKey":', `"publicKey":${'['.repeat(40)}${']'.repeat(40)},"x":`),
      'bundle failed malformed',
    ],
    '200,000 members': [
      `{${Array.from({ length: 200_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
      'bundle failed malformed',
    ],
    'a million escapes': [text.replace('{', `{"${'\\u0041'.repeat(500_000)}":1,`), 'bundle failed malformed'],
    'a million digits': [text.replace('{', `{"x":1${'0'.repeat(mebibyte)},`), 'bundle failed malformed'],
    '100,000 signatures': [
      text.replace(
        /"signatures":\[(.*?)\]/,
        (_, one: string) => `"signatures":[${Array(15_000).fill(one).join(',')}]`,
      ),
      'bundle failed malformed',
    ],
    '50,000 log entries': [
      text.replace(/"tlogEntries":\[/, `"tlogEntries":[${'{},'.repeat(50_000)}`),
      'bundle failed malformed',
    ],
  };
  for (const [what, [bundle, code]] of Object.entries(bundles))
    refuses(t, await judge(toSource(withFile(sealed, provenancePath, bundle))), 1, code, what);

  const proof = (sealed.run.get(proofPath) ?? Buffer.alloc(0)).toString();
  const proofs: Readonly<Record<string, string>> = {
    'a proof of 1 MiB': proof.replace('\n', `\nextra ${'QUFB'.repeat(mebibyte / 4)}\n`),
    'a proof of line ends': '\n'.repeat(250_000),
    'a proof of hashes': proof.replace(
      /^index .*$/m,
      (line) => `${line}\n${`${'A'.repeat(43)}=\n`.repeat(5000).trimEnd()}`,
    ),
  };
  for (const [what, changed] of Object.entries(proofs)) {
    refuses(
      t,
      await judge(toSource(withFile(sealed, proofPath, changed))),
      1,
      'log-proof failed malformed',
      what,
    );
    t.throws(() => parseTlogProof(Buffer.from(changed)), { code: 'ATTESTATION_MALFORMED' });
  }

  const specs: Readonly<Record<string, [string, code: string]>> = {
    'a contract of five MiB': [' '.repeat(5 * mebibyte), 'spec failed malformed'],
    'a contract of 100,000 levels': ['['.repeat(100_000), 'spec failed malformed'],
    'a contract of 100,000 checks': [
      JSON.stringify({
        metadata: { id: 'spec-1' },
        acceptance: { verificationPlan: { fastChecks: Array(100_000).fill({ id: 'x' }) } },
      }),
      'spec failed mismatch',
    ],
  };
  for (const [what, [spec, code]] of Object.entries(specs))
    refuses(t, await judge(toSource(withFile(sealed, 'spec.json', spec))), 1, code, what);
});

t.test('commits of any shape are read in bounded time', async (t) => {
  const raw = sealed.commit.raw.toString();
  const shapes: Readonly<Record<string, string>> = {
    '200,000 trailers': `${raw}${'Run-Id: run-1\n'.repeat(200_000)}`,
    'a message of four MiB on a line': raw.replace('fix: a thing', 'x'.repeat(4 * mebibyte)),
    'a million paragraphs': raw.replace('fix: a thing', 'x\n\n'.repeat(1_000_000)),
    'a million blank lines': `${raw}${'\n'.repeat(1_000_000)}x`,
    '4 MiB of nearly a trailer': `${raw}${'A'.repeat(4 * mebibyte)}\n`,
  };
  for (const [what, changed] of Object.entries(shapes)) {
    const object = Buffer.from(changed);
    const run = { ...copyOf(sealed), commit: { raw: object, id: commitId(object) } };
    refuses(t, await judge(toSource(run)), 1, 'subject-commit failed wrong-subject', what);
  }
});

long('oversized statements by a trusted key are refused in bounded time', async (t) => {
  const statement = statementOf(sealed);
  const { runDetails } = statement.predicate;
  const withByproducts = (byproducts: readonly unknown[]): Buffer =>
    Buffer.from(
      canonicalize({
        ...statement,
        predicate: { ...statement.predicate, runDetails: { ...runDetails, byproducts } },
      }),
    );
  const many = (count: number, name: (n: number) => string): readonly unknown[] =>
    Array.from({ length: count }, (_, n) => ({ name: name(n), digest: { sha256: '0'.repeat(64) } }));
  const cases: Readonly<Record<string, [Buffer, exit: 1 | 3, code: string]>> = {
    '100,000 byproducts': [
      withByproducts(many(100_000, (n) => `evidence/${n}`)),
      1,
      'bundle failed malformed',
    ],
    '25,000 byproducts that are not there': [
      withByproducts([...runDetails.byproducts, ...many(25_000, (n) => `evidence/${n}`)]),
      1,
      'evidence:evidence/24999 missing missing',
    ],
    '25,000 byproducts of one name': [
      withByproducts(many(25_000, () => 'evidence/1')),
      1,
      'statement failed malformed',
    ],
    'a byproduct whose name is long': [
      withByproducts(many(1, () => 'n'.repeat(mebibyte))),
      1,
      'statement failed malformed',
    ],
    '20,000 subjects': [
      Buffer.from(canonicalize({ ...statement, subject: many(20_000, (n) => `${n}`) })),
      1,
      'statement failed malformed',
    ],
    '40 levels': [
      Buffer.from(
        canonicalize(statement).replace(
          '"predicate":',
          `"deep":${'['.repeat(40)}${']'.repeat(40)},"predicate":`,
        ),
      ),
      1,
      'statement failed malformed',
    ],
  };
  for (const [what, [payload, exit, code]] of Object.entries(cases)) {
    const run = await resealPayload(machine, sealed, payload);
    refuses(t, await judge(toSource(run)), exit, code, what);
  }
  const files = Array.from({ length: 20_000 }, (_, n) => ({
    name: `evidence/${n}`,
    digest: { sha256: '0'.repeat(64) },
  }));
  const listing = await resealStatement(machine, sealed, 'evidence-manifest.sigstore.json', (manifest) => ({
    ...manifest,
    predicate: { ...manifest.predicate, files: [...(manifest.predicate.files as readonly Json[]), ...files] },
  }));
  refuses(
    t,
    await judge(toSource(listing)),
    3,
    'manifest-complete missing missing',
    '20,000 files in a manifest',
  );
});

t.test('a store with unlisted files is refused without reading all of them', async (t) => {
  const crowded = copyOf(sealed);
  for (let n = 0; n < 100_000; n += 1) crowded.run.set(`evidence/more/${n}`, Buffer.alloc(1));
  refuses(t, await judge(toSource(crowded)), 1, 'evidence-stored failed unlisted', '100,000 files');
  const voices = copyOf(sealed);
  const approval = voices.run.get('approvals/0001.json') ?? Buffer.alloc(0);
  for (let n = 3; n < 10_000; n += 1) voices.run.set(`approvals/${n}.json`, approval);
  refuses(
    t,
    await judge(toSource(voices), { allowedSigners: people }),
    1,
    'approvals failed malformed',
    '10,000 approvals',
  );
  refuses(
    t,
    await judge(toSource(voices)),
    1,
    'approvals failed malformed',
    '10,000 approvals, to who knows nobody',
  );
});

long('allowed-signers lists of any shape are read in bounded time and add no signer', async (t) => {
  const key = people.toString().split(' ').slice(1, 3).join(' ').split('\n')[0] ?? '';
  const shapes: Readonly<Record<string, string>> = {
    '8,000 lines for others': Array.from(
      { length: 8000 },
      (_, n) => `p${n}@x ${key.slice(0, -8)}AAAA${String(n).padStart(4, '0')}`,
    ).join('\n'),
    'patterns upon patterns': `${'*a'.repeat(2000)}b ${key}\n`.repeat(200),
    'one line of 1 MiB': `${'a,'.repeat(mebibyte / 2)} ${key}`,
    'more than 1 MiB': `# ${'x'.repeat(2 * mebibyte)}\n`,
    'a quoted option without an end': `ana@x namespaces="${'\\"'.repeat(8000)} ${key}\n`.repeat(60),
  };
  for (const [what, allowedSigners] of Object.entries(shapes))
    refuses(
      t,
      await judge(toSource(sealed), { allowedSigners: Buffer.from(allowedSigners) }),
      3,
      'approvals unverified untrusted-signer',
      what,
    );
});

long('`writ verify` refuses files of any shape in bounded time', async (t) => {
  const folder = makeMachine().root;
  const evidence = (document: Json): string =>
    JSON.stringify({ mediaType: 'application/vnd.writ.evidence.v1+json', ...document });
  const digest = sha256Hex('');
  const shapes: Readonly<Record<string, [name: string, content: string, exit: number, code: string]>> = {
    'a bundle of 17 MiB': ['a.sigstore.json', ' '.repeat(17 * mebibyte), 3, 'bundle unverified unsupported'],
    '10,001 lines': ['a.jsonl', '{}\n'.repeat(10_001), 3, 'bundle missing missing'],
    '5,000 lines of nothing': ['b.jsonl', '{}\n'.repeat(5000), 3, 'bundle unverified unsupported'],
    'evidence of 200,000 files': [
      'a.json',
      evidence({
        runId: 'r',
        commit: { id: '0'.repeat(40), object: 'AA==' },
        run: Array.from({ length: 200_000 }, (_, n) => ({ path: `${n}`, data: '' })),
        content: null,
      }),
      1,
      'bundle failed malformed',
    ],
    'evidence of many levels': [
      'b.json',
      evidence({ run: JSON.parse('['.repeat(500) + ']'.repeat(500)) }),
      1,
      'bundle failed malformed',
    ],
    'evidence that is cut': ['c.json', evidence({ runId: 'r' }).slice(0, -1), 1, 'bundle failed malformed'],
  };
  for (const [what, [name, content, exit, code]] of Object.entries(shapes)) {
    const path = join(folder, name);
    writeFileSync(path, content);
    const found = await measured(async () => {
      const env = { HOME: machine.home, PATH: process.env.PATH ?? '' };
      const ran = await runLine(['--json', 'verify', path, '--artifact', `sha256:${digest}`], commands, {
        cwd: folder,
        env,
      });
      const checks = (JSON.parse(ran.out).data?.checks ?? []) as readonly {
        id: string;
        status: string;
        code?: string;
      }[];
      return { exit: ran.code, said: checks.map(({ id, status, code: why }) => `${id} ${status} ${why}`) };
    });
    refuses(t, found, exit as 1 | 3, code, what);
  }
});
