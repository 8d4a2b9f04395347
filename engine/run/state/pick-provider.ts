import type { ProviderSource } from '../../../core/contract/provider.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';

/** The provider of a name, or of what a name says behind a colon. SLOT_UNKNOWN. */
export async function pickProvider({ slots }: WritEngine, name: string): Promise<ProviderSource> {
  const [kind = '', ...rest] = name.split(':');
  const at = slots.provider.names.includes(kind) ? (await slots.provider.pick(kind)).at : undefined;
  return at === undefined ? slots.provider.pick(name) : at(rest.join(':'));
}

/** Whether the engine itself has a provider of that name, or of what stands before its colon. */
export function isBuiltIn({ slots }: Pick<WritEngine, 'slots'>, name: string): boolean {
  return slots.provider.names.includes(name.split(':', 1)[0] ?? '');
}
