/* The engine as an object for programs that embed writ. */
import { resolve } from 'node:path';
import { explain } from '../../attest/verify/explain.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { compact, toFault } from '../envelope.ts';
import { runRefusal } from '../run/open-run.ts';
import { toRunData } from '../run/run-data.ts';
import type { RunEvent } from '../run/run-events.ts';
import type { RunData } from '../schemas/run-schema.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import { toVerificationData } from '../verify/verification-data.ts';
import { verifyTargets } from '../verify/verify-targets.ts';
import {
  type ResumeCall,
  type RunCall,
  type Surroundings,
  toDemands,
  toResumeRequest,
  toRunRequest,
  type VerifyCall,
} from './calls.ts';

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
