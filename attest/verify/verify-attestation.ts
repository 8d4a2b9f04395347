import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import { type AnyBundle, type Content, type HintedSignature, parseAnyBundle } from '../bundle/any-bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { type Anchors, type SigningAnchor, signerNamed, signersFor } from './anchors.ts';
import { maySignStatements, readCertificateClaims } from './certificate-claims.ts';
import { type SourceDemands, sourceChecks, verifySource } from './certified-source.ts';
import { CheckList } from './check-list.ts';
import {
  type ArtifactHash,
  artifactHashes,
  digestsOf,
  distinctArtifacts,
  type GivenArtifact,
} from './given-artifact.ts';
import { judgeSignature, type Signed } from './judge-signature.ts';
import { requireSubject, type SubjectDemands } from './match-subject.ts';
import {
  type AnyStatement,
  type JudgedPredicate,
  judgePredicate,
  knownPredicates,
  readAttestation,
} from './read-attestation.ts';
import { askedCommitId, type CheckDetail, refuted, unavailable, type VerifyReport } from './report.ts';
import { judgeSummary, type SummaryDemands, summaryChecks } from './summary-demands.ts';
import { verifyEntries } from './verify-entries.ts';
import { type SigstoreProof, verifyWithSigstore } from './verify-with-sigstore.ts';

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

/**
 * A predicate that is read here is judged whole. Of any other nothing is claimed (`not-judged`): who asked for its type
 * by name reads it himself, for who did not it stays open.
 */
async function judgeType(
  list: CheckList,
  statement: AnyStatement,
  payload: Buffer,
  asked: readonly string[],
  nowMs: number,
): Promise<JudgedPredicate | undefined> {
  const isRead = knownPredicates.includes(statement.predicateType);
  if (isRead || (asked.length > 0 && !asked.includes(statement.predicateType)))
    return list.judge('predicate', () => judgePredicate(statement, payload, asked, nowMs), describePredicate);
  const detail = { found: statement.predicateType };
  if (asked.length > 0) list.waive('predicate', 'not-judged', detail);
  else list.settle('predicate', 'unverified', 'not-judged', { ...detail, expected: knownPredicates });
  return {};
}

/** What a summary says is told: whose it is and what it is about are the signer's word until they are asked for. */
function describePredicate({ summary }: JudgedPredicate): CheckDetail | undefined {
  if (summary === undefined) return undefined;
  return { verifier: summary.verifierId, resource_uri: summary.resourceUri, levels: summary.levels };
}

const hashes: Readonly<Record<string, ArtifactHash>> = {
  SHA2_256: 'sha256',
  SHA2_384: 'sha384',
  SHA2_512: 'sha512',
};

/**
 * What a message signature is over, once the one artifact given has the digest that the bundle names: its bytes where
 * they are at hand and not beyond measure, else its digests.
 */
async function readSignedMessage(
  { algorithm, digest }: Content & { readonly kind: 'message' },
  artifacts: readonly GivenArtifact[],
): Promise<Signed> {
  const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
  const found = `${algorithm}:${digest.toString('hex')}`;
  if (hash === undefined) throw unavailable('unsupported', { expected: Object.keys(hashes), found });
  const [artifact, ...more] = distinctArtifacts(artifacts);
  if (artifact === undefined)
    throw unavailable('missing', { expected: 'the artifact (`--artifact FILE`)', found });
  const expected = artifacts.flatMap(digestsOf);
  if (more.length > 0) throw refuted('wrong-subject', { expected, found });
  const given = artifact[hash];
  if (given === undefined)
    throw unavailable('missing', { expected: `its digest by ${hash}, or the file itself`, found });
  if (given !== digest.toString('hex')) throw refuted('wrong-subject', { expected, found });
  try {
    if (artifact.read) return await artifact.read();
  } catch (fault) {
    if (!isWritError(fault, 'INPUT_TOO_LARGE')) throw fault;
  }
  return new Map(
    artifactHashes.flatMap((one) => {
      const hex = artifact[one];
      return hex === undefined ? [] : [[one, Buffer.from(hex, 'hex')] as const];
    }),
  );
}

/**
 * Chain, time, logs and signature by the sigstore library; whose certificate it must be is compared here, literally.
 * Returns what was proven where all of it holds; what is missing of a log (`logRequired`, or a ledger that was given)
 * speaks for itself.
 */
async function verifyByCertificate(
  list: CheckList,
  bundle: AnyBundle,
  der: Buffer,
  anchors: Anchors,
  signed: Signed,
  logRequired = false,
): Promise<SigstoreProof | undefined> {
  const { trustedRoot: root, identity: wanted } = anchors;
  const { identity = 'none', issuer = 'none' } = readCertificateClaims(der);
  let proven: SigstoreProof | undefined;
  let fault: unknown;
  try {
    if (root === undefined || wanted === undefined)
      throw unavailable('untrusted-signer', {
        expected: '`--trusted-root FILE`, `--identity` and `--issuer`',
        identity,
        issuer,
      });
    const shown = await verifyWithSigstore(bundle, { root, signed });
    if (!maySignStatements(der))
      throw unavailable('untrusted-signer', {
        found: 'a certificate that is not for code signing',
        identity,
        issuer,
      });
    proven = shown;
  } catch (thrown) {
    fault = thrown;
  }
  if (proven === undefined) {
    const refused = (): never => {
      throw fault;
    };
    await list.judge(isWritError(fault) && fault.detail.at === 'log' ? 'log' : 'signature', refused);
    return undefined;
  }
  // The library read the certificate by itself; ours must agree.
  const found = { identity, issuer: proven.issuer === issuer ? issuer : 'none' };
  list.settle('signature', 'passed', undefined, found);
  const ledgers = anchors.ledgers.filter(({ from }) => from === 'given');
  // Entries of our ledgers are by keys: none of them is of what a certificate signs.
  if (ledgers.length > 0)
    list.settle('log', 'missing', 'not-logged', { expected: ledgers.map(({ name }) => name) });
  else if (proven.root.tlogs.length === 0 && logRequired) list.settle('log', 'missing', 'not-logged');
  else if (proven.root.tlogs.length === 0) list.waive('log', 'not-required');
  else list.settle('log', 'passed', undefined, { entries: proven.entries });
  const isSame = await list.judge('identity', () => {
    for (const name of ['identity', 'issuer'] as const) {
      if (found[name] === 'none' || found[name] !== wanted?.[name])
        throw unavailable('untrusted-signer', {
          expected: [wanted?.identity ?? '', wanted?.issuer ?? ''],
          found: [found.identity, found.issuer],
        });
    }
    return true;
  });
  if (isSame !== true) return undefined;
  list.grounds.signer = found;
  return proven;
}

/**
 * Requires that one of the signatures is by a key that is believed, and gives that key. Signatures of others say
 * nothing, either way: hints name keys, and nobody vouches for a hint. Refuted is only what names a believed key that
 * did not sign, where no other believed key did.
 */
async function verifyByKey(
  list: CheckList,
  bundle: AnyBundle,
  anchors: Anchors,
  signed: Signed,
): Promise<KeyObject | undefined> {
  const signer = await list.judge(
    'signature',
    () => findSigner(signaturesOf(bundle), anchors, signed),
    (anchor) => ({ key_id: anchor.keyId, anchor: anchor.from }),
  );
  if (signer) list.grounds.signer = { key_id: signer.keyId, anchor: signer.from };
  return signer?.key;
}

function signaturesOf({ content, material }: AnyBundle): readonly HintedSignature[] {
  const outer = material.kind === 'key' ? material.hint : '';
  if (content.kind === 'message') return [{ hint: outer, signature: content.signature }];
  const [first, ...more] = content.signatures;
  return [{ ...first, hint: first.hint || outer }, ...more];
}

function findSigner(signatures: readonly HintedSignature[], anchors: Anchors, signed: Signed): SigningAnchor {
  const tried = new Set<string>();
  let isUnjudged = false;
  for (const { hint, signature } of signatures) {
    for (const anchor of signersFor(anchors, hint)) {
      tried.add(anchor.keyId);
      const verdict = judgeSignature(anchor.key, signed, signature);
      if (verdict === 'holds') return anchor;
      if (verdict === 'cannot') isUnjudged = true;
    }
  }
  if (isUnjudged)
    throw unavailable('missing', {
      expected: 'the artifact as a file: nothing can be said of this signature by these digests',
    });
  const named = signatures
    .map(({ hint }) => signerNamed(anchors, hint))
    .find((anchor) => anchor !== undefined);
  if (named) throw refuted('bad-signature', { key_id: named.keyId });
  throw unavailable('untrusted-signer', {
    key_id: signatures.map(({ hint }) => hint).join(' '),
    tried: [...tried],
  });
}
