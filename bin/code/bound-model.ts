import { WritError } from '../../core/base/errors.ts';
import type { GivenFlag } from '../../providers/check-flags.ts';
import { flagTable } from '../../providers/flag-table.ts';
import type { AgentProfile } from '../../session/agents/agent-profile.ts';
import type { AskedModel } from '../command-parts/model-choice.ts';

/** Which flag the variant of a binding stands for, by provider. */
const variantFlags: Readonly<Record<string, string>> = {
  ollama: 'ollama-thinking',
  deepseek: 'deepseek-reasoning-effort',
  kimi: 'kimi-thinking',
};

/**
 * What is asked where a profile binds a model: its provider, its model and its variant, whatever the command line says
 * of them. AGENT_INVALID where that provider has no variants.
 */
export function boundModel({ name, binding }: AgentProfile, asked: AskedModel): AskedModel {
  if (binding === undefined) return asked;
  const { provider, model, variant } = binding;
  if (variant === undefined) return { provider, model, flags: asked.flags };
  const flag = variantFlags[provider];
  if (flag === undefined)
    throw new WritError('AGENT_INVALID', {
      message: `the agent profile \`${name}\` binds \`${provider}\` with a variant, and that provider has none`,
      detail: { agent: name, provider, variant, expected: Object.keys(variantFlags) },
      hints: ['write the binding without `@…`'],
    });
  const alias = flagTable[provider]?.find((one) => one.name === flag)?.alias;
  const others = asked.flags.filter((one) => one.name !== flag && one.name !== alias);
  return { provider, model, flags: [...others, { name: flag, value: variant }] };
}

/**
 * Flags as a session takes them: with Codex a plan comes first unless the line says otherwise, and with any other
 * provider `--plan-mode=false` says what holds anyway (document 2, Options: `--plan-mode`).
 */
export function withPlanMode({ provider, model, flags }: AskedModel): AskedModel {
  const isSaid = (value: string): boolean =>
    flags.some((flag) => flag.name === 'plan-mode' && flag.value === value);
  if (provider === 'codex')
    return isSaid('true') || isSaid('false')
      ? { provider, model, flags }
      : { provider, model, flags: [...flags, { name: 'plan-mode', value: 'true' }] };
  const others = flags.filter((flag: GivenFlag) => flag.name !== 'plan-mode' || flag.value !== 'false');
  return { provider, model, flags: others };
}
