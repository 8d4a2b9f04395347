import { WritError } from '../../../core/base/errors.ts';
import type { FoundKey, Provider, ProviderSource } from '../../../core/contract/provider.ts';
import type { Worker } from '../../../core/contract/worker.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { RunSettings } from './run-request.ts';

/** A model that can be asked. */
export interface OpenModel {
  readonly provider: Provider;
  readonly model: string;
  readonly temperature?: number;
  /** Values that no prompt, answer or record may hold. */
  readonly secrets: readonly string[];
}

/**
 * Opens the model that a worker names; `undefined` for one that names none. SLOT_UNKNOWN, PROVIDER_KEY_MISSING, and
 * what the provider refuses.
 */
export async function openModel(
  { slots, stream, clock }: WritEngine,
  worker: Worker | undefined,
  { findKey }: Pick<RunSettings, 'findKey'>,
): Promise<OpenModel | undefined> {
  if (worker?.model === undefined) return undefined;
  const { provider: name, model, apiBase, temperature, flags } = worker.model;
  const source = await slots.provider.pick(name);
  const base = (apiBase ?? source.base).replace(/\/+$/, '');
  const key = source.keys.length === 0 ? undefined : await findKey?.(source.keys);
  if (key === undefined && !needsNoKey(source, base)) throw keyMissing(name, source);
  const provider = await source.open({
    ...(key === undefined ? {} : { key: requireKey(name, key) }),
    base,
    isOtherBase: base !== source.base,
    flags,
    stream,
    clock,
  });
  return {
    provider,
    model: model ?? source.defaultModel,
    ...(temperature === undefined ? {} : { temperature }),
    secrets: key === undefined ? [] : [key.value],
  };
}

function needsNoKey({ keys, keyless }: ProviderSource, base: string): boolean {
  return keys.length === 0 || keyless?.(base) === true;
}

/** A line end or a control character in a header is another header. */
function requireKey(provider: string, { value, name, source }: FoundKey): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new WritError('PROVIDER_KEY_MISSING', {
    message: `the key of provider \`${provider}\` in \`${name}\` (${source}) holds what no key does`,
    detail: { provider, variable: name, source },
    hints: ['check it for spaces, quotes and line ends'],
  });
}

function keyMissing(provider: string, { title, keys }: ProviderSource): WritError {
  const [variable = ''] = keys;
  return new WritError('PROVIDER_KEY_MISSING', {
    message: `provider \`${provider}\` (${title}) needs a key, and \`${variable}\` is nowhere`,
    detail: { provider, variable },
    hints: [`set \`${variable}\``],
  });
}
