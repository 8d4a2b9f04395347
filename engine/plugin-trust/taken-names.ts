import type { WritEngine } from '../spec/writ-engine.ts';
import type { PartField } from './part-fields.ts';

/** Names that no part of a plugin may bear, because a built-in one of its kind does. */
export function takenNames({
  provider,
}: Pick<WritEngine['slots'], 'provider'>): Readonly<Record<PartField, readonly string[]>> {
  return { providers: provider.names, logs: [] };
}
