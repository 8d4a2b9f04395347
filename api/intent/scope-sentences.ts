import type { Scope } from '../../core/contract/scope.ts';

/** A scope in sentences. Paths are words of the author: the review escapes every sentence as a whole. */
export function scopeSentences({ write, forbidden, wholeRepository }: Scope): readonly string[] {
  return [
    wholeRepository
      ? 'no path is named: the whole repository may be written'
      : write.length === 0
        ? 'nothing may be written'
        : `may be written: ${write.join(', ')}`,
    ...(forbidden.length === 0 ? [] : [`never written: ${forbidden.join(', ')}`]),
  ];
}
