/* Explains each check of a report: its meaning, its evidence, its signer and its rule. */
import { runFiles } from './evidence-source.ts';
import type { CheckCode, CheckStatus, SignerGround, VerifyReport } from './report.ts';

/** One claim of a verification and what it rests on: evidence → signer → log → rule. */
export interface ExplainedClaim {
  /** Id of the check. */
  readonly claim: string;
  readonly status: CheckStatus;
  readonly code?: CheckCode;
  /** What holds where it passed. */
  readonly says: string;
  /** What was looked at, by SHA-256. */
  readonly evidence: readonly { readonly name: string; readonly sha256: string }[];
  /** Absent where no signature covers it, or none was verified. */
  readonly signer?: SignerGround;
  /** The log entry of the signed bytes; absent where none was shown. */
  readonly log?: { readonly origin: string; readonly index: number; readonly size: number };
  /** What requires it: a field of the spec, or a specification. */
  readonly rule: string;
}

interface Row {
  readonly says: string;
  readonly rule: string;
  /** Names of what is looked at; by default what follows the colon of the id. */
  readonly evidence?: readonly string[];
  /** About the log entry: if it was made again, the files that hold the new one are looked at. */
  readonly entry?: boolean;
  /** Run and signer follow, from the detail of the check. */
  readonly whose?: boolean;
  /** No signature covers it. All others are covered by way of provenance and manifest. */
  readonly unsigned?: boolean;
  /** Signed after what was logged, which therefore does not pin it. */
  readonly after?: boolean;
}

const bundle = [runFiles.bundle, 'bundle'];
const proof = [runFiles.proof, 'log-proof'];
const slsa = 'SLSA provenance v1 (`writ help build-type`)';
const set = 'docs/decisions/0006-evidence-set.md';
const logged = 'provenance.transparencyLog.mode';
const inToto = 'in-toto Statement v1: subjects are compared by digest';

/** By check id, or by the part before its colon. */
const rows: Readonly<Record<string, Row>> = {
  bundle: {
    says: 'the attestation is there and well-formed',
    rule: 'sigstore bundle',
    evidence: bundle,
    unsigned: true,
  },
  'bundle-renewed': {
    says: 'the bundle with the log entry that was made again holds the same envelope',
    rule: '`writ help ledger`, Machines without state',
    evidence: [runFiles.renewedBundle],
    unsigned: true,
  },
  signature: {
    says: 'a signer you believe signed these bytes',
    rule: 'DSSE 1.0; `writ help verifying`, What you need',
    evidence: bundle,
  },
  identity: {
    says: 'the certificate was issued to whom you named',
    rule: '--identity, --issuer: compared literally',
    evidence: bundle,
  },
  'asked-commit': {
    says: 'it is about the commit that you asked for',
    rule: '--subject-commit, or a commit named beside the file',
    unsigned: true,
  },
  'source-repository': {
    says: 'the certificate names this repository as the source, and the statement names no other',
    rule: 'Fulcio, source repository (1.3.6.1.4.1.57264.1.12); --source-repository',
    evidence: bundle,
  },
  'source-ref': {
    says: 'the certificate names this ref of the source repository',
    rule: 'Fulcio, source repository ref (1.3.6.1.4.1.57264.1.14); --source-ref',
    evidence: bundle,
  },
  statement: {
    says: 'what was signed is a statement of the kind expected',
    rule: slsa,
    evidence: bundle,
  },
  predicate: {
    says: 'what it says speaks for its subjects',
    rule: '--type, or the predicates of `writ help verifying`',
    evidence: bundle,
  },
  subject: { says: 'it is about what you have', rule: inToto, evidence: [...bundle, ...proof] },
  signer: { says: 'the logged key is one you believe', rule: '--key', evidence: proof, unsigned: true },
  log: {
    says: 'the signature is in a log you trust',
    rule: 'Rekor v1 and v2; C2SP tlog-checkpoint',
    evidence: bundle,
  },
  time: {
    says: 'a time-stamp authority you believe saw this signature',
    rule: 'RFC 3161; --trusted-root',
    evidence: bundle,
  },
  'subject-commit': {
    says: 'the commit is the one that was sealed',
    rule: slsa,
    evidence: bundle,
  },
  'subject-tree': {
    says: 'its tree is the one that the gates saw',
    rule: slsa,
    evidence: bundle,
  },
  'tree-objects': {
    says: 'what this repository keeps of that tree holds the bytes that its ids name',
    rule: 'git object ids, reckoned from the bytes',
    evidence: bundle,
    unsigned: true,
  },
  'subject-patchset': {
    says: 'the patch is the one that the gates saw',
    rule: slsa,
    evidence: ['patchset.diff'],
  },
  run: { says: 'commit and statement name the same run', rule: slsa, evidence: bundle },
  policy: {
    says: 'it is based on the stated base, and one commit is named whose policy applied',
    rule: slsa,
    evidence: [...bundle, 'decision-input.json'],
  },
  spec: {
    says: 'this spec was followed',
    rule: 'provenance.bindings.embedIntentSpecDigest',
    evidence: [runFiles.spec],
  },
  evidence: {
    says: 'the record lists what a run must have',
    rule: 'provenance.bindings.embedEvidenceDigests',
    evidence: bundle,
  },
  'evidence:': {
    says: 'this evidence is what was recorded',
    rule: 'provenance.bindings.embedEvidenceDigests',
  },
  'evidence-stored': {
    says: 'nothing is stored that is not listed',
    rule: 'provenance.bindings.embedEvidenceDigests',
    evidence: bundle,
  },
  workers: {
    says: 'workers that the policy commit lists signed the results of its checks',
    rule: '.writ/workers; DSSE',
    evidence: bundle,
  },
  'reused:': {
    says: 'the result of this check is that of run',
    whose: true,
    rule: '[verdicts] reuse; docs/decisions/0042-reused-verdicts.md',
    evidence: bundle,
  },
  manifest: {
    after: true,
    says: 'the set has a signed list of its files',
    rule: set,
    evidence: [runFiles.manifest],
  },
  'manifest-complete': {
    after: true,
    says: 'no file was left out, added or exchanged',
    rule: set,
    evidence: [runFiles.manifest],
  },
  decision: {
    says: 'it was decided to commit, every listed check having run',
    rule: 'acceptance.verificationPlan',
    evidence: [runFiles.decision],
  },
  summary: {
    after: true,
    says: 'the verdict is PASSED and names every attestation',
    rule: 'SLSA VSA 1.2',
    evidence: [runFiles.summary],
  },
  'verifier-id': {
    after: true,
    says: 'the verdict is by the verifier that you named',
    rule: '--verifier-id; SLSA VSA 1.2',
    evidence: [runFiles.summary, 'bundle'],
  },
  'resource-uri': {
    after: true,
    says: 'the verdict is about what you named',
    rule: '--resource-uri; SLSA VSA 1.2',
    evidence: [runFiles.summary, 'bundle'],
  },
  'level:': {
    after: true,
    says: 'the verdict claims this level, or a higher one of its track',
    rule: '--level; SLSA VSA 1.2',
    evidence: [runFiles.summary, 'bundle'],
  },
  'test-result:': { says: 'a test suite found this', rule: 'in-toto test-result 0.1' },
  approvals: {
    says: 'enough people signed, none of them an author',
    rule: 'risk.humanInLoop.minApprovers',
    evidence: ['approvals/gate-report.json', 'approvals/authors.json'],
  },
  'approvals-carried': {
    says: 'approvals of an earlier candidate count: same patch on the new base, same verdict, both policies allow it',
    rule: '[approvals] carry at both policy commits; `writ help approval`',
    evidence: [runFiles.equivalence, 'approvals/gate-report.json'],
  },
  'artifact:': {
    says: 'the file given is part of this run',
    rule: '--artifact',
    evidence: bundle,
  },
  'type:': { says: 'the set holds a statement of this type', rule: '--type', evidence: bundle },
  replay: {
    says: 'the stored inputs lead to the decision, byte for byte',
    rule: '--replay',
    evidence: ['decision-input.json', 'decision-record.json'],
  },
  'log-entry': {
    says: 'the entry speaks of this signature and key',
    rule: logged,
    evidence: [...bundle, ...proof],
    entry: true,
  },
  'log-inclusion': {
    says: 'the entry is in a log you trust',
    rule: logged,
    evidence: [...bundle, ...proof],
    entry: true,
  },
  'log-proof': {
    says: 'the proof by itself says the same',
    rule: logged,
    evidence: proof,
    entry: true,
  },
  'log-history': {
    says: 'the log never showed you anything else',
    rule: logged,
    evidence: proof,
    entry: true,
    unsigned: true,
  },
  'plain-git': {
    after: true,
    says: 'plain git shows the objects that were verified, and none in their place',
    rule: 'refs/replace, info/grafts',
    unsigned: true,
  },
  'not-revoked': {
    after: true,
    says: 'no one revoked it',
    rule: '`writ help build-type`, Revocations',
    evidence: [runFiles.revocation],
    unsigned: true,
  },
};

/** Lists what each check of a report rests on, in their order. Signer and log appear only where they were verified. */
export function explain({ checks, grounds }: VerifyReport): readonly ExplainedClaim[] {
  return checks.map(({ id, status, code, detail }) => {
    const colon = id.indexOf(':');
    const row = rows[colon < 0 ? id : id.slice(0, colon + 1)];
    const names = row?.evidence ?? [id.slice(colon + 1)];
    const holds = status === 'passed' || status === 'expired';
    return {
      claim: id,
      status,
      ...(code === undefined ? {} : { code }),
      says: `${row?.says ?? ''}${row?.whose && detail ? ` ${detail.run}, signed by ${detail.signer} (key ${String(detail.key).slice(0, 16)})` : ''}`,
      evidence: names.flatMap((first) => {
        const again = `renewed/${first}`;
        const name = row?.entry && grounds.digests.has(again) ? again : first;
        const sha256 = grounds.digests.get(name);
        return sha256 === undefined ? [] : [{ name, sha256 }];
      }),
      ...(holds && row && !row.unsigned && grounds.signer ? { signer: grounds.signer } : {}),
      ...(holds && grounds.log && !row?.after ? { log: grounds.log } : {}),
      rule: row?.rule ?? '',
    };
  });
}
