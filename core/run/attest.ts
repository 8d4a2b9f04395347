import { toRfc3339 } from '../base/clock.ts';
import { sha256Hex } from '../base/digest.ts';
import { messageOf } from '../base/errors.ts';
import type { Attestation, AttestRequest, DigestedThing } from '../contract/attestor.ts';
import type { Attempt } from './attempt.ts';
import { attestRequest } from './attest-request.ts';
import type { JudgedRun } from './judged-run.ts';
import type { RecordFiles } from './record-files.ts';
import { contentOfAttempts, isOfTask } from './settle-run.ts';
import type { Steps } from './steps.ts';

/** What became of the claim that a sealed change was made. */
export interface Attested {
  readonly attestation?: Attestation;
  /** Why there is none where there should be one. */
  readonly failed?: string;
  /** What was claimed; absent where nothing was. */
  readonly request?: AttestRequest;
}

interface SealedCommit {
  readonly commit: string;
  readonly files: RecordFiles;
  readonly nowMs: number;
}

/** An attestation as the journal holds it: bytes in base64. */
interface AttestedRecord extends Omit<Attestation, 'bundle' | 'proof'> {
  readonly bundle: string;
  readonly proof?: string;
}

/**
 * Signs and logs the provenance. The envelope is written down before it is logged, and how long the log was before that: whoever goes on
 * after a kill logs the same envelope, once. A failure is an answer: the run then ends as its contract says.
 */
export async function attest(attempt: Attempt, judged: JudgedRun, sealed: SealedCommit): Promise<Attested> {
  const { engine, runId, sealing, steps } = attempt;
  if (!sealing) return {};
  const { commit, files, nowMs } = sealed;
  const spec = attempt.contract.effective;
  const fill = (): Promise<readonly DigestedThing[]> =>
    steps.once('filled', () => engine.hooks.statement.fill.call({ runId, spec, commitSha: commit }));
  const attempts: (readonly [string, string])[] = [];
  for await (const [path, bytes] of contentOfAttempts(attempt, isOfTask))
    attempts.push([path, sha256Hex(bytes)]);
  const requestWith = (filled: readonly DigestedThing[]): AttestRequest =>
    attestRequest(attempt, judged, { commit, files, filled, attempts, finishedOn: toRfc3339(nowMs) });
  const answer = await steps.once('attested', async () => {
    try {
      const request = requestWith(await fill());
      const attestation = await signAndLog(attempt, steps, (attestor) => attestor.sign(request, sealing));
      await engine.hooks.attest.settled.call({ runId, commitSha: commit, attestation });
      return toRecord(attestation);
    } catch (fault) {
      return { failed: messageOf(fault) };
    }
  });
  if ('failed' in answer) return answer;
  return { attestation: fromRecord(answer), request: requestWith(await fill()) };
}

/** Logs that the claim did not take effect; nothing where nothing was claimed. */
export async function revoke(
  attempt: Attempt,
  { request }: Attested,
  reason: string,
): Promise<Attestation | undefined> {
  const { sealing, steps } = attempt;
  if (!sealing || !request) return undefined;
  const record = await steps.once('revoked', async () =>
    toRecord(
      await signAndLog(attempt, steps.under('revocation'), (attestor) =>
        attestor.signRevocation(request, sealing, reason),
      ),
    ),
  );
  return fromRecord(record);
}

type LoadedAttestor = Awaited<ReturnType<Attempt['engine']['slots']['attestor']['pick']>>;

async function signAndLog(
  { engine, sealing }: Attempt,
  steps: Steps,
  sign: (attestor: LoadedAttestor) => Promise<Uint8Array>,
): Promise<Attestation> {
  if (!sealing) throw new TypeError('nobody signs this run');
  const attestor = await engine.slots.attestor.pick('slsa-v1');
  const envelope = await steps.once('signed', async () => toBase64(await sign(attestor)));
  const behind = await steps.once('log-size', async () => (await sealing.log?.size()) ?? 0);
  return attestor.log(Buffer.from(envelope, 'base64'), sealing, behind);
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function toRecord({ bundle, proof, ...rest }: Attestation): AttestedRecord {
  return { ...rest, bundle: toBase64(bundle), ...(proof ? { proof: toBase64(proof) } : {}) };
}

function fromRecord({ bundle, proof, ...rest }: AttestedRecord): Attestation {
  return {
    ...rest,
    bundle: Buffer.from(bundle, 'base64'),
    ...(proof === undefined ? {} : { proof: Buffer.from(proof, 'base64') }),
  };
}
