import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/quoted.ts';
import type { Json } from '../wire/json-parts.ts';

interface ThinkingHabits {
  readonly models: RegExp;
  readonly thinks: 'as-told' | 'always' | 'never';
  /** Whether it knows the field `thinking`. */
  readonly hasField: boolean;
}

/** Of every other model nothing is known: it is told what it was asked to be told, and not to stop thinking. */
const unknown: Omit<ThinkingHabits, 'models'> = { thinks: 'always', hasField: true };

const families: readonly ThinkingHabits[] = [
  { models: /^kimi-k2\.[56](?:-|$)/, thinks: 'as-told', hasField: true },
  { models: /^kimi-k2\.7(?:-|$)/, thinks: 'always', hasField: true },
  { models: /^kimi-k3/, thinks: 'always', hasField: false },
  { models: /^moonshot-/, thinks: 'never', hasField: false },
];

/** `--kimi-thinking` for one model. */
export interface KimiThinking {
  readonly thinks: boolean;
  readonly field: Json;
}

/** How `--kimi-thinking` is told to a model. PROVIDER_OPTION where it cannot be had of it. */
export function kimiThinking(flag: string | undefined, model: string): KimiThinking {
  const { thinks, hasField } = families.find(({ models }) => models.test(model)) ?? unknown;
  const does = thinks === 'as-told' ? flag !== 'disabled' : thinks === 'always';
  if (flag !== undefined && does !== (flag === 'enabled')) {
    const would = flag === 'disabled' ? '`kimi-k2.6` or `kimi-k2.5`' : 'a `kimi-` model';
    throw new WritError('PROVIDER_OPTION', {
      message: `\`--kimi-thinking ${flag}\` does not go with the model ${quoted(model)}, which ${does ? 'always' : 'never'} thinks`,
      detail: { flag: 'kimi-thinking', provider: 'kimi', model, found: flag },
      hints: [`leave \`--kimi-thinking\` out, or take ${would} with \`--model\``],
    });
  }
  return { thinks: does, field: flag === undefined || !hasField ? {} : { thinking: { type: flag } } };
}
