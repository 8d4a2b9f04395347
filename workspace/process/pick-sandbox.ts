import { WritError } from '../../core/base/errors.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';

/** What a pick is made from: the `sandbox` slot, best back end first. */
export interface SandboxChoice {
  readonly names: readonly string[];
  pick(name: string): Promise<SandboxBackend>;
}

/**
 * Returns the back end with that name, or with `auto` the first that works. A back end without confinement is never
 * picked automatically. SANDBOX_UNAVAILABLE, with the reason for each back end, if the probe of its behaviour fails;
 * SLOT_UNKNOWN for an unknown name. `passOver` is called for each back end that is installed but was skipped because
 * it does not work.
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
 * Starts the probe of the back end early. A later pick gets the same result, which is computed once per process.
 * Disposal waits until the probe has ended.
 */
export function beginProbe(name: string, choice: SandboxChoice): AsyncDisposable {
  const probed = pickSandbox(name, choice).then(
    () => {},
    () => {},
  );
  return { [Symbol.asyncDispose]: () => probed };
}
