/* Signs, logs and verifies the claim about a sealed change. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type {
  Attestation,
  Attestor,
  AttestRequest,
  DigestedThing,
  SealedEvidence,
  SealedFile,
  SealingParties,
  Signer,
} from '../../core/interfaces/sealing.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { joinNetworks } from '../../workspace/egress/command-network.ts';
import { evidenceReader } from '../../workspace/git/hash-tree.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import { carryReader } from '../../workspace/patch/carry-reader.ts';
import { replayRecord } from '../decide/replay-record.ts';
import type { EvaluatedRun } from '../record/evaluation-objects.ts';
import { contentBelowNames, patchContentPath } from '../record/settle-run.ts';
import { allowedSignersOf } from '../record/stored-approvals.ts';
import type { RecordFiles } from '../record/write-record.ts';
import { describeEngine } from '../state/machine.ts';
import type { Attempt } from '../state/open-run.ts';
import type { Steps } from '../state/record-collector.ts';

/** What became of the claim that a sealed change was made. */
export interface Attested {
  /** Seals to store in the run's record; empty if no seal was made. */
  readonly seals: readonly SealedFile[];
  /** Why the required seal is missing. */
  readonly failed?: string;
  /** The claim sent to the log; absent if none was sent. */
  readonly claimed?: AttestRequest;
}

interface SealedCommit {
  readonly commit: string;
  readonly files: RecordFiles;
  readonly nowMs: number;
}

/** Files as the journal holds them: bytes in base64. */
type FilesRecord = readonly (readonly [path: string, base64: string])[];

/**
 * Signs, logs and verifies the claim about a sealed commit, in the order of `docs/decisions/0006-evidence-set.md`.
 * Each signature, and the log's size before it, is recorded before any later step uses it. A process that resumes
 * after a kill therefore logs the same envelope once.
 *
 * A failure is returned, and the run ends as its spec requires. If an ephemeral key is lost with its process, its
 * signatures are made again, unless the log was already called; then that is such a failure.
 */
export async function attest(
  attempt: Attempt,
  judged: EvaluatedRun,
  sealed: SealedCommit,
  isSwapped: boolean,
): Promise<Attested> {
  const {
    identity: { runId },
    services: { sealing, steps, engine },
  } = attempt;
  if (!sealing) return { seals: [] };
  const isOfEarlier = steps.ended('attested') !== undefined;
  const answer = await steps.once('attested', async () => {
    try {
      const { seals, attestation } = await makeSeals(attempt, judged, sealed, sealing);
      await requireVerified(attempt, sealing, sealed, seals);
      await stepsOfClaim(steps, sealing.signer).once('told', () =>
        engine.hooks.attest.settled.call({ runId, commitSha: sealed.commit, attestation }),
      );
      return {};
    } catch (fault) {
      // A disk that is full says nothing about the seal: `writ resume` makes it.
      if (isWritError(fault, 'EVIDENCE_WRITE_FAILED')) throw fault;
      return { failed: messageOf(fault) };
    }
  });
  const claimed = await claimMade(attempt, judged, sealed);
  if ('failed' in answer) return { seals: [], failed: answer.failed, ...claimed };
  const { seals } = await makeSeals(attempt, judged, sealed, sealing);
  if (isOfEarlier && !isSwapped) {
    // What an earlier process verified may have been changed on disk since then.
    try {
      await requireVerified(attempt, sealing, sealed, seals);
    } catch (fault) {
      return { seals: [], failed: messageOf(fault), ...claimed };
    }
  }
  return { seals, ...claimed };
}

/** The claim that this run, maybe in an earlier process, has sent to the log; empty if it sent none. */
export async function claimMade(
  attempt: Attempt,
  judged: EvaluatedRun,
  sealed: SealedCommit,
): Promise<Pick<Attested, 'claimed'>> {
  const { sealing, steps } = attempt.services;
  if (sealing?.log === undefined) return {};
  // A log that gave no answer may still have stored the claim.
  if (stepsOfClaim(steps, sealing.signer).ended('log-size') === undefined) return {};
  return { claimed: (await sealedRequest(attempt, judged, sealed, sealing)).request };
}

/** Every seal, each step of it done once. */
async function makeSeals(
  attempt: Attempt,
  judged: EvaluatedRun,
  sealed: SealedCommit,
  parties: SealingParties,
): Promise<{ readonly seals: readonly SealedFile[]; readonly attestation: Attestation }> {
  const {
    services: { engine, steps },
  } = attempt;
  const { files } = sealed;
  const { attestor } = engine;
  const { request, findings } = await sealedRequest(attempt, judged, sealed, parties);
  const own = stepsOfClaim(steps, parties.signer);
  const envelope = await own.once('signed', async () => toBase64(await attestor.sign(request, parties)));
  await beforeLogging(steps, parties.signer);
  const attestation = await logOnce(own, attestor, envelope, parties);
  const below = [...findings, ...toFiles(attestation)];
  const summary = await onceFiles(own, 'summary', () =>
    attestor.signSummary(request, new Map([...files, ...below]), parties),
  );
  return { seals: [...below, ...summary], attestation };
}

/** Builds the claim for the provenance and the signed findings that it lists. */
async function sealedRequest(
  attempt: Attempt,
  judged: EvaluatedRun,
  { commit, files, nowMs }: SealedCommit,
  parties: SealingParties,
): Promise<{ readonly request: AttestRequest; readonly findings: readonly SealedFile[] }> {
  const {
    identity: { runId, contract },
    services: { engine, steps, settings },
  } = attempt;
  const { attestor } = engine;
  const filled = await steps.once('filled', () =>
    engine.hooks.statement.fill.call({ runId, spec: contract.effective, commitSha: commit }),
  );
  const attempts = await digestsOfAttempts(attempt);
  const engineFiles = await steps.once('engine', () => describeEngine(settings.schedulerVersion));
  const requestOver = (stored: RecordFiles): AttestRequest =>
    attestRequest(attempt, judged, {
      commit,
      files: stored,
      filled,
      engine: engineFiles,
      attempts,
      finishedOn: toRfc3339(nowMs),
    });
  const findings = await onceFiles(stepsOfClaim(steps, parties.signer), 'findings', () =>
    attestor.signFindings(requestOver(files), parties),
  );
  return { request: requestOver(new Map([...files, ...findings])), findings };
}

/** Logs that the claim is void; returns no files if no claim was made. */
export async function revoke(
  attempt: Attempt,
  { claimed }: Pick<Attested, 'claimed'>,
  reason: string,
): Promise<readonly SealedFile[]> {
  const {
    services: { engine, sealing },
  } = attempt;
  if (!sealing || !claimed) return [];
  const { attestor } = engine;
  const steps = attempt.services.steps.under('revocation');
  const bundle = await steps.once('bundle', async () => {
    const own = stepsOfKey(steps, sealing.signer);
    const envelope = await own.once('signed', async () =>
      toBase64(await attestor.signRevocation(claimed, sealing, reason)),
    );
    return toBase64((await logOnce(own, attestor, envelope, sealing)).bundle);
  });
  return [[sealPaths.revocation, Buffer.from(bundle, 'base64')]];
}

/** True once `revoke` has logged that the claim of this run is void: it may not land any more. */
export function isRevoked({ services: { steps } }: Pick<Attempt, 'services'>): boolean {
  return steps.under('revocation').ended('bundle') !== undefined;
}

async function digestsOfAttempts(attempt: Attempt): Promise<readonly (readonly [string, string])[]> {
  const digests: (readonly [string, string])[] = [];
  for await (const [path, bytes] of contentBelowNames(attempt)) digests.push([path, sha256Hex(bytes)]);
  return digests;
}

async function logOnce(
  steps: Steps,
  attestor: Attestor,
  envelope: string,
  parties: SealingParties,
): Promise<Attestation> {
  const behind = await steps.once('log-size', async () => (await parties.log?.size()) ?? 0);
  const record = await steps.once('logged', async () => {
    await steps.sync();
    const { bundle, proof, ...rest } = await attestor.log(Buffer.from(envelope, 'base64'), parties, behind);
    return { ...rest, bundle: toBase64(bundle), ...(proof ? { proof: toBase64(proof) } : {}) };
  });
  const { bundle, proof, ...rest } = record;
  return {
    ...rest,
    bundle: Buffer.from(bundle, 'base64'),
    ...(proof === undefined ? {} : { proof: Buffer.from(proof, 'base64') }),
  };
}

function toFiles({ bundle, proof }: Attestation): readonly SealedFile[] {
  return [[sealPaths.bundle, bundle], ...(proof ? [[sealPaths.proof, proof] as const] : [])];
}

/** The very set that is about to be stored, by the verifier that a stranger runs, approvals and replay included. */
async function requireVerified(
  attempt: Attempt,
  parties: SealingParties,
  { commit, files }: SealedCommit,
  seals: readonly SealedFile[],
): Promise<void> {
  const { attestor } = attempt.services.engine;
  const evidence = await sealedEvidence(attempt, commit, new Map([...files, ...seals]));
  const problems = await attestor.verify(evidence, parties);
  if (problems.length === 0) return;
  const message = `what was just sealed does not verify: ${problems.slice(0, 5).join(', ')}`;
  throw new WritError('VERIFY_REFUTED', { message, detail: { problems } });
}

/**
 * Returns why a change's record does not justify sealing it, or `undefined`. Applies the third-party verifier's
 * requirements, whether or not the run is signed: approvals of exactly this candidate by signers at the policy
 * commit, and a decision that follows from the record. Every process checks this before the branch moves.
 */
export async function refuteDecided(
  attempt: Attempt,
  judged: EvaluatedRun,
  { commit, files, nowMs }: SealedCommit,
): Promise<string | undefined> {
  const {
    services: { engine, steps, settings },
  } = attempt;
  const { attestor } = engine;
  const request = attestRequest(attempt, judged, {
    commit,
    files,
    filled: [],
    engine: await steps.once('engine', () => describeEngine(settings.schedulerVersion)),
    attempts: [],
    finishedOn: toRfc3339(nowMs),
  });
  const problems = await attestor.verifyDecided(request, await sealedEvidence(attempt, commit, files));
  return problems.length === 0 ? undefined : problems.slice(0, 5).join(', ');
}

async function onceFiles(
  steps: Steps,
  key: string,
  make: () => Promise<readonly SealedFile[]>,
): Promise<readonly SealedFile[]> {
  const record = await steps.once(key, async (): Promise<FilesRecord> => {
    const files = await make();
    return files.map(([path, bytes]) => [path, toBase64(bytes)]);
  });
  return record.map(([path, base64]) => [path, Buffer.from(base64, 'base64')]);
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

interface SealedFacts {
  readonly commit: string;
  /** Every file of the run record, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What plugins add to `resolvedDependencies`. */
  readonly filled: readonly DigestedThing[];
  readonly engine: DigestedThing;
  /** Artifacts of attempts at Tasks, by path and SHA-256. */
  readonly attempts: readonly (readonly [path: string, sha256: string])[];
  /** RFC 3339. */
  readonly finishedOn: string;
}

/** Builds the content of a sealed change's provenance. */
function attestRequest(attempt: Attempt, judged: EvaluatedRun, facts: SealedFacts): AttestRequest {
  const {
    identity: { contract, runId },
    services: { settings },
    patch,
    environment,
    box,
  } = attempt;
  const spec = contract.effective;
  const network = [...judged.workNetworks, ...networksOf(judged.stages)];
  const models = attempt.services.calls.models();
  return {
    runId,
    spec,
    specDigest: contract.digest,
    schedulerVersion: settings.schedulerVersion,
    engine: facts.engine,
    sandbox: attempt.identity.sandboxName,
    repositoryUri: environment.repositoryUri,
    baseCommit: patch.baseCommit,
    policyCommit: environment.policy.commit,
    ...(environment.policy.ref === undefined ? {} : { policyRef: environment.policy.ref }),
    ...(environment.foreign === undefined ? {} : { defaultRef: environment.foreign.defaultRef }),
    commit: facts.commit,
    tree: patch.candidateTree,
    patchDigest: patch.digest,
    resolvedDependencies: [
      ...(environment.configBytes
        ? [{ name: '.writ/config.toml', digest: { sha256: sha256Hex(environment.configBytes) } }]
        : []),
      ...environment.dependencies,
      ...judged.dependencies,
      ...facts.filled,
    ],
    byproducts: [
      ...[...facts.files].map(([path, bytes]) => ({
        name: path,
        digest: { sha256: sha256Hex(bytes) },
        mediaType: 'application/json',
      })),
      ...box
        .list()
        .map(({ path, sha256, contentType }) => ({ name: path, digest: { sha256 }, mediaType: contentType })),
      ...facts.attempts.map(([name, sha256]) => ({ name, digest: { sha256 } })),
    ],
    stages: judged.stages,
    approvals: attempt.approvals,
    ...(network.length === 0 ? {} : { network }),
    ...(models.length === 0 ? {} : { models }),
    startedOn: toRfc3339(attempt.identity.startedAtMs),
    finishedOn: facts.finishedOn,
  };
}

function networksOf(stages: EvaluatedRun['stages']): NonNullable<AttestRequest['network']> {
  return stages.flatMap(({ stage, checks }) =>
    checks.flatMap(({ id, network, baseline }) => {
      const whole = joinNetworks([network, baseline?.network].filter((one) => one !== undefined));
      return whole ? [{ stage, check: id, ...whole }] : [];
    }),
  );
}

/** The run as it will be stored, in the form that the third-party verifier reads. */
async function sealedEvidence(attempt: Attempt, commit: string, files: RecordFiles): Promise<SealedEvidence> {
  const {
    identity: { runId },
    environment,
    box,
    patch,
  } = attempt;
  const { repository } = environment;
  const [object] = await readObjects(repository, [commit]);
  if (!object)
    throw new WritError('INTERNAL', { message: `commit \`${commit}\` is gone from the repository` });
  const ofAttempts = new Map<string, Uint8Array>();
  for await (const [path, bytes] of contentBelowNames(attempt)) ofAttempts.set(path, bytes);
  const records = new Map(box.list().map((record) => [record.path, record]));
  return {
    runId,
    commit: { id: commit, raw: object.bytes },
    files,
    allowedSigners: (await allowedSignersOf(attempt)) ?? new Uint8Array(),
    replay: replayRecord,
    contentPaths: [patchContentPath, ...records.keys(), ...ofAttempts.keys()],
    readContent: async (path) => {
      const record = records.get(path);
      if (path === patchContentPath) return patch.diff;
      return record ? box.read(record) : ofAttempts.get(path);
    },
    ...evidenceReader(repository),
    carry: carryReader(repository),
  };
}

const loggingStep = 'logging';

/**
 * Steps that depend on one key's signatures. A managed key uses the run's steps. An ephemeral key gets separate
 * steps, so that the next process starts over.
 */
export function stepsOfKey(
  steps: Steps,
  { certificate, keyId }: Pick<Signer, 'certificate' | 'keyId'>,
): Steps {
  return certificate === undefined ? steps : steps.under(keyed(keyId));
}

/**
 * Steps of the key that this run's claim was logged with, else of `signer` (`docs/decisions/0007-keyless.md`). Where
 * that key died with its process, `once` answers what ended, and refuses whatever did not: SIGNER_FAILED.
 */
export function stepsOfClaim(steps: Steps, signer: Signer): Steps {
  const logged = steps.ended(loggingStep)?.answer;
  if (typeof logged !== 'string' || logged === signer.keyId) return stepsOfKey(steps, signer);
  const dead = steps.under(keyed(logged));
  return {
    ...dead,
    async once<T>(key: string, act: () => Promise<T> | T): Promise<T> {
      const known = dead.ended(key);
      if (known) return dead.once(key, act);
      throw new WritError('SIGNER_FAILED', {
        message:
          'the process that held the signing key of this run was stopped, so the run cannot be signed any more',
        detail: { key_id: logged, step: key },
      });
    },
  };
}

/** Records which key signs before the log is called. */
export async function beforeLogging(steps: Steps, { certificate, keyId }: Signer): Promise<void> {
  if (certificate !== undefined) await steps.once(loggingStep, () => keyId);
}

function keyed(keyId: string): string {
  return `by-${keyId.slice(0, 16)}`;
}
