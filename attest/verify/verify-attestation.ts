import { sha256Hex } from '../../core/base/digest.ts';
import { type AnyBundle, parseAnyBundle } from '../bundle/any-bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import type { Anchors } from './anchors.ts';
import { type SourceDemands, sourceChecks, verifySource } from './certified-source.ts';
import { CheckList } from './check-list.ts';
import type { GivenArtifact } from './given-artifact.ts';
import type { Signed } from './judge-signature.ts';
import { judgeType } from './judge-type.ts';
import { requireSubject, type SubjectDemands } from './match-subject.ts';
import { type AnyStatement, type JudgedPredicate, readAttestation } from './read-attestation.ts';
import { askedCommitId, refuted, unavailable, type VerifyReport } from './report.ts';
import { readSignedMessage } from './signed-message.ts';
import { judgeSummary, type SummaryDemands, summaryChecks } from './summary-demands.ts';
import { verifyByCertificate } from './verify-by-certificate.ts';
import { verifyByKey } from './verify-by-key.ts';
import { verifyEntries } from './verify-entries.ts';

export interface AttestationOptions extends SubjectDemands {
  /** What time it is for the reader: nothing signed may say that it was done later. Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Predicate types that are asked for; none: those that are read here. */
  readonly types: readonly string[];
  /** Canonical digest of the spec that is meant. */
  readonly specDigest?: string;
  /** A log proof is asked for, by giving whom to believe about logs. */
  readonly logged: boolean;
  /** A log proof is asked for by name; nothing stands for it. */
  readonly logRequired?: boolean;
  /** Only a run can be replayed. */
  readonly replay: boolean;
  /** What else is asked for that only a run answers, as check ids. */
  readonly unanswerable?: readonly string[];
  /** What the user has seen of logs; a fork of it is refused. */
  readonly memory?: CheckpointMemory;
  /** What a verification summary must say; of anything else it is not answered. */
  readonly summary: SummaryDemands;
  /** What the certificate must name as the source. */
  readonly source?: SourceDemands;
}

/**
 * Verifies one bundle or DSSE envelope of anybody's. As with runs, the payload is not looked at before its signature
 * holds; and a subject always is compared: with the artifacts given, the commits asked for, or the commit checked out.
 */
export async function verifyAttestation(
  bytes: Uint8Array,
  anchors: Anchors,
  options: AttestationOptions,
): Promise<VerifyReport> {
  const list = new CheckList();
  list.expect('bundle');
  const bundle = await list.judge('bundle', () => parseAnyBundle(bytes), describeBundle);
  if (bundle === undefined) {
    list.expect('signature', 'subject');
    return list.report();
  }
  list.grounds.digests.set('bundle', sha256Hex(bytes));
  const { material } = bundle;
  const isCertified = material.kind === 'certificate';
  const aboutSource = sourceChecks(options.source, isCertified ? material.der : undefined);
  list.expect('signature', ...(isCertified ? ['identity'] : []), ...aboutSource, 'log');
  if (bundle.content.kind === 'envelope') list.expect('statement');
  if (bundle.content.kind === 'envelope' || options.types.length > 0) list.expect('predicate');
  list.expect('subject');
  if (options.specDigest !== undefined) list.expect('spec');
  if (options.replay) list.expect('replay');
  list.expect(...(options.unanswerable ?? []));
  const isCommitUnanswered = bundle.content.kind === 'message' && (options.commits ?? []).length > 0;
  if (isCommitUnanswered) list.expect(askedCommitId);
  list.expect(...summaryChecks(options.summary));

  const signed = await readSigned(list, bundle, options.artifacts);
  if (signed === undefined) return list.report();
  if (isCertified) {
    const { der } = material;
    const proven = await verifyByCertificate(list, bundle, der, anchors, signed, options.logRequired);
    if (proven === undefined) return list.report();
    const { statement } = await verifyStatement(list, bundle, options);
    await verifySource(list, aboutSource, options.source, proven.source, statement);
  } else {
    const key = await verifyByKey(list, bundle, anchors, signed);
    if (key === undefined) return list.report();
    const { judged } = await verifyStatement(list, bundle, options);
    await verifySource(list, aboutSource, options.source);
    await verifyEntries(
      list,
      {
        bundle,
        key,
        signed,
        demanded: options.logged,
        required: options.logRequired === true,
        vouched: judged?.ours?.ledger,
        memory: options.memory,
        nowMs: options.nowMs,
      },
      anchors,
    );
  }
  if (isCommitUnanswered)
    list.settle(askedCommitId, 'missing', 'missing', { expected: 'a statement about a commit' });
  for (const id of [...(options.replay ? ['replay'] : []), ...(options.unanswerable ?? [])])
    list.settle(id, 'missing', 'missing', { expected: 'a run, or its exported evidence' });
  return list.report();
}

function describeBundle({ mediaType, content }: AnyBundle) {
  return { media_type: mediaType, content: content.kind };
}

/** What the signature is over; of a message only once it is the artifact given. */
function readSigned(
  list: CheckList,
  { content }: AnyBundle,
  artifacts: readonly GivenArtifact[],
): Promise<Signed | undefined> {
  return content.kind === 'message'
    ? list.judge('subject', () => readSignedMessage(content, artifacts))
    : Promise.resolve(preAuthEncoding(content.payloadType, content.payload));
}

async function verifyStatement(
  list: CheckList,
  { content }: AnyBundle,
  options: AttestationOptions,
): Promise<{ readonly statement?: AnyStatement; readonly judged?: JudgedPredicate }> {
  if (content.kind !== 'envelope') {
    const found = 'no statement';
    if (options.specDigest !== undefined) list.settle('spec', 'missing', 'missing', { found });
    if (options.types.length > 0)
      list.settle('predicate', 'missing', 'missing', { expected: options.types, found });
    await judgeSummary(list, options.summary, undefined);
    return {};
  }
  const statement = await list.judge(
    'statement',
    () => readAttestation(content.payloadType, content.payload),
    ({ predicateType, subjects }) => ({ predicate_type: predicateType, subjects: subjects.length }),
  );
  if (statement === undefined) return {};
  const judged = await judgeType(list, statement, content.payload, options.types, options.nowMs);
  if (judged) await judgeSummary(list, options.summary, judged.summary);
  if (judged?.ours) list.grounds.plugins = judged.ours.plugins;
  await list.judge(
    'subject',
    () => requireSubject(statement.subjects, options),
    (found) => found,
  );
  const { specDigest } = options;
  if (specDigest !== undefined)
    await list.judge('spec', () => {
      const found = judged?.ours?.specDigest;
      if (found === undefined)
        throw unavailable('missing', { expected: specDigest, found: 'no digest of a spec' });
      if (found !== specDigest) throw refuted('mismatch', { expected: specDigest, found });
    });
  return { statement, ...(judged && { judged }) };
}
