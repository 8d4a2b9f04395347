import { uuidV7From } from '../../core/base/ids.ts';
import type { Metadata } from '../../core/contract/intentspec.gen.ts';

const maxMs = 2 ** 48 - 1;

/**
 * The thread of an intent, which is its Intent object's id. It follows from what is immutable (id and time of
 * creation), so that two runs that both begin an intent, on one machine or on two, begin the same one.
 */
export function threadOf({ id, createdAt }: Pick<Metadata, 'id' | 'createdAt'>): string {
  const ms = Date.parse(createdAt);
  return uuidV7From(ms >= 0 && ms <= maxMs ? ms : 0, `intent/${id}`);
}
