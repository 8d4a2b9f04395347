import { type Mutant, manifestPath, proofPath, provenancePath } from './mutants.ts';

/** What verification has to say about an attack. */
export interface Answer {
  readonly exit: 1 | 3;
  /** `id status code`: at least one of these is said. */
  readonly own: readonly string[];
  /** What else may be said: whatever pins the changed file or rests on it. */
  readonly beside?: readonly string[];
}

/**
 * `same`: the claims that are read are the old ones; whatever pins the octets of the file says so, where something
 * does.
 */
export type Expected = Answer | 'same';

interface Row {
  readonly file: RegExp;
  readonly region: RegExp;
  readonly answers: readonly Expected[];
}

const companion = /^statements\/|^evidence-manifest/;
const provenance = new RegExp(`^${provenancePath}$`);
const proof = new RegExp(`^${proofPath}$`);
const log = '/verificationMaterial/tlogEntries/0';

/** The check that a statement beside the provenance has of its own. */
function checkOf(file: string): string {
  if (file === manifestPath) return 'manifest';
  if (file === 'statements/vsa.sigstore.json') return 'summary';
  return file === 'statements/decision.sigstore.json' ? 'decision' : `test-result:${file}`;
}

const refuted = (...own: readonly string[]): Answer => ({ exit: 1, own });
const unknown = (...own: readonly string[]): Answer => ({ exit: 3, own });

/** What test results, which are held to the gate report, say of one that is not as it was. */
const testResults = ['unit', 'e2e'].flatMap((check) =>
  ['failed malformed', 'failed mismatch', 'failed policy-deny', 'missing missing'].map(
    (said) => `test-result:statements/test-result-${check}.sigstore.json ${said}`,
  ),
);

/**
 * Region by region, what is allowed to be answered; `CHECK` stands for the statement's own check, `FILE` for the file.
 * The first row counts.
 */
const table: readonly Row[] = [
  // The other alphabet says the same (DSSE 1.0: a verifier takes both).
  { file: /sigstore\.json$/, region: /^base64url /, answers: ['same'] },

  // Statements beside the provenance.
  { file: companion, region: /^bundle rewritten$/, answers: ['same'] },
  {
    file: companion,
    region: /^base64 /,
    answers: [refuted('CHECK failed malformed'), refuted('CHECK failed bad-signature')],
  },
  {
    file: companion,
    region: /^bundle (?:\/dsseEnvelope\/(?:payload|payloadType|signatures\/0\/sig)|octets)$/,
    answers: [refuted('CHECK failed malformed'), refuted('CHECK failed bad-signature')],
  },
  { file: companion, region: /^bundle /, answers: [refuted('CHECK failed malformed')] },
  {
    file: companion,
    region: /^payload, (?:old signature|another key under this name)$/,
    answers: [refuted('CHECK failed bad-signature')],
  },
  {
    file: /^evidence-manifest/,
    region: /^payload, another key$/,
    answers: [unknown('CHECK unverified untrusted-signer')],
  },
  // What the other statements say is pinned by digests beside: those refute it.
  {
    file: companion,
    region: /^payload, another key$/,
    answers: [refuted('CHECK unverified untrusted-signer')],
  },

  // The provenance: nothing else is looked at before its signature holds.
  { file: provenance, region: /^bundle rewritten$/, answers: ['same'] },
  {
    file: provenance,
    region: /^base64 \/dsseEnvelope/,
    answers: [refuted('bundle failed malformed'), refuted('signature failed bad-signature')],
  },
  {
    file: provenance,
    region: /^bundle (?:\/dsseEnvelope\/(?:payload|payloadType|signatures\/0\/sig)|octets)$/,
    answers: [refuted('bundle failed malformed'), refuted('signature failed bad-signature')],
  },
  {
    file: provenance,
    region: /^payload, (?:old signature|another key under this name)$/,
    answers: [refuted('signature failed bad-signature')],
  },
  {
    file: provenance,
    region: /^payload, another key$/,
    answers: [unknown('signature unverified untrusted-signer')],
  },

  // The log entry in it.
  {
    file: provenance,
    region: new RegExp(`^bundle ${log}(?:/integratedTime)?$`),
    answers: ['same', refuted('bundle failed malformed')],
  },
  {
    file: provenance,
    region: /^bundle \/verificationMaterial\/tlogEntries$/,
    answers: [
      refuted('bundle failed malformed'),
      { exit: 1, own: ['log-inclusion missing not-logged'], beside: ['log-entry missing not-logged'] },
    ],
  },
  {
    file: provenance,
    region: new RegExp(
      `^(?:bundle|base64) ${log}/(?:logId/keyId|inclusionProof/(?:rootHash|hashes(?:/\\d+)?))$`,
    ),
    answers: [refuted('bundle failed malformed'), refuted('log-inclusion failed mismatch')],
  },
  {
    file: provenance,
    region: new RegExp(`^bundle ${log}/inclusionProof/checkpoint/envelope$|^checkpoint line `),
    answers: [
      'same',
      refuted('bundle failed malformed'),
      refuted('log-inclusion failed malformed'),
      refuted('log-inclusion failed bad-signature'),
      refuted('log-inclusion unverified untrusted-log'),
      unknown('log-inclusion unverified untrusted-log'),
    ],
  },
  {
    file: provenance,
    region: new RegExp(`^(?:bundle|base64) ${log}/canonicalizedBody$|^entry `),
    answers: [
      refuted('bundle failed malformed'),
      {
        exit: 1,
        own: ['log-inclusion failed mismatch'],
        beside: ['log-entry failed malformed', 'log-entry failed mismatch', 'log-proof failed mismatch'],
      },
    ],
  },
  { file: provenance, region: /^bundle /, answers: [refuted('bundle failed malformed')] },

  // The proof by itself.
  {
    file: proof,
    region: /^proof line 1$/,
    // The entry is in the bundle too: a proof without it speaks of the same one.
    answers: ['same', refuted('log-proof failed malformed'), refuted('log-proof failed mismatch')],
  },
  {
    file: proof,
    region: /^proof (?:line [34]|octets)$/,
    answers: [refuted('log-proof failed malformed'), refuted('log-proof failed mismatch')],
  },
  { file: proof, region: /^proof line [0259]$/, answers: [refuted('log-proof failed malformed')] },
  {
    file: proof,
    region: /^proof line /,
    answers: [
      'same',
      refuted('log-proof failed malformed'),
      refuted('log-proof failed bad-signature'),
      refuted('log-proof unverified untrusted-log'),
      unknown('log-proof unverified untrusted-log'),
    ],
  },
  { file: proof, region: /^entry in the proof$/, answers: [refuted('log-proof failed mismatch')] },

  // The contract.
  { file: /^spec\.json$/, region: /^spec rewritten$/, answers: ['same'] },
  { file: /^spec\.json$/, region: /^spec field$/, answers: [refuted('spec failed mismatch')] },
  {
    file: /^spec\.json$/,
    region: /^spec malformed$/,
    answers: [refuted('spec failed malformed'), refuted('spec failed mismatch')],
  },

  // Approvals. White space around an armoured signature is none of the signature.
  {
    file: /^approvals\/\d+/,
    region: /^(?:approval|run octets|run exchanged)$/,
    answers: ['same', refuted('approvals failed policy-deny')],
  },
  {
    file: /^approvals\/gate-report/,
    region: /^run (?:octets|exchanged)$/,
    answers: [
      refuted('approvals failed policy-deny'),
      refuted('approvals failed malformed'),
      // How long a check took is no part of the verdict.
      refuted('evidence:FILE failed mismatch'),
    ],
  },
  {
    file: /^approvals\/authors/,
    region: /^run (?:octets|exchanged)$/,
    answers: [refuted('approvals failed malformed')],
  },

  // The commit object.
  {
    file: /^commit$/,
    region: /^commit under its old id$|^commit id$/,
    answers: [
      {
        exit: 1,
        own: ['subject-commit failed mismatch'],
        beside: [
          'subject-tree failed wrong-subject',
          'run failed wrong-run',
          'policy failed wrong-subject',
          'spec failed malformed',
          'spec failed mismatch',
        ],
      },
    ],
  },
  {
    file: /^commit$/,
    region: /^commit line 0$|^commit octets$/,
    answers: [
      {
        exit: 1,
        own: ['subject-commit failed wrong-subject'],
        beside: [
          'subject-tree failed wrong-subject',
          'run failed wrong-run',
          'policy failed wrong-subject',
          'spec failed malformed',
          'spec failed mismatch',
        ],
      },
    ],
  },
  {
    file: /^commit$/,
    region: /^commit line \d+$/,
    answers: [
      {
        exit: 1,
        own: ['subject-commit failed wrong-subject'],
        beside: ['run failed wrong-run', 'policy failed wrong-subject', 'spec failed mismatch'],
      },
    ],
  },

  // Whole files.
  { file: provenance, region: /^run gone$/, answers: [unknown('bundle missing missing')] },
  { file: provenance, region: /^run exchanged$/, answers: [refuted('bundle failed malformed')] },
  { file: proof, region: /^run exchanged$/, answers: [refuted('log-proof failed malformed')] },
  // Another test suite's result, or another statement, in its place.
  {
    file: /^statements\/test-result/,
    region: /^run exchanged$/,
    answers: [{ exit: 1, own: ['evidence:FILE failed mismatch'], beside: ['CHECK failed wrong-type'] }],
  },
  { file: /^statements\/vsa/, region: /^run exchanged$/, answers: [refuted('CHECK failed wrong-type')] },
  // What comes next is a bundle with a log entry, or no bundle.
  { file: companion, region: /^run exchanged$/, answers: [refuted('CHECK failed malformed')] },
  { file: /^spec\.json$/, region: /^run exchanged$/, answers: [refuted('spec failed mismatch')] },
  // Under whose policy it was judged stands there too.
  {
    file: /^decision-input\.json$/,
    region: /^run (?:octets|exchanged)$/,
    answers: [
      {
        exit: 1,
        own: ['decision failed mismatch'],
        beside: ['policy failed malformed', 'policy failed mismatch'],
      },
    ],
  },
  {
    file: /^decision-record\.json$/,
    region: /^run (?:octets|exchanged)$/,
    answers: [refuted('decision failed mismatch')],
  },
  {
    file: /^gate-report\.json$/,
    region: /^run (?:octets|exchanged)$/,
    answers: [
      {
        exit: 1,
        own: ['decision failed mismatch'],
        beside: ['approvals failed policy-deny', ...testResults],
      },
    ],
  },
  {
    file: /^gate-report\.json$/,
    region: /^run gone$/,
    answers: [
      {
        exit: 3,
        own: ['manifest-complete missing missing'],
        beside: [
          'evidence:FILE missing missing',
          'decision missing missing',
          ...testResults,
          'approvals missing missing',
        ],
      },
    ],
  },
  {
    file: /^gate-report\.json$/,
    region: /^run renamed$/,
    answers: [
      {
        exit: 1,
        own: ['evidence-stored failed unlisted'],
        beside: [
          'manifest-complete failed unlisted',
          'evidence:FILE missing missing',
          'decision missing missing',
          'approvals missing missing',
          ...testResults,
        ],
      },
    ],
  },
  { file: /./, region: /^run (?:octets|exchanged)$/, answers: [refuted('evidence:FILE failed mismatch')] },
  {
    file: /^patchset\.diff$/,
    region: /^content (?:octets|exchanged)$/,
    answers: [refuted('subject-patchset failed mismatch')],
  },
  {
    file: /./,
    region: /^content (?:octets|exchanged)$/,
    answers: [refuted('evidence:FILE failed mismatch')],
  },
  {
    file: /^evidence-manifest/,
    region: /^run gone$/,
    answers: [unknown('manifest missing missing')],
  },
  {
    file: /./,
    region: /^run gone$/,
    answers: [
      {
        exit: 3,
        own: ['manifest-complete missing missing'],
        beside: [
          'evidence:FILE missing missing',
          'spec missing missing',
          'decision missing missing',
          'policy missing missing',
          'summary missing missing',
          'approvals missing missing',
          'log-proof missing not-logged',
        ],
      },
    ],
  },
  { file: provenance, region: /^run renamed$/, answers: [unknown('bundle missing missing')] },
  {
    file: /./,
    region: /^(?:run|content) renamed$/,
    answers: [
      {
        exit: 1,
        own: ['evidence-stored failed unlisted'],
        beside: [
          'manifest-complete failed unlisted',
          'manifest missing missing',
          'evidence:FILE missing missing',
          'subject-patchset missing missing',
          'spec missing missing',
          'decision missing missing',
          'policy missing missing',
          'summary missing missing',
          'approvals missing missing',
          'log-proof missing not-logged',
        ],
      },
    ],
  },
  {
    file: /^patchset\.diff$/,
    region: /^content gone$/,
    answers: [unknown('subject-patchset missing missing')],
  },
  { file: /./, region: /^content gone$/, answers: [unknown('evidence:FILE missing missing')] },
  {
    file: /./,
    region: /^(?:run|content) with a file more$/,
    answers: [
      { exit: 1, own: ['evidence-stored failed unlisted'], beside: ['manifest-complete failed unlisted'] },
    ],
  },
];

/** What may be answered to this attack. */
export function answersTo({ file, region }: Pick<Mutant, 'file' | 'region'>): readonly Expected[] {
  const row = table.find((one) => one.file.test(file) && one.region.test(region));
  if (row === undefined) throw new Error(`the table has no answer for ${file}, ${region}`);
  const named = (line: string): string => line.replace('CHECK', checkOf(file)).replace('FILE', file);
  return row.answers.map((answer) =>
    answer === 'same'
      ? answer
      : { exit: answer.exit, own: answer.own.map(named), beside: (answer.beside ?? []).map(named) },
  );
}

/** What pins the octets of a file, wherever they differ. */
export function pinsOf(file: string): readonly string[] {
  return ['manifest-complete failed mismatch', `evidence:${file} failed mismatch`, 'summary failed mismatch'];
}
