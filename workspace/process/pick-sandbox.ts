import { WritError } from '../../core/base/errors.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';

/** What a pick is made from: the `sandbox` slot, best back end first. */
export interface SandboxChoice {
  readonly names: readonly string[];
  pick(name: string): Promise<SandboxBackend>;
}

/**
 * The back end of that name, or with `auto` the first that works; one that confines nothing is never picked by itself.
 * What does not work when probed by behaviour is SANDBOX_UNAVAILABLE, naming each back end's reason; an unknown name is
 * SLOT_UNKNOWN. `passOver` is told of each that is installed, does not work, and was not taken for that.
 */
export async function pickSandbox(
  name: string,
  choice: SandboxChoice,
  passOver: (name: string, reason: string) => void = () => {},
): Promise<SandboxBackend> {
  const isAsked = name !== 'auto';
  const reasons: Record<string, string> = {};
  const toTell: [name: string, reason: string][] = [];
  for (const one of isAsked ? [name] : choice.names) {
    const backend = await choice.pick(one);
    if (backend.unconfined && !isAsked) continue;
    const { works, reason = 'it does not hold what it must', absent } = await backend.probe();
    if (works) {
      for (const [passed, why] of toTell) passOver(passed, why);
      return backend;
    }
    reasons[one] = reason;
    if (absent === undefined) toTell.push([one, reason]);
  }
  const found = Object.entries(reasons).map(([one, reason]) => `\`${one}\`: ${reason}`);
  throw new WritError('SANDBOX_UNAVAILABLE', {
    message: `no sandbox works here: ${found.join('; ')}`,
    detail: { reasons },
  });
}

/**
 * Begins to ask whether the back end works: whoever picks it gets the same answer, once per process. Disposing waits
 * for it, so that nothing of it stays.
 */
export function beginProbe(name: string, choice: SandboxChoice): AsyncDisposable {
  const probed = pickSandbox(name, choice).then(
    () => {},
    () => {},
  );
  return { [Symbol.asyncDispose]: () => probed };
}
