import { isWritError } from '../../core/base/errors.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { pickSandbox } from '../../engine/tool/pick-sandbox.ts';

/** The back end that commands of a session run in, tried out once; `none` that holds nothing where none works. */
export function sandboxFacts(
  engine: WritEngine,
  name: string,
): () => Promise<{ readonly backend: string; readonly enforced: readonly string[] }> {
  let found: ReturnType<typeof look> | undefined;
  return () => {
    found ??= look(engine, name).catch((fault: unknown) => {
      // What went wrong once is tried again by whoever asks next.
      found = undefined;
      throw fault;
    });
    return found;
  };
}

async function look({ slots }: WritEngine, name: string) {
  try {
    const backend = await pickSandbox(name, slots.sandbox);
    const { enforced } = await backend.probe();
    return { backend: backend.name, enforced };
  } catch (fault) {
    if (!isWritError(fault, 'SANDBOX_UNAVAILABLE')) throw fault;
    return { backend: 'none', enforced: [] };
  }
}
