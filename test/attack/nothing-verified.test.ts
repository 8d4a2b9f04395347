import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatBundle, parseBundle } from '../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../attest/encoding/dsse.ts';
import { parsePublicKey } from '../../attest/encoding/public-key.ts';
import { generateKey, openUserSigningKey, toSigner } from '../../attest/keys/key-signer.ts';
import { formatTlogProof, signCheckpoint } from '../../attest/log/checkpoint.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { leafHash } from '../../attest/log/merkle.ts';
import { ledgerKeyFor, parseVkey } from '../../attest/log/note.ts';
import { buildRevocation } from '../../attest/statement/run-statements.ts';
import { formatEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { verifyExitCode } from '../../attest/verify/report.ts';
import { commands } from '../../bin/command-table.ts';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { sampleSpecWith } from '../../testing.ts';
import { handSigner } from '../attest/approval/hand-signer.ts';
import { approvedBy, type Signature } from '../attest/verify/approved-by.ts';
import {
  commitId,
  copyOf,
  daysLater,
  makeMachine,
  rebound,
  removeMachines,
  resealPayload,
  resealStatement,
  type SealChanges,
  type SealedRun,
  sealRun,
  specDocument,
  startedOn,
  statementAt,
  statementOf,
  toSource,
  troubles,
  type VerifyAs,
  verifyAs,
} from '../attest/verify/sealed-run.ts';
import { runLine } from '../bin/host.ts';
import { long } from '../rooms/long.ts';
import { proofPath, provenancePath, withFile } from './mutants.ts';
import { ana, ben, pemOf, people, rich, twinOf } from './rich-set.ts';

t.teardown(removeMachines);

/** What was said, worst first: `id status code` of checks that did not pass, or the code of a refused command. */
interface Said {
  readonly exit: number;
  readonly verified: boolean;
  readonly said: readonly string[];
}

interface Case {
  /** One sentence: what there is, and why it is nothing. */
  readonly what: string;
  /** Where a verifier said yes to it. */
  readonly seen?: string;
  readonly exit: 1 | 3 | 128 | 129;
  readonly code: string;
  readonly run: () => Promise<Said>;
}

type Json = Record<string, unknown>;
type Statement = Json & { predicate: Json };

const machine = makeMachine();
const sealed = await sealRun(machine);
const approved = await sealRun(machine, { ...rich, runId: 'run-1' });
const summaryPath = 'statements/vsa.sigstore.json';
const decisionPath = 'statements/decision.sigstore.json';
const manifestPath = 'evidence-manifest.sigstore.json';
const testsPath = 'statements/test-result-unit.sigstore.json';
const stranger = toSigner(generateKey('ecdsa-p256-sha256'), false);
const files = makeMachine().root;
let named = 0;

/** The library, as the user of the machine that sealed it. */
async function verify(run: SealedRun, as: Partial<VerifyAs> = {}): Promise<Said> {
  const report = await verifyAs(run, { machine, ...as });
  return { exit: verifyExitCode(report), verified: report.verified, said: troubles(report) };
}

/** The command, in process. */
async function command(args: readonly string[], home = machine.home, cwd = files): Promise<Said> {
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const { code, out } = await runLine(['--json', 'verify', ...args], commands, { cwd, env });
  const { ok, data, error } = JSON.parse(out);
  const checks = (data?.checks ?? []) as readonly { id: string; status: string; code?: string }[];
  const said = checks
    .filter(({ status }) => status !== 'passed')
    .map(({ id, status, code: why }) => [id, status, why].filter((part) => part !== undefined).join(' '));
  if (ok !== (code === 0)) throw new Error(`\`ok\` is ${ok} at exit ${code}`);
  return {
    exit: code,
    verified: data?.verified === true,
    said: said.length > 0 ? said : [String(error?.code)],
  };
}

function file(content: string | Buffer, ending = 'sigstore.json'): string {
  named += 1;
  const path = join(files, `${named}.${ending}`);
  writeFileSync(path, content);
  return path;
}

/** The exported evidence of a run, in a file. */
async function exported(run: SealedRun): Promise<string> {
  return file(await formatEvidenceFile('run-1', toSource(run)), 'json');
}

const bundleOf = (run: SealedRun, path = provenancePath): string =>
  (run.run.get(path) ?? Buffer.alloc(0)).toString();

/** The statement of the provenance, changed, signed by the right key and logged. */
async function signedAs(change: (statement: Json) => unknown, payloadType?: string): Promise<Said> {
  const payload = canonicalize(change(statementOf(sealed) as unknown as Json));
  return verify(await resealPayload(machine, sealed, Buffer.from(payload), payloadType));
}

/** A statement beside it, changed and signed by the right key, in a manifest made anew. */
async function saying(path: string, change: (statement: Statement) => unknown, of = sealed): Promise<Said> {
  return verify(await resealStatement(machine, of, path, change));
}

const inPredicate =
  (change: Json) =>
  (statement: Statement): unknown => ({ ...statement, predicate: { ...statement.predicate, ...change } });

/** A set approved by these, judged by these signers. */
async function approvedAs(
  signatures: readonly Signature[] | NonNullable<SealChanges['approvals']>,
  allowedSigners: string | Buffer = people,
): Promise<Said> {
  const approvals = typeof signatures === 'function' ? signatures : approvedBy(...signatures);
  const at = makeMachine();
  const run = await sealRun(at, { ...rich, approvals });
  return verify(run, { machine: at, options: { allowedSigners: Buffer.from(allowedSigners) } });
}

const both: readonly Signature[] = [
  { by: ana, as: 'ana@x' },
  { by: ben, as: 'ben@x' },
];

/** An approval by hand over something else than this run. */
function aboutOther(change: object): NonNullable<SealChanges['approvals']> {
  return (subject) => {
    const first = approvedBy({ by: ana, as: 'ana@x' })({ ...subject, ...change });
    const second = approvedBy({ by: ben, as: 'ben@x' })(subject);
    return {
      documents: [...first.documents, ...second.documents],
      verdicts: [...first.verdicts, ...second.verdicts],
    };
  };
}

async function bundleSignedBy(change: (statement: Statement) => unknown, of: string): Promise<string> {
  const signer = await openUserSigningKey({ HOME: machine.home });
  const payload = Buffer.from(canonicalize(change(statementAt(sealed, of))));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  return file(formatBundle({ envelope, proof: undefined }));
}

const artifactOf = (run: SealedRun): string => `sha256:${sha256Hex(run.content.get('patchset.diff') ?? '')}`;
const pem = await pemOf(machine);
const vkey = await openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock).vkey();

/** The proof of our envelope in a log of one entry, of any name and key. */
async function inLogOf(origin: string): Promise<SealedRun> {
  const bundle = parseBundle(Buffer.from(bundleOf(sealed)));
  const body = bundle.proof?.body ?? Buffer.alloc(0);
  const signer = toSigner(generateKey('ed25519'), false);
  const key = ledgerKeyFor(origin, parsePublicKey(signer.publicKeyPem));
  const { source, root } = await signCheckpoint({ size: 1, root: leafHash(body) }, signer, key);
  const proof = {
    logIndex: 0,
    treeSize: 1,
    rootHash: root,
    hashes: [],
    checkpoint: source,
    body,
    logId: key.keyId,
  };
  const run = withFile(sealed, provenancePath, formatBundle({ ...bundle, proof }));
  run.run.set(proofPath, Buffer.from(formatTlogProof({ ...proof, origin })));
  return rebound(machine, run);
}

function without(path: string): SealedRun {
  const run = copyOf(sealed);
  run.run.delete(path);
  return run;
}

function emptied(): SealedRun {
  return { ...copyOf(sealed), run: new Map(), content: new Map() };
}

async function revoked(): Promise<SealedRun> {
  const signer = await openUserSigningKey({ HOME: machine.home });
  const { subject } = statementOf(sealed);
  const payload = Buffer.from(canonicalize(buildRevocation(subject, 'run-1')));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  const run = copyOf(sealed);
  run.run.set('revocation.sigstore.json', Buffer.from(formatBundle({ envelope, proof: undefined })));
  run.run.set('rollback.json', Buffer.from('{"type":"rollback"}'));
  return run;
}

function withCommit(change: (raw: string) => string): SealedRun {
  const raw = Buffer.from(change(sealed.commit.raw.toString()));
  return { ...copyOf(sealed), commit: { raw, id: commitId(raw) } };
}

const subjects = statementOf(sealed).subject;
/** Two of its stages ran a check each. */
const stages = statementAt(approved, decisionPath).predicate.stages as readonly Json[];
const digestOf = (algorithm: string, value: string): Json => ({
  name: algorithm,
  digest: { [algorithm]: value },
});

const empty: readonly Case[] = [
  {
    what: 'a set without any file',
    seen: 'chainloop-dev/chainloop#3397: nothing to verify, exit 0',
    exit: 3,
    code: 'bundle missing missing',
    run: () => verify(emptied()),
  },
  {
    what: 'exported evidence without any file',
    exit: 3,
    code: 'bundle missing missing',
    run: async () => command([await exported(emptied())]),
  },
  {
    what: 'a file of attestations that has no line',
    seen: 'open-policy-agent/opa#7943: filtered out, passed',
    exit: 3,
    code: 'bundle missing missing',
    run: () => command([file('\n \n', 'jsonl')]),
  },
  { what: 'an empty file', exit: 3, code: 'bundle missing missing', run: () => command([file('')]) },
  { what: 'no target', exit: 129, code: 'USAGE', run: () => command([]) },
  {
    what: 'a target that is not there',
    exit: 129,
    code: 'INPUT_UNREADABLE',
    run: () => command([join(files, 'absent.sigstore.json')]),
  },
  {
    what: 'the same nothing as a target twice',
    exit: 3,
    code: 'bundle missing missing',
    run: async () => {
      const nothing = await exported(emptied());
      return command([nothing, nothing]);
    },
  },
  {
    what: 'a good target beside one with nothing in it',
    seen: 'in-toto/witness#430: one policy failure among successes, exit 0',
    exit: 3,
    code: 'bundle missing missing',
    run: async () => command([await exported(sealed), await exported(emptied())]),
  },
  {
    what: 'a bundle without verification material',
    seen: 'chainloop-dev/chainloop#3397: exit 0',
    exit: 1,
    code: 'bundle failed malformed',
    run: async () => {
      const { verificationMaterial: _, ...rest } = JSON.parse(bundleOf(sealed));
      return command([file(JSON.stringify(rest)), '--artifact', artifactOf(sealed)]);
    },
  },
  {
    what: 'an unsigned statement, as a file',
    seen: 'TomHennen/wrangle#833: unsigned evidence was evaluated',
    exit: 3,
    code: 'bundle unverified unsupported',
    run: () => command([file(JSON.stringify(statementOf(sealed)))]),
  },
  {
    what: 'an evidence manifest that was deleted',
    exit: 3,
    code: 'manifest missing missing',
    run: () => verify(without(manifestPath)),
  },
  {
    what: 'a manifest of zero files',
    exit: 1,
    code: 'manifest-complete failed unlisted',
    run: () => saying(manifestPath, inPredicate({ files: [] })),
  },
  {
    what: 'a statement that was deleted from the set',
    seen: 'in-toto bundles are not authenticated as a whole',
    exit: 3,
    code: 'manifest-complete missing missing',
    run: () => verify(without(testsPath)),
  },
  {
    what: 'a decision that was deleted',
    exit: 3,
    code: 'decision missing missing',
    run: () => verify(without(decisionPath)),
  },
  {
    what: 'a summary that was deleted',
    exit: 3,
    code: 'summary missing missing',
    run: () => verify(without(summaryPath)),
  },
  {
    what: 'a provenance that was deleted, all else being there',
    exit: 3,
    code: 'bundle missing missing',
    run: () => verify(without(provenancePath)),
  },
];

const wrongSignatures: readonly Case[] = [
  {
    what: 'an envelope without signatures',
    exit: 1,
    code: 'bundle failed malformed',
    run: () =>
      verify(
        withFile(sealed, provenancePath, bundleOf(sealed).replace(/"signatures":\[.*?\]/, '"signatures":[]')),
      ),
  },
  {
    what: 'a signature of other octets',
    exit: 1,
    code: 'signature failed bad-signature',
    run: () => {
      const bundle = parseBundle(Buffer.from(bundleOf(sealed)));
      const envelope = { ...bundle.envelope, signature: Buffer.alloc(70, 7) };
      return verify(withFile(sealed, provenancePath, formatBundle({ ...bundle, envelope })));
    },
  },
  {
    what: 'one signature by one key, counted twice',
    exit: 1,
    code: 'bundle failed malformed',
    run: () =>
      verify(
        withFile(
          sealed,
          provenancePath,
          bundleOf(sealed).replace(/"signatures":\[(.*?)\]/, '"signatures":[$1,$1]'),
        ),
      ),
  },
  {
    what: 'a bundle 0.1 with two signatures',
    exit: 1,
    code: 'bundle failed malformed',
    run: () => {
      const text = bundleOf(sealed)
        .replace(
          'application/vnd.dev.sigstore.bundle.v0.3+json',
          'application/vnd.dev.sigstore.bundle+json;version=0.1',
        )
        .replace(/"signatures":\[(.*?)\]/, '"signatures":[$1,$1]');
      return command([file(text), '--artifact', artifactOf(sealed)]);
    },
  },
  {
    what: 'an ephemeral key',
    exit: 3,
    code: 'signature unverified untrusted-signer',
    run: async () => verify(await sealRun(makeMachine())),
  },
  {
    what: 'a trusted key other than the demanded one',
    exit: 3,
    code: 'signature unverified untrusted-signer',
    run: async () => verify(sealed, { keyFiles: [await pemOf(await newcomer())] }),
  },
  {
    what: 'a verifier without trust',
    exit: 3,
    code: 'signature unverified untrusted-signer',
    run: async () => command([await exported(sealed)], makeMachine().home),
  },
  {
    what: 'a trust directory in which others may write to the key',
    exit: 128,
    code: 'KEY_INSECURE',
    run: async () => {
      const { home } = makeMachine();
      const trust = join(home, '.config/writ/trust');
      mkdirSync(trust, { recursive: true, mode: 0o700 });
      writeFileSync(join(trust, 'signer.pem'), readFileSync(pem));
      chmodSync(join(trust, 'signer.pem'), 0o664);
      return command([await exported(sealed)], home);
    },
  },
  {
    what: 'a forged summary, by another key, in a manifest of the right one',
    seen: 'conforma/cli#3489: a forged VSA made it skip its checks',
    exit: 1,
    code: 'summary unverified untrusted-signer',
    run: async () => {
      const forged = await resealStatement(machine, sealed, summaryPath, (one) => one, { signer: stranger });
      forged.run.set(manifestPath, sealed.run.get(manifestPath) ?? Buffer.alloc(0));
      return verify(forged);
    },
  },
];

async function newcomer(): Promise<ReturnType<typeof makeMachine>> {
  const other = makeMachine();
  await openUserSigningKey({ HOME: other.home });
  return other;
}

const wrongStatements: readonly Case[] = [
  {
    what: 'a predicate of another type',
    seen: 'cli/cli#10418: no attestation of the wanted type, exit 0',
    exit: 1,
    code: 'statement failed wrong-type',
    run: () => signedAs((one) => ({ ...one, predicateType: 'https://slsa.dev/provenance/v0.2' })),
  },
  {
    what: 'a demanded predicate type that the set does not hold',
    seen: 'sigstore/cosign CVE-2022-35929: `--type` was not compared',
    exit: 1,
    code: 'type:https://cyclonedx.org/bom failed wrong-type',
    run: async () => command([await exported(sealed), '--type', 'https://cyclonedx.org/bom']),
  },
  {
    what: 'a demanded type that the bundle does not have',
    exit: 1,
    code: 'predicate failed wrong-type',
    run: () =>
      command([
        file(bundleOf(sealed)),
        '--artifact',
        artifactOf(sealed),
        '--type',
        'https://slsa.dev/verification_summary/v1',
      ]),
  },
  {
    what: 'a statement of another version',
    exit: 1,
    code: 'statement failed wrong-type',
    run: () => signedAs((one) => ({ ...one, _type: 'https://in-toto.io/Statement/v0.1' })),
  },
  {
    what: 'a payload type that is not that of the statement in it',
    exit: 1,
    code: 'statement failed wrong-type',
    run: () => signedAs((one) => one, 'application/vnd.in-toto.provenance+json'),
  },
  {
    what: 'a signed payload with a duplicate key',
    exit: 1,
    code: 'statement failed malformed',
    run: async () => {
      const text = canonicalize(statementOf(sealed)).replace(
        '"predicateType"',
        '"predicateType":"x","predicateType"',
      );
      return verify(await resealPayload(machine, sealed, Buffer.from(text)));
    },
  },
  {
    what: 'a signed payload that is `null`',
    exit: 1,
    code: 'statement failed malformed',
    run: async () => verify(await resealPayload(machine, sealed, Buffer.from('null'))),
  },
  {
    what: 'no subject at all',
    exit: 1,
    code: 'statement failed wrong-subject',
    run: () => signedAs((one) => ({ ...one, subject: [] })),
  },
  {
    what: 'subjects of which only the second commit matches',
    seen: 'sigstore/cosign: any subject was enough',
    exit: 1,
    code: 'statement failed wrong-subject',
    run: () => signedAs((one) => ({ ...one, subject: [digestOf('gitCommit', '9'.repeat(40)), ...subjects] })),
  },
  {
    what: 'subjects without a digest',
    exit: 1,
    code: 'statement failed wrong-subject',
    run: () =>
      signedAs((one) => ({ ...one, subject: subjects.map((subject) => ({ ...subject, digest: {} })) })),
  },
  {
    what: 'a time of the run that no calendar has, before and after which nothing is',
    exit: 1,
    code: 'statement failed malformed',
    run: () =>
      signedAs((one) => {
        const predicate = one.predicate as Json & { runDetails: Json & { metadata: Json } };
        const metadata = { ...predicate.runDetails.metadata, finishedOn: '2026-99-99T99:99:99Z' };
        return { ...one, predicate: { ...predicate, runDetails: { ...predicate.runDetails, metadata } } };
      }),
  },
  {
    what: 'an unknown external parameter',
    exit: 1,
    code: 'statement failed unknown-parameter',
    run: () =>
      signedAs((one) => {
        const predicate = one.predicate as Json & { buildDefinition: Json & { externalParameters: Json } };
        const externalParameters = { ...predicate.buildDefinition.externalParameters, skip_checks: 'yes' };
        return {
          ...one,
          predicate: { ...predicate, buildDefinition: { ...predicate.buildDefinition, externalParameters } },
        };
      }),
  },
  {
    what: 'a bundle about something of which nothing is at hand',
    exit: 3,
    code: 'subject missing missing',
    run: () => command([file(bundleOf(sealed))]),
  },
  {
    what: 'an artifact that is no subject of the bundle',
    seen: 'sigstore-js compares no subject: the caller must',
    exit: 1,
    code: 'subject failed wrong-subject',
    run: () => command([file(bundleOf(sealed)), '--artifact', `sha256:${'9'.repeat(64)}`]),
  },
  {
    what: 'an artifact that is neither subject nor evidence of the run',
    exit: 1,
    code: `artifact:${'9'.repeat(64)} failed wrong-subject`,
    run: async () => command([await exported(sealed), '--artifact', `sha256:${'9'.repeat(64)}`]),
  },
  {
    what: 'the same wrong artifact, given twice',
    exit: 1,
    code: `artifact:${'9'.repeat(64)} failed wrong-subject`,
    run: () => verify(sealed, { options: { artifacts: ['9'.repeat(64), '9'.repeat(64)] } }),
  },
];

const wrongVerdicts: readonly Case[] = [
  {
    what: 'a decision whose checks were skipped',
    seen: 'open-policy-agent/conftest#355: errors counted as success',
    exit: 1,
    code: 'decision failed policy-deny',
    run: () =>
      saying(decisionPath, inPredicate({ stages: stages.with(0, { ...stages[0], ran: 0 }) }), approved),
  },
  {
    what: 'a decision without a stage',
    seen: 'conforma/cli#393: an empty policy passed',
    exit: 1,
    code: 'decision failed policy-deny',
    run: () => saying(decisionPath, inPredicate({ stages: [] }), approved),
  },
  {
    what: 'a stage that lists checks of the contract and expects none',
    seen: 'open-policy-agent/conftest#181: the wrong namespace ran no rule, and passed',
    exit: 1,
    code: 'decision failed policy-deny',
    run: () =>
      saying(
        decisionPath,
        inPredicate({ stages: stages.with(0, { ...stages[0], expected: 0, ran: 0, status: 'skipped' }) }),
        approved,
      ),
  },
  {
    what: 'a contract without a check, and so none that ran',
    seen: 'conforma/cli#393: nothing to check, passed',
    exit: 1,
    code: 'decision failed policy-deny',
    run: async () => {
      const at = makeMachine();
      const run = await sealRun(at, {
        fastChecks: [],
        request: (request) => ({
          ...request,
          stages: request.stages.map((stage) => ({
            ...stage,
            status: 'skipped',
            expected: 0,
            ran: 0,
            checks: [],
          })),
        }),
      });
      return verify(run, { machine: at });
    },
  },
  {
    what: 'a stage that is listed twice',
    exit: 1,
    code: 'decision failed policy-deny',
    run: () => saying(decisionPath, inPredicate({ stages: [...stages, stages[0]] }), approved),
  },
  {
    what: 'numbers of checks that are none',
    exit: 1,
    code: 'decision failed policy-deny',
    run: () =>
      saying(
        decisionPath,
        inPredicate({ stages: stages.with(0, { ...stages[0], expected: '1', ran: true }) }),
        approved,
      ),
  },
  {
    what: 'a decision to abandon',
    exit: 1,
    code: 'decision failed policy-deny',
    run: () => saying(decisionPath, inPredicate({ decision: 'abandon' })),
  },
  {
    what: 'a summary that says FAILED',
    seen: 'slsa-framework/slsa#1262: how a VSA says no',
    exit: 1,
    code: 'summary failed policy-deny',
    run: () => saying(summaryPath, inPredicate({ verificationResult: 'FAILED' })),
  },
  {
    what: 'a summary that says FAILED, as a bundle by itself',
    exit: 1,
    code: 'predicate failed policy-deny',
    run: async () =>
      command([
        await bundleSignedBy(inPredicate({ verificationResult: 'FAILED' }), summaryPath),
        '--artifact',
        artifactOf(sealed),
      ]),
  },
  {
    what: 'a test result that says FAILED, as a bundle by itself',
    exit: 1,
    code: 'predicate failed policy-deny',
    run: async () =>
      command([
        await bundleSignedBy(inPredicate({ result: 'FAILED' }), testsPath),
        '--artifact',
        artifactOf(sealed),
      ]),
  },
  {
    what: 'a summary without the digest of its policy',
    seen: 'conforma/cli#3489: reuse of a VSA without its policy',
    exit: 1,
    code: 'summary failed malformed',
    run: () => saying(summaryPath, inPredicate({ policy: { uri: 'urn:writ:intentspec:spec-1' } })),
  },
  {
    what: 'a summary over no attestation',
    exit: 1,
    code: 'summary failed mismatch',
    run: () => saying(summaryPath, inPredicate({ inputAttestations: [] })),
  },
  {
    what: 'a summary that names one attestation twice',
    exit: 1,
    code: 'summary failed malformed',
    run: () =>
      saying(summaryPath, (one) => {
        const inputs = one.predicate.inputAttestations as readonly Json[];
        return {
          ...one,
          predicate: {
            ...one.predicate,
            inputAttestations: [{ ...inputs[0], digest: { sha256: '0'.repeat(64) } }, ...inputs],
          },
        };
      }),
  },
  {
    what: 'a summary that claims two persons without an approval',
    exit: 1,
    code: 'summary failed policy-deny',
    run: () =>
      saying(summaryPath, inPredicate({ verifiedLevels: ['WRIT_GATES_PASSED', 'WRIT_TWO_PERSON_APPROVED'] })),
  },
  {
    what: 'a contract that waives what the sealed one demands',
    exit: 1,
    code: 'spec failed mismatch',
    run: () =>
      verify(
        withFile(
          sealed,
          'spec.json',
          JSON.stringify(specDocument({ provenance: { transparencyLog: { mode: 'none' } } })),
        ),
      ),
  },
  {
    what: 'another contract than the demanded one',
    exit: 1,
    code: 'spec failed mismatch',
    run: async () =>
      command([
        await exported(sealed),
        '--spec',
        file(JSON.stringify(specDocument({ artifactDays: 7 })), 'json'),
      ]),
  },
  {
    what: 'a decision that cannot be made again',
    exit: 1,
    code: 'replay failed replay-mismatch',
    run: async () => command([await exported(sealed), '--replay']),
  },
  {
    what: 'a run that was revoked',
    exit: 1,
    code: 'not-revoked failed revoked',
    run: async () => verify(await revoked()),
  },
  {
    what: 'a revocation, handed in as an attestation',
    exit: 1,
    code: 'predicate failed revoked',
    run: async () =>
      command([
        file(bundleOf(await revoked(), 'revocation.sigstore.json')),
        '--artifact',
        artifactOf(sealed),
      ]),
  },
];

const wrongApprovals: readonly Case[] = [
  {
    what: 'two approvals by one key under two names',
    seen: 'secure-systems-lab/dsse: the threshold counts unique keys',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () =>
      approvedAs(
        [
          { by: ana, as: 'ana@x', principal: 'ana@x' },
          { by: ana, as: 'ben@x', principal: 'ben@x' },
        ],
        `ana@x,ben@x ${ana.publicKey}\n`,
      ),
  },
  {
    what: 'two approvals by one person under two keys',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(both, `ana@x ${ana.publicKey}\nana@x ${ben.publicKey}\n`),
  },
  {
    what: 'an approval of an older patchset',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(aboutOther({ patchDigest: '9'.repeat(64) })),
  },
  {
    what: 'an approval of another run',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(aboutOther({ runId: 'run-2' })),
  },
  {
    what: 'an approval of another contract',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(aboutOther({ specDigest: '9'.repeat(64) })),
  },
  {
    what: 'an approval before the gates had said the rest',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(aboutOther({ gateReportDigest: '9'.repeat(64) })),
  },
  {
    what: 'an approval that had expired when the run ended',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () =>
      approvedAs([both[0] as Signature, { by: ben, as: 'ben@x', expiresAtMs: Date.parse(startedOn) + 1000 }]),
  },
  {
    what: 'a signer whose key was valid until before',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(both, `ana@x ${ana.publicKey}\nben@x valid-before="20251231" ${ben.publicKey}\n`),
  },
  {
    what: 'a signer whose key is valid from later',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs(both, `ana@x ${ana.publicKey}\nben@x valid-after="20270101" ${ben.publicKey}\n`),
  },
  {
    what: 'a signature made for git',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs([both[0] as Signature, { by: ben, as: 'ben@x', namespace: 'git' }]),
  },
  {
    what: 'a signer who may sign for git only',
    exit: 3,
    code: 'approvals unverified untrusted-signer',
    run: () => approvedAs(both, `ana@x ${ana.publicKey}\nben@x namespaces="git" ${ben.publicKey}\n`),
  },
  {
    what: 'an author of the change as approver',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () => approvedAs((subject) => ({ ...approvedBy(...both)(subject), authors: ['Ana <ana@x>'] })),
  },
  {
    what: 'a rejection beside two approvals',
    exit: 1,
    code: 'approvals failed policy-deny',
    run: () =>
      approvedAs(
        [...both, { by: carol, as: 'carol@x', decision: 'reject' }],
        `${people}carol@x ${carol.publicKey}\n`,
      ),
  },
  {
    what: 'signers: an empty file',
    exit: 3,
    code: 'approvals unverified untrusted-signer',
    run: () => approvedAs(both, ''),
  },
  {
    what: 'signers: comments alone',
    exit: 3,
    code: 'approvals unverified untrusted-signer',
    run: () => approvedAs(both, `# ana@x ${ana.publicKey}\n\n   # ben@x ${ben.publicKey}\n`),
  },
  {
    what: 'signers: everybody, under any name',
    exit: 3,
    code: 'approvals unverified untrusted-signer',
    run: () => approvedAs(both, `* ${ana.publicKey}\n* ${ben.publicKey}\n`),
  },
  {
    what: 'signers: authorities whose certificates are absent',
    exit: 3,
    code: 'approvals unverified untrusted-signer',
    run: () =>
      approvedAs(both, `ana@x cert-authority ${ana.publicKey}\nben@x cert-authority ${ben.publicKey}\n`),
  },
  {
    what: 'approvals that were deleted',
    exit: 3,
    code: 'approvals missing missing',
    run: () => {
      const run = copyOf(approved);
      for (const n of ['0001', '0002']) run.run.delete(`approvals/${n}.json`);
      return verify(run, { options: { allowedSigners: people } });
    },
  },
];

const carol = handSigner();

const wrongLogs: readonly Case[] = [
  {
    what: 'a proof from another log of the same origin',
    exit: 3,
    code: 'log-inclusion unverified untrusted-log',
    run: async () => verify(await inLogOf(parseVkey(vkey).name)),
  },
  {
    what: 'another ledger key than the demanded one',
    exit: 3,
    code: 'log-inclusion unverified untrusted-log',
    run: async () => {
      const other = makeMachine();
      await sealRun(other);
      const key = await openUserLedger(other.commonDir, { HOME: other.home }, systemClock).vkey();
      return verify(sealed, { ledgerKeys: [key] });
    },
  },
  {
    what: 'a logged contract whose entry was removed from the bundle',
    exit: 3,
    code: 'log-entry missing not-logged',
    run: async () => {
      const bundle = parseBundle(Buffer.from(bundleOf(sealed)));
      const run = withFile(sealed, provenancePath, formatBundle({ ...bundle, proof: undefined }));
      run.run.delete(proofPath);
      return verify(await rebound(machine, run));
    },
  },
  {
    what: 'the proof of another envelope',
    exit: 1,
    code: 'log-proof failed mismatch',
    run: async () => {
      const run = withFile(sealed, proofPath, approved.run.get(proofPath) ?? Buffer.alloc(0));
      return verify(await rebound(machine, run));
    },
  },
  {
    what: 'an entry about this envelope by another key',
    exit: 1,
    code: 'log-entry failed mismatch',
    run: async () => {
      const bundle = parseBundle(Buffer.from(bundleOf(sealed)));
      const { spec } = JSON.parse((bundle.proof?.body ?? Buffer.alloc(0)).toString());
      const mine = spec.hashedRekordV002.signature.verifier.publicKey.rawBytes as string;
      const other = stranger.publicKeyPem.replace(/-----[A-Z ]+-----|\n/g, '');
      const ledger = openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock);
      const body = Buffer.from((bundle.proof?.body ?? Buffer.alloc(0)).toString().replace(mine, other));
      const proof = { ...(await ledger.append(body)), logId: parseVkey(vkey).keyId };
      const run = withFile(sealed, provenancePath, formatBundle({ ...bundle, proof }));
      run.run.set(proofPath, Buffer.from(formatTlogProof(proof)));
      return verify(await rebound(machine, run));
    },
  },
  {
    what: 'an unneeded log entry beside a statement',
    exit: 1,
    code: 'decision failed malformed',
    run: async () => {
      const { envelope } = parseBundle(Buffer.from(bundleOf(sealed, decisionPath)));
      const { proof } = parseBundle(Buffer.from(bundleOf(sealed)));
      return verify(
        await rebound(machine, withFile(sealed, decisionPath, formatBundle({ envelope, proof }))),
      );
    },
  },
  {
    what: 'a ledger rolled back behind what was seen',
    exit: 1,
    code: 'log-history failed stale',
    run: async () => {
      const honest = makeMachine();
      const first = await sealRun(honest, { runId: 'run-1' });
      const old = twinOf(honest);
      await sealRun(honest, { runId: 'run-2' });
      return verify(first, { machine: honest, ledgerOf: old });
    },
  },
  {
    what: 'a second tree of a size that was seen',
    exit: 1,
    code: 'log-history failed forked',
    run: async () => {
      const honest = makeMachine();
      await sealRun(honest, { runId: 'run-a' });
      const twin = twinOf(honest);
      await sealRun(honest, { runId: 'run-1' });
      return verify(await sealRun(twin, { runId: 'run-1' }), { machine: honest });
    },
  },
  {
    what: 'a log proof, and nothing that was logged',
    exit: 3,
    code: 'subject missing missing',
    run: () => command([file(sealed.run.get(proofPath) ?? Buffer.alloc(0), 'tlog-proof')]),
  },
  {
    what: 'a log proof of an untrusted log',
    exit: 3,
    code: 'log-inclusion unverified untrusted-log',
    run: () =>
      command(
        [
          file(sealed.run.get(proofPath) ?? Buffer.alloc(0), 'tlog-proof'),
          '--artifact',
          file(bundleOf(sealed)),
        ],
        makeMachine().home,
      ),
  },
  {
    what: 'a bundle without a log entry, although a log is demanded',
    exit: 3,
    code: 'log missing not-logged',
    run: () =>
      command([file(bundleOf(sealed, summaryPath)), '--artifact', artifactOf(sealed), '--ledger-key', vkey]),
  },
];

const wrongTargets: readonly Case[] = [
  {
    what: 'the commit of another repository',
    exit: 1,
    code: 'subject-commit failed wrong-subject',
    run: () => verify(withCommit((raw) => raw.replace('fix: a thing', 'fix: elsewhere'))),
  },
  {
    what: 'a commit whose octets are not those of its id',
    exit: 1,
    code: 'subject-commit failed mismatch',
    run: () => verify({ ...copyOf(sealed), commit: { ...sealed.commit, raw: Buffer.from('tree x\n\n') } }),
  },
  {
    what: 'a commit that names two runs',
    exit: 1,
    code: 'run failed wrong-run',
    run: () => verify(withCommit((raw) => `${raw}Run-Id: run-2\n`)),
  },
  {
    what: 'another run than the demanded one',
    exit: 1,
    code: 'run failed wrong-run',
    run: () => verify(sealed, { options: { runId: 'run-2' } }),
  },
  {
    what: 'the evidence of another run of the same signer',
    exit: 1,
    code: 'subject-commit failed wrong-subject',
    run: () => verify({ ...copyOf(approved), commit: sealed.commit }),
  },
  {
    what: 'evidence that was emptied before its time',
    exit: 3,
    code: 'subject-patchset missing missing',
    run: () => verify({ ...copyOf(sealed), content: new Map() }, { options: { clock: daysLater(29) } }),
  },
  {
    what: 'evidence that was emptied, to a verifier whose clock is before the run',
    exit: 3,
    code: 'statement unverified not-yet',
    run: () => verify({ ...copyOf(sealed), content: new Map() }, { options: { clock: daysLater(-9000) } }),
  },
  {
    what: 'evidence that was exchanged, to a verifier whose clock says that it may be gone',
    exit: 1,
    code: 'subject-patchset failed mismatch',
    run: () => verify(withFile(sealed, 'patchset.diff', 'another'), { options: { clock: daysLater(9000) } }),
  },
  {
    what: 'evidence that no retention covers, to a verifier whose clock says that all may be gone',
    exit: 3,
    code: 'evidence:evidence/0001-unit.json missing missing',
    run: () => verify(without('evidence/0001-unit.json'), { options: { clock: daysLater(9000) } }),
  },
];

for (const { what, seen, exit, code, run } of [
  ...empty,
  ...wrongSignatures,
  ...wrongStatements,
  ...wrongVerdicts,
  ...wrongApprovals,
  ...wrongLogs,
  ...wrongTargets,
]) {
  t.test(seen === undefined ? what : `${what} (${seen})`, async (t) => {
    const found = await run();
    t.equal(found.verified, false);
    t.equal(found.exit, exit, found.said.join('; '));
    t.ok(found.said.includes(code), `${code} in: ${found.said.join('; ')}`);
  });
}

t.test('the originals that these attacks were made from verify', async (t) => {
  t.strictSame(await verify(sealed), { exit: 0, verified: true, said: [] });
  t.strictSame(await verify(approved, { options: { allowedSigners: people } }), {
    exit: 0,
    verified: true,
    said: [],
  });
  t.match(await command([await exported(sealed)]), { exit: 0, verified: true });
  t.match(await approvedAs(both), { exit: 0, verified: true });
  t.match(await command([file(bundleOf(sealed)), '--artifact', artifactOf(sealed)]), {
    exit: 0,
    verified: true,
  });
});

const spec = sampleSpecWith({
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          id: 'never',
          kind: 'command',
          command: 'grep -q two a.txt',
          timeoutSeconds: 60,
          expectedExitCode: 0,
          required: true,
          artifactsProduced: ['test-log'],
        },
      ],
    },
  },
  security: {
    toolAcl: {
      allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['grep'] } }],
    },
  },
});

long('commits without exactly one run, and runs without a commit, are not verified', async (t) => {
  const root = t.testdir({
    home: {},
    repo: { 'a.txt': 'one\n' },
    'p.patch': '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+three\n',
  });
  const repo = join(root, 'repo');
  const home = join(root, 'home');
  const identity = {
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@x',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@x',
  };
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...identity,
  };
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: repo, env, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  for (const message of ['plain', 'two\n\nRun-Id: run-1\nRun-Id: run-2', 'elsewhere\n\nRun-Id: run-1'])
    git('commit', '-q', '--allow-empty', '-m', message);
  for (const target of ['main~2', 'main~1', 'main'])
    t.strictSame(
      await command([target], home, repo),
      { exit: 3, verified: false, said: ['bundle missing missing'] },
      target,
    );
  t.match(await command(['ffffffffffff'], home, repo), {
    exit: 128,
    verified: false,
    said: ['REF_NOT_FOUND'],
  });
  writeFileSync(
    join(root, 'spec.json'),
    JSON.stringify({
      ...spec,
      metadata: {
        ...spec.metadata,
        target: { ...spec.metadata.target, repo: { type: 'local', locator: repo } },
      },
    }),
  );
  const ran = await runLine(['--json', 'run', '../spec.json', '--patch', '../p.patch'], commands, {
    cwd: repo,
    env,
  });
  const { data, error } = JSON.parse(ran.out);
  if (ran.code === 128) return t.comment(`no run works on this machine: ${error?.code}`);
  t.equal(error?.code, 'DECISION_ABANDON');
  return t.strictSame(await command([data.run_id], home, repo), {
    exit: 3,
    verified: false,
    said: ['bundle missing missing'],
  });
});
