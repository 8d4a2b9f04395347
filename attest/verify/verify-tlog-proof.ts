import { sha256Hex } from '../../core/base/digest.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { entryKind, parseLogEntry } from '../log/log-entry.ts';
import { parseTlogProof } from '../log/tlog-proof.ts';
import type { Anchors } from './anchors.ts';
import { CheckList } from './check-list.ts';
import { digestsOf, distinctArtifacts, type GivenArtifact } from './given-artifact.ts';
import { judgeSeen } from './judge-seen.ts';
import { judgeLoggedSignature, keyOfEntry } from './logged-signature.ts';
import { refuted, unavailable, type VerifyReport } from './report.ts';
import { describeInclusion, verifyInclusion } from './verify-log.ts';

/**
 * Verifies a C2SP tlog-proof by itself: its entry stands in a log that is trusted, and speaks of the artifact given. It
 * shows that something was logged, and under which key, whose signature over it is verified; whether that key is
 * believed is judged where it is asked for with `--key`. What else is asked for (`unanswerable`, as check ids) it
 * cannot answer, and so does not verify. A checkpoint that contradicts what the user has seen of the log is refused,
 * and one that cannot be compared with it too where `logRequired`.
 */
export async function verifyTlogProof(
  bytes: Uint8Array,
  anchors: Anchors,
  artifacts: readonly GivenArtifact[],
  unanswerable: readonly string[] = [],
  memory?: CheckpointMemory,
  logRequired = false,
): Promise<VerifyReport> {
  const list = new CheckList('log-inclusion');
  const asked = anchors.signers.filter((anchor) => anchor.from === 'given');
  list.expect('log-proof', 'log-inclusion', 'log-entry', 'subject');
  if (asked.length > 0) list.expect('signer');
  list.expect(...unanswerable);
  for (const id of unanswerable)
    list.settle(id, 'missing', 'missing', { found: 'a log proof says nothing of it' });
  list.grounds.digests.set('log-proof', sha256Hex(bytes));
  const proof = await list.judge('log-proof', () => {
    const { body, ...rest } = parseTlogProof(bytes);
    if (body === undefined) throw unavailable('missing', { expected: 'the entry in the `extra` line' });
    return { ...rest, body };
  });
  if (proof === undefined) return list.report();
  const inclusion = await list.judge(
    'log-inclusion',
    () => {
      const { body, index, hashes, checkpoint } = proof;
      return verifyInclusion(body, index, hashes, checkpoint, anchors, undefined);
    },
    describeInclusion,
  );
  if (inclusion === undefined) return list.report();
  list.grounds.log = describeInclusion(inclusion);
  await judgeSeen(list, inclusion, memory, logRequired);
  const entry = await list.judge(
    'log-entry',
    async () => {
      const entry = parseLogEntry(proof.body);
      const { kind, apiVersion, keyDetails } = entry;
      if (kind !== entryKind.kind || apiVersion !== entryKind.version)
        throw refuted('mismatch', {
          expected: `${entryKind.kind} ${entryKind.version}`,
          found: `${kind} ${apiVersion}`,
        });
      const key = keyOfEntry(entry);
      const key_id = sha256Hex(entry.publicKey);
      if (key === undefined) throw unavailable('unsupported', { key_id, found: keyDetails });
      const verdict = await judgeLoggedSignature(entry, key, artifacts);
      // Whoever holds a log can write any key beside any signature.
      if (verdict === 'does-not') throw refuted('bad-signature', { key_id });
      return { ...entry, verdict };
    },
    ({ kind, apiVersion, publicKey }) => ({ kind, version: apiVersion, key_id: sha256Hex(publicKey) }),
  );
  if (entry === undefined) return list.report();
  await list.judge('subject', () => {
    const found = `sha256:${entry.digest.toString('hex')}`;
    const [artifact, ...more] = distinctArtifacts(artifacts);
    if (artifact === undefined)
      throw unavailable('missing', { expected: 'what was logged (`--artifact FILE`)', found });
    const digests = [artifact.sha256, artifact.signed];
    if (artifact.sha256 === undefined)
      throw unavailable('missing', { expected: 'its digest by sha256, or the file itself', found });
    if (more.length > 0 || entry.algorithm !== 'SHA2_256' || !digests.includes(entry.digest.toString('hex')))
      throw refuted('wrong-subject', { expected: artifacts.flatMap(digestsOf), found });
  });
  if (asked.length > 0)
    await list.judge('signer', () => {
      const keyId = sha256Hex(entry.publicKey);
      if (!asked.some((anchor) => anchor.keyId === keyId))
        throw unavailable('untrusted-signer', { key_id: keyId });
      if (entry.verdict !== 'holds')
        throw unavailable('unsupported', {
          key_id: keyId,
          expected: 'the artifact as a file: nothing can be said of this signature by its digest',
        });
    });
  return list.report();
}
