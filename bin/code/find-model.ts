import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import { isBuiltIn, pickProvider } from '../../engine/state/open-model.ts';
import { findBase, findKey, keyPlaceNames } from '../../providers/keys.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { findAgent } from '../../workspace/process/find-program.ts';
import type { Reaching } from '../command-parts/reach-provider.ts';

/** The model of a session, as far as it can be known before it is asked. */
export interface FoundModel {
  /** Absent for a plugin's that names none. */
  readonly model: string | undefined;
  /** Where its key was found; each turn looks it up again. */
  readonly key: { readonly name: string; readonly source: string } | undefined;
  /** What nobody may be shown: the key itself. */
  readonly secrets: readonly string[];
  /** Whether its provider knows what it costs; absent: that is seen when it is asked. */
  readonly isPriced?: boolean;
}

/**
 * Looks whether the model of a session can be asked, before anybody waits for it. PROVIDER_KEY_MISSING,
 * PROVIDER_KEY_UNUSABLE, PROVIDER_OPTION, SLOT_UNKNOWN. What a plugin brings is looked at by its first turn.
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
