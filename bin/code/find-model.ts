import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import { isBuiltIn, pickProvider } from '../../engine/state/open-model.ts';
import { findBase, findKey, keyPlaceNames } from '../../providers/keys.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { findAgent } from '../../workspace/process/find-program.ts';
import type { Reaching } from '../command-parts/reach-provider.ts';

/** What is known of a session's model before the first request. */
export interface FoundModel {
  /** Absent for a plugin's that names none. */
  readonly model: string | undefined;
  /** Where its key was found; each turn looks it up again. */
  readonly key: { readonly name: string; readonly source: string } | undefined;
  /** Values to mask in all output: the key itself. */
  readonly secrets: readonly string[];
  /** Whether the provider knows the model's price. If absent, the first request shows it. */
  readonly isPriced?: boolean;
}

/**
 * Checks that the session's model can be used, before a user waits for it. PROVIDER_KEY_MISSING,
 * PROVIDER_KEY_UNUSABLE, PROVIDER_OPTION, SLOT_UNKNOWN. A plugin's provider is checked by its first turn.
 */
export async function findModel(
  engine: WritEngine,
  choice: ModelChoice,
  { keys, variable }: Pick<Reaching, 'keys' | 'variable'>,
  isBrought: () => Promise<boolean>,
  plainHttp: readonly string[],
): Promise<FoundModel> {
  const { provider, apiBase, flags } = choice;
  if (!isBuiltIn(engine, provider) && (await isBrought()))
    return { model: choice.model, key: undefined, secrets: [] };
  const source = await pickProvider(engine, provider);
  if (source.agent !== undefined) requireProgram(source.agent, flags);
  const { base, isOtherBase } = findBase(source, apiBase, variable, plainHttp);
  const found = await findKey(provider, source, base, keys);
  const model = choice.model ?? source.defaultModel;
  const { stream, clock } = engine;
  const opened = await source.open({
    base,
    isOtherBase,
    model,
    flags,
    stream,
    clock,
    ...(found === undefined ? {} : { key: found.value }),
  });
  const key = found === undefined ? undefined : { name: found.name, source: keyPlaceNames[found.source] };
  const isPriced = opened.costUnits?.(model, { input: 1000, output: 1000 }) !== undefined;
  return { model, key, secrets: found === undefined ? [] : [found.value], isPriced };
}

/** PROVIDER_OPTION for a program that the line names and that is not there: no turn of the session could start it. */
function requireProgram(agent: Parameters<typeof findAgent>[0], flags: ModelChoice['flags']): void {
  const { flag } = agent.program;
  if (flags[flag] === undefined) return;
  try {
    findAgent(agent, flags);
  } catch (fault) {
    if (!isWritError(fault, 'AGENT_UNAVAILABLE')) throw fault;
    throw new WritError('PROVIDER_OPTION', {
      message: `\`--${flag}\`: ${fault.message}`,
      detail: { flag, ...fault.detail },
      hints: fault.hints,
    });
  }
}
