/* Limits the time of plugin test cases and of the processes that they start. */
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../core/base/errors.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import type { CaseRunner } from '../../plugins/testers/run-cases.ts';
import type { CommandContext } from '../command-parts/command.ts';

/** Timeout of a test case in seconds, even if a run would wait longer. */
const caseSeconds = 20;

/** Grace period for a case to close its servers after its processes were ended. */
const settleMs = 5000;
const maxWords = 2000;

/** Holds the cases of suites to a deadline, and everything that they start in the sandbox with them. */
export interface CaseWatch {
  /** The sandbox that parts are to be opened in: what runs there ends with the case that is silent. */
  readonly sandbox: () => Promise<SandboxBackend>;
  /**
   * Runs the suite of one part to its end, whatever fails on the way; in words, what did. The first case that is silent
   * ends the processes of the part and is the last one played. Rejects with the reason of an interruption.
   */
  collect(part: string, suite: (runner: CaseRunner) => Promise<void>): Promise<readonly string[]>;
}

/** Creates a watch without starting any process. `seconds` is the timeout of a case. */
export function watchCases(
  { signal, progress }: Pick<CommandContext, 'signal' | 'progress'>,
  pick: () => Promise<SandboxBackend>,
  seconds = caseSeconds,
): CaseWatch {
  const running = new Set<AbortController>();
  let silent = false;
  const endAll = (): void => {
    for (const one of running) one.abort();
  };
  const run = async (backend: SandboxBackend, request: Parameters<SandboxBackend['run']>[0]) => {
    const stop = new AbortController();
    if (silent) stop.abort();
    running.add(stop);
    const signals = [stop.signal, signal, ...(request.signal === undefined ? [] : [request.signal])];
    try {
      return await backend.run({ ...request, signal: AbortSignal.any(signals) });
    } finally {
      running.delete(stop);
    }
  };
  /** True where the case was silent; what it failed with is thrown. */
  const isSilent = async (body: Promise<void>): Promise<boolean> => {
    const over = new AbortController();
    const late = wait(seconds * 1000, true, { signal: AbortSignal.any([over.signal, signal]) });
    try {
      if ((await Promise.race([body.then(() => false), late])) === false) return false;
    } catch (fault) {
      if (!signal.aborted) throw fault;
    } finally {
      late.catch(() => {});
      over.abort();
    }
    silent = true;
    endAll();
    const settled = body.catch(() => {});
    await Promise.race([settled, wait(settleMs, undefined, { ref: false })]);
    signal.throwIfAborted();
    return true;
  };
  return {
    async sandbox() {
      const backend = await pick();
      return Object.assign(Object.create(backend) as SandboxBackend, {
        run: (request: Parameters<SandboxBackend['run']>[0]) => run(backend, request),
      });
    },
    async collect(part, suite) {
      const failures: string[] = [];
      let played = 0;
      let left = 0;
      silent = false;
      await suite({
        async test(name, body) {
          signal.throwIfAborted();
          if (silent) {
            left += 1;
            return;
          }
          played += 1;
          progress.update(`${part}: case ${played}, at most ${seconds} s: ${name}`);
          try {
            if (await isSilent(body({})))
              failures.push(`case \`${name}\`: no answer within ${seconds} s; its processes were ended`);
          } catch (fault) {
            signal.throwIfAborted();
            failures.push(messageOf(fault).slice(0, maxWords));
          }
        },
      });
      progress.clear();
      if (left > 0) failures.push(`not played, because the module was silent before: ${left} cases`);
      return failures;
    },
  };
}
