/* The engine as an object for programs that embed writ. */
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { openInProcessApprover } from '../../attest/approval/sign-approval.ts';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import type { SourceDemands } from '../../attest/verify/certified-source.ts';
import { explain } from '../../attest/verify/explain.ts';
import type { SummaryDemands } from '../../attest/verify/predicates/summary.ts';
import { canonicalDigest } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { InProcessApprover } from '../../core/interfaces/approval.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import type { ChangeSource, ResumeRequest, RunRequest, RunSettings } from '../../engine/state/run-request.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { readVersion } from '../build.ts';
import { compact, toFault } from '../envelope.ts';
import { maxSpecBytes, readSpecBytes } from '../intent/read-spec.ts';
import { readInput } from '../read-input.ts';
import { runRefusal } from '../run/open-run.ts';
import { toRunData } from '../run/run-data.ts';
import type { RunEvent } from '../run/run-events.ts';
import type { RunData } from '../schemas/run-schema.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import { userPluginAccess } from '../user-plugins.ts';
import { readArtifact } from '../verify/artifact.ts';
import type { Requirement } from '../verify/demands.ts';
import type { TargetForm } from '../verify/target-meanings.ts';
import { toVerificationData } from '../verify/verification-data.ts';
import { type RequestedDemands, verifyTargets } from '../verify/verify-targets.ts';

/** Fields common to every call about a run. */
export interface RunPlace {
  /** A path in the repository. NOT_A_REPOSITORY. */
  readonly repository: string;
  /**
   * Sandbox back end by name, or `auto`; default `auto`, and of a run that goes on the one that it was in. `none` is
   * recorded in the provenance.
   */
  readonly sandbox?: string;
  /**
   * Who approves in this process once the run waits for people: paths of private keys, or approvers of the program's
   * own. What they sign is marked so, and counts only where `[approvals] in_process` is true at the policy commit.
   */
  readonly approveWith?: readonly (string | InProcessApprover)[];
  /**
   * Digests (`sha256:…`) of plugins that the repository lists and that are trusted for this call, besides those that
   * the user trusts.
   */
  readonly trustedPlugins?: readonly string[];
  /**
   * What happens to uncommitted changes at paths that the change touches, as `--local-changes`; default `stop`:
   * WORKTREE_DIRTY.
   */
  readonly localChanges?: 'stop' | 'set-aside' | 'include';
  /** Stops the work, RUN_INTERRUPTED; what has been moved stays moved or is rolled back, and the run can be resumed. */
  readonly signal?: AbortSignal;
}

/** Starts one run: a spec and the source of its change. */
export interface RunCall extends RunPlace {
  readonly spec: GivenSpec;
  /** A patch, a range of commits that exist, or a worker that makes the change. */
  readonly source: ChangeSource;
  /** Target branch name without `refs/heads/`. Default: the spec's target. */
  readonly onto?: string;
  /** Only this branch's policy may apply to the run; otherwise POLICY_MISMATCH. */
  readonly policy?: string;
  /** Refuses, TARGET_MOVED, where the change would have to be merged onto the tip of its target. */
  readonly noMerge?: boolean;
  /** Message of the sealed commit. Replaces the message of the range or the spec. */
  readonly message?: string;
  /** Author of the sealed commit, `Name <mail>`. */
  readonly author?: string;
}

/** Goes on with a run that was stopped or that waits. */
export interface ResumeCall extends RunPlace {
  /** Id of the run, or an unambiguous beginning of one. RUN_NOT_FOUND. */
  readonly run: string;
  /**
   * Who does what is left of a run that a worker does: by name in slot `worker`, made of `from`, else of what the run
   * was started with. NO_WORKER where one is needed and none is named.
   */
  readonly worker?: { readonly name: string; readonly from?: Uint8Array };
  /** The branch to move; needed where only a claim names it, and then it must be that one. */
  readonly onto?: string;
  /** Cost units (0.001 USD) granted beyond the spec's cap. */
  readonly moreCostUnits?: number;
  /** Lets calls be made again that had left the machine when an attempt was interrupted. */
  readonly allowLostCalls?: boolean;
}

/** Environment and clock of a call. */
interface Surroundings {
  /** Where the user's keys, trusted plugins and journals' witness are found. */
  readonly env: Environment;
  readonly clock: Clock;
}

async function toRunRequest(
  call: RunCall,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<RunRequest> {
  const { repository, source, onto, policy, noMerge, message, author, sandbox = 'auto' } = call;
  return {
    ...compact({ onto, policy, noMerge, message, author }),
    ...(await toSettings(call, surroundings, signal)),
    repositoryPath: resolve(repository),
    specBytes: await specBytes(call.spec, signal),
    source,
    sandbox,
  };
}

async function toResumeRequest(
  call: ResumeCall,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<ResumeRequest> {
  const { repository, run, worker, onto, moreCostUnits, allowLostCalls, sandbox } = call;
  // Callers in JavaScript may leave it out.
  if (typeof run !== 'string')
    throw new WritError('RUN_NOT_FOUND', {
      message: `expected the id of a run as \`run\`, found ${typeof run}`,
    });
  return {
    ...compact({ onto, moreCostUnits, allowLostCalls, sandbox, worker: worker && toWorker(worker) }),
    ...(await toSettings(call, surroundings, signal)),
    repositoryPath: resolve(repository),
    runId: run,
  };
}

function toWorker({ name, from }: Required<ResumeCall>['worker']): ResumeRequest['worker'] {
  return { name, ...(from === undefined ? {} : { from: async () => from }) };
}

async function toSettings(
  { approveWith = [], trustedPlugins = [], localChanges }: RunPlace,
  { env, clock }: Surroundings,
  signal: AbortSignal,
): Promise<RunSettings> {
  const approvers: InProcessApprover[] = [];
  for (const one of approveWith)
    approvers.push(typeof one === 'string' ? await openInProcessApprover(resolve(one)) : one);
  return {
    ...compact({ localChanges }),
    schedulerVersion: readVersion(),
    pluginAccess: userPluginAccess(env, trustedPlugins),
    approvers,
    witness: userJournalWitness(env),
    clock,
    signal,
  };
}

/**
 * What to verify, and which keys and identities to trust. The user's own anchors apply in addition to those given
 * here.
 */
export interface VerifyCall {
  /** A path in the repository of the targets; default: the working directory. Files need none. */
  readonly repository?: string;
  /**
   * Commits, runs, or paths of attestations and exported evidence. An empty list verifies nothing. TARGET_AMBIGUOUS.
   */
  readonly targets: readonly string[];
  /** Kind of every target. Resolves names that match several kinds. */
  readonly form?: TargetForm;
  /** Files of trusted public keys (PEM). */
  readonly keys?: readonly string[];
  /** Keys of logs that are believed: vkey text, or a file that holds it. */
  readonly ledgerKeys?: readonly string[];
  /** A sigstore trusted root file, for certificates and public logs. */
  readonly trustedRoot?: string;
  /** Trusted certificate identity, and the issuer that vouches for the name. Requires `trustedRoot`. */
  readonly identity?: { readonly identity: string; readonly issuer: string };
  /** File of who may approve, as OpenSSH's `allowed_signers`. */
  readonly allowedSigners?: string;
  /** The expected spec. Evidence of any other spec is refuted. */
  readonly spec?: GivenSpec;
  /** Paths, or digests (`sha256:…`), that must be among what was attested. */
  readonly artifacts?: readonly string[];
  /** The commit that every target must be about: a full id, or a name in the repository. */
  readonly subjectCommit?: string;
  /** Required predicate types. */
  readonly types?: readonly string[];
  /** Decides again from the stored inputs. */
  readonly replay?: boolean;
  /** The run must have used the policy of this branch (or full commit id). */
  readonly policy?: string;
  readonly summary?: SummaryDemands;
  /** What the certificate must name as the source of the build. */
  readonly source?: SourceDemands;
  /** Claims that must be verified. If one is not, the result is negative. */
  readonly require?: readonly Requirement[];
  /** Adds what each claim rests on. */
  readonly explain?: boolean;
  readonly signal?: AbortSignal;
}

const maxSignersBytes = 4 * 1024 * 1024;

/** The demands of a call, with the files that it names read. INPUT_UNREADABLE. */
async function toDemands(call: VerifyCall, signal: AbortSignal): Promise<RequestedDemands> {
  const {
    form,
    identity,
    trustedRoot,
    policy,
    source,
    subjectCommit,
    allowedSigners,
    spec,
    require = [],
  } = call;
  const input = { cwd: process.cwd(), stdin: Readable.from([]), signal };
  return {
    ...compact({
      form,
      policy,
      subjectCommit,
      source,
      allowedSigners:
        allowedSigners === undefined
          ? undefined
          : await readInput(input, resolve(allowedSigners), { maxBytes: maxSignersBytes }),
      specDigest: spec === undefined ? undefined : await specDigest(spec, signal),
    }),
    given: {
      ...compact({ identity, trustedRoot: trustedRoot === undefined ? undefined : resolve(trustedRoot) }),
      keyFiles: (call.keys ?? []).map((path) => resolve(path)),
      ledgerKeys: (call.ledgerKeys ?? []).map((one) => (one.includes('+') ? one : resolve(one))),
    },
    artifacts: await Promise.all((call.artifacts ?? []).map((name) => readArtifact(input, name))),
    types: call.types ?? [],
    replay: call.replay === true || require.includes('replay'),
    summary: call.summary ?? { levels: [] },
    required: require,
  };
}

/** A spec as an object, as bytes, or as a file path. */
export type GivenSpec = IntentSpec | Uint8Array | string;

/**
 * Returns the bytes of a spec, at most 4 MiB; INTENTSPEC_MALFORMED if it is larger. INPUT_UNREADABLE if the file
 * cannot be read.
 */
async function specBytes(given: GivenSpec, signal: AbortSignal): Promise<Uint8Array> {
  if (typeof given === 'string') {
    const path = resolve(given);
    return readSpecBytes({ cwd: path, stdin: Readable.from([]), signal }, path);
  }
  const bytes = given instanceof Uint8Array ? given : Buffer.from(JSON.stringify(given));
  if (bytes.length <= maxSpecBytes) return bytes;
  throw new WritError('INTENTSPEC_MALFORMED', {
    message: `the spec is larger than ${maxSpecBytes} bytes`,
    detail: { expected: `at most ${maxSpecBytes} bytes`, found: bytes.length },
  });
}

/** Returns the canonical digest of a spec: SHA-256 in hex. INTENTSPEC_MALFORMED if it is not JSON. */
async function specDigest(given: GivenSpec, signal: AbortSignal): Promise<string> {
  return canonicalDigest(parseStrictJson(await specBytes(given, signal)).value);
}

/**
 * An engine embedded in another program. Calls return the same document as `data` of `writ COMMAND --json`. A refused
 * change or a refuted claim is a result, not an error. Every error is a WritError: no decision was made.
 */
export interface EmbeddedEngine {
  /** Names of its plugins, in the order of set-up. */
  readonly plugins: readonly string[];
  /** The whole chain: plan, candidate, gates, decision, seal. A run that waits for people is answered as it waits. */
  run(call: RunCall): Promise<RunData>;
  /** Resumes a run. If the run has ended, returns its current data. */
  resume(call: ResumeCall): Promise<RunData>;
  /** Verifies offline, by what the user trusts and what is given. */
  verify(call: VerifyCall): Promise<VerificationData>;
  /**
   * Calls `listener` for every later event of every run, until the returned function is called. Errors that a
   * listener throws are reported and do not stop the run.
   */
  observe(listener: (event: RunEvent) => void): () => void;
  /**
   * Stops what still runs (RUN_INTERRUPTED, to be resumed), waits for it, and closes the plugins in reverse order.
   * Later calls are ENGINE_CLOSED.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Wraps an open engine, which belongs to the answer from then on. */
export function embedEngine(
  engine: WritEngine,
  surroundings: Surroundings,
  listeners: Listeners,
): EmbeddedEngine {
  const closing = new AbortController();
  const working = new Set<Promise<unknown>>();

  async function within<T>(
    given: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (closing.signal.aborted) throw new WritError('ENGINE_CLOSED');
    const stop = new AbortController();
    const onAbort = (): void =>
      stop.abort(new WritError('RUN_INTERRUPTED', { cause: given?.aborted ? given.reason : undefined }));
    const signals = [closing.signal, ...(given ? [given] : [])];
    for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true });
    if (given?.aborted) onAbort();
    const done = work(stop.signal);
    working.add(done);
    try {
      return await done;
    } catch (thrown) {
      throw toFault(thrown);
    } finally {
      working.delete(done);
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
    }
  }

  const closeAll = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled(working);
    await engine.close();
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= closeAll();
    return closed;
  };
  return {
    plugins: engine.plugins,
    run: (call) =>
      within(call.signal, async (signal) =>
        toAnswer(await runIntent(engine, await toRunRequest(call, surroundings, signal))),
      ),
    resume: (call) =>
      within(call.signal, async (signal) =>
        toAnswer(await resumeRun(engine, await toResumeRequest(call, surroundings, signal))),
      ),
    verify: (call) =>
      within(call.signal, async (signal) => {
        const { repository, targets } = call;
        const repoPath = repository === undefined ? undefined : resolve(repository);
        const { env } = surroundings;
        const stores = engine.slots.store;
        const context = { ...compact({ repoPath }), cwd: process.cwd(), stores, env, signal };
        const verified = await verifyTargets(context, targets, await toDemands(call, signal));
        return toVerificationData(verified, call.explain === true ? explain : undefined);
      }),
    observe: listeners.add,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Throws OBJECT_CORRUPT if the record does not state how the run ended: damage is an error, not a result. */
function toAnswer(view: RunView): RunData {
  const refusal = runRefusal(view);
  if (refusal?.code === 'OBJECT_CORRUPT') throw refusal;
  return toRunData(view);
}

/** Who listens to the runs of an engine. */
interface Listeners {
  readonly tell: (event: RunEvent) => void;
  readonly add: (listener: (event: RunEvent) => void) => () => void;
}

/** Listeners in the order in which they came; a fault of one is reported, and the others still hear. */
export function openListeners(report: (fault: WritError) => void): Listeners {
  const listeners = new Set<{ readonly hear: (event: RunEvent) => void }>();
  return {
    tell(event) {
      for (const { hear } of [...listeners])
        void (async () => hear(event))().catch((thrown: unknown) => report(toFault(thrown)));
    },
    add(hear) {
      const one = { hear };
      listeners.add(one);
      return () => void listeners.delete(one);
    },
  };
}
