import { createHash } from 'node:crypto';

/** A name as this vendor takes it, of at most 64 characters: longer ones (another vendor's) become their digest. */
export function shortName(name: string): string {
  return name.length <= 64 ? name : createHash('sha256').update(name).digest('hex');
}
