import t from 'tap';
import { userCheckpointMemory } from '../../../attest/log/internal-ledger-source.ts';
import { slsaProvenanceType } from '../../../attest/statement/run-statements.ts';
import { loadAnchors } from '../../../attest/verify/anchors.ts';
import {
  evidenceMediaType,
  formatEvidenceFile,
  isInLedger,
  parseEvidenceFile,
} from '../../../attest/verify/evidence-file.ts';
import { explain } from '../../../attest/verify/explain.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { replayRecord } from '../../../engine/decide/replay-record.ts';
import { long } from '../../rooms/long.ts';
import {
  copyOf,
  daysLater,
  makeMachine,
  removeMachines,
  sealRun,
  toSource,
  troubles,
  verifyAs,
} from './sealed-run.ts';
import type { Loose } from './strangers.ts';

t.teardown(removeMachines);
const proofPath = 'transparency-proof.tlog-proof';

const author = makeMachine();
const sealed = await sealRun(author);
const text = await formatEvidenceFile('run-1', toSource(sealed, author));

async function verifyText(document: string, days = 1) {
  const env = { HOME: author.home };
  const { runId, source } = parseEvidenceFile(Buffer.from(document));
  return verifyRun(source, await loadAnchors({ keyFiles: [], ledgerKeys: [] }, env), {
    clock: daysLater(days),
    memory: userCheckpointMemory(env),
    runId,
  });
}

t.test('a run is in the ledger only if its signed provenance says so', async (t) => {
  t.equal(await isInLedger(toSource(sealed)), true);
  const unlogged = await sealRun(author, { provenance: { transparencyLog: { mode: 'none' } } });
  t.equal(await isInLedger(toSource(unlogged)), false);
  unlogged.run.set(proofPath, sealed.run.get(proofPath) ?? Buffer.alloc(0));
  t.equal(await isInLedger(toSource(unlogged)), false, 'a proof is not what its signer says');
  const broken = copyOf(sealed);
  broken.run.set('provenance.sigstore.json', Buffer.from('{}'));
  t.equal(await isInLedger(toSource(broken)), false);
});

t.test('long content is strict base64 of one alphabet, and decodes to the same bytes', async (t) => {
  const large = Buffer.alloc(3 * 1024 * 1024 + 7, Buffer.from([0xfb, 0xef, 0xbe, 1]));
  const withData = (data: string): string => {
    const file = JSON.parse(text);
    file.content.push({ path: 'artifacts/large', data });
    return JSON.stringify(file);
  };
  const base64 = large.toString('base64');
  const { source } = parseEvidenceFile(Buffer.from(withData(base64)));
  t.ok(large.equals((await source.readContent('artifacts/large')) ?? Buffer.alloc(0)));
  const mixed = `${base64.slice(0, 2 * 1024 * 1024)}${Buffer.from(base64.slice(2 * 1024 * 1024), 'base64').toString('base64url')}`;
  const padded = `${base64.slice(0, 1024 * 1024 - 4)}AA==${base64.slice(1024 * 1024)}`;
  for (const data of ['A'.repeat(81), `${'A'.repeat(78)}B=`, `${'A'.repeat(76)}=A==`, mixed, padded])
    t.throws(() => parseEvidenceFile(Buffer.from(withData(data))), { code: 'ATTESTATION_MALFORMED' });
});

long('an oversized document is refused by its bytes, before it is parsed', async (t) => {
  const open = '{"mediaType":"application/vnd.writ.evidence.v1+json","run":[';
  for (const [what, item, times] of [
    ['objects', '{},', 1_600_000],
    ['numbers', '1,', 3_100_000],
    ['lists', '[', 3_100_000],
  ] as const) {
    const bytes = Buffer.concat([Buffer.from(open), Buffer.alloc(item.length * times, item)]);
    t.throws(() => parseEvidenceFile(bytes), { code: 'ATTESTATION_MALFORMED', message: /found more$/ }, what);
  }
});

t.test('exported evidence verifies like the run itself', async (t) => {
  const report = await verifyText(text);
  t.same(troubles(report), []);
  t.equal(report.verified, true);
  const direct = await verifyAs(sealed, { machine: author });
  t.same(report.checks, direct.checks);
  t.equal(
    await formatEvidenceFile('run-1', parseEvidenceFile(Buffer.from(text)).source),
    text,
    'same source, same bytes',
  );
});

t.test('content removed by retention is left out and expires as the spec says', async (t) => {
  const bare = copyOf(sealed);
  bare.content.clear();
  const document = await formatEvidenceFile('run-1', toSource(bare));
  t.equal(JSON.parse(document).content, null);
  t.equal((await verifyText(document, 365)).verified, true);
  t.equal((await verifyText(document, 1)).verified, false);
});

t.test('an evidence file that names another run or holds other bytes is refuted', async (t) => {
  const change = (edit: (document: Loose) => void): string => {
    const document = JSON.parse(text);
    edit(document);
    return JSON.stringify(document);
  };
  const other = await verifyText(
    change((d) => {
      d.runId = 'run-2';
    }),
  );
  t.same(troubles(other), ['run failed wrong-run']);
  const commit = await verifyText(
    change((d) => {
      d.commit.object = Buffer.from('tree x').toString('base64');
    }),
  );
  t.equal(commit.verified, false);
  const file = await verifyText(
    change((d) => {
      d.run[0].data = 'AAAA';
    }),
  );
  t.equal(file.verified, false);
});

t.test('malformed or oversized evidence files are ATTESTATION_MALFORMED', async (t) => {
  const good = JSON.parse(text);
  const cases: Record<string, string> = {
    'not JSON': text.slice(0, -3),
    'another media type': JSON.stringify({ ...good, mediaType: `${evidenceMediaType}x` }),
    'another member': JSON.stringify({ ...good, more: 1 }),
    'a member twice': text.replace('{', '{"runId":"run-1",'),
    'a file twice': JSON.stringify({ ...good, run: [...good.run, good.run[0]] }),
    'a control character in a path': JSON.stringify({ ...good, run: [{ path: 'a\nb', data: '' }] }),
    'no base64': JSON.stringify({ ...good, run: [{ path: 'a', data: 'ä' }] }),
    'too deep': JSON.stringify({ ...good, run: [[[[[]]]]] }),
    'too many files': JSON.stringify({ ...good, run: Array(100_001).fill(good.run[0]) }),
    'no commit': JSON.stringify({ ...good, commit: undefined }),
  };
  for (const [name, document] of Object.entries(cases))
    t.throws(() => parseEvidenceFile(Buffer.from(document)), { code: 'ATTESTATION_MALFORMED' }, name);
});

t.test('a replay without inputs is missing, and a replay with another result is a mismatch', async (t) => {
  const differing = await verifyAs(sealed, { machine: author, options: { replay: replayRecord } });
  t.same(troubles(differing), ['replay failed replay-mismatch']);
  const { detail } = differing.checks.find(({ id }) => id === 'replay') ?? {};
  t.match(detail, { file: 'decision-input.json', expected: String, found: String });
  const without = copyOf(sealed);
  without.run.delete('decision-input.json');
  const missing = await verifyAs(without, { machine: author, options: { replay: replayRecord } });
  t.ok(troubles(missing).includes('replay missing missing'));
});

t.test('a requested predicate type must be in the set', async (t) => {
  const types = [slsaProvenanceType];
  t.equal((await verifyAs(sealed, { machine: author, options: { types } })).verified, true);
  const report = await verifyAs(sealed, { machine: author, options: { types: ['https://example.org/x'] } });
  t.same(troubles(report), ['type:https://example.org/x failed wrong-type']);
});

t.test('each claim is explained with its evidence, signer, log and rule', async (t) => {
  const report = await verifyAs(sealed, { machine: author });
  const claims = explain(report);
  t.same(
    claims.map(({ claim }) => claim),
    report.checks.map(({ id }) => id),
  );
  t.ok(
    claims.every(({ says, rule }) => says !== '' && rule !== ''),
    'no claim is without its sentence and its rule',
  );
  t.match(
    claims.find(({ claim }) => claim === 'evidence:patchset.json'),
    {
      evidence: [{ name: 'patchset.json', sha256: sha256Hex('{"patchset":1}') }],
      signer: { key_id: String, anchor: 'own' },
      log: { index: 0, size: 1 },
      rule: 'provenance.bindings.embedEvidenceDigests',
    },
  );
  t.match(
    claims.find(({ claim }) => claim === 'manifest'),
    {
      evidence: [{ sha256: sha256Hex(sealed.run.get('evidence-manifest.sigstore.json') ?? '') }],
    },
  );
  const stranger = explain(await verifyAs(sealed, { machine: makeMachine() }));
  t.ok(stranger.every((claim) => claim.signer === undefined && claim.log === undefined));
  t.match(stranger[1], { claim: 'signature', status: 'unverified', code: 'untrusted-signer' });
});
