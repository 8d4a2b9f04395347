import { formatModelChoice } from '../../coder/model-choice.ts';
import { WritError } from '../../core/base/errors.ts';
import { serviceUrlFault } from '../../core/base/service-url.ts';
import type { CommandContext } from './command.ts';

/** The model that was asked for, as a run keeps it. USAGE, PROVIDER_OPTION. */
export function readModelChoice({ options }: CommandContext, provider: string): Uint8Array {
  const [model, apiBase, temperature] = ['model', 'api-base', 'temperature'].map((name) =>
    options.value(name),
  );
  const fault = apiBase === undefined ? undefined : serviceUrlFault(apiBase);
  if (fault !== undefined) throw new WritError('USAGE', { message: `\`--api-base\`: ${fault}` });
  if (temperature !== undefined && !/^(?:[01](?:\.\d{1,3})?|2(?:\.0{1,3})?)$/.test(temperature))
    throw new WritError('USAGE', { message: `\`--temperature\`: expected 0 to 2, found \`${temperature}\`` });
  return formatModelChoice({
    provider,
    ...(model === undefined ? {} : { model }),
    ...(apiBase === undefined ? {} : { apiBase }),
    ...(temperature === undefined ? {} : { temperature: Number(temperature) }),
    flags: {},
  });
}
