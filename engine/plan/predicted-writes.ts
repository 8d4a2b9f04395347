import type { Scope } from '../../core/contract/scope.ts';
import { inScope, scopeVerdict } from '../../core/contract/scope-verdict.ts';
import { pathTokensOf } from './path-tokens.ts';
import { underRoot } from './scope.ts';
import { WriteIndex } from './write-index.ts';

/**
 * What one objective says it will write: its path-like words that can lie in scope; `undefined` where it names none.
 */
export type PredictWrites = (objective: string) => readonly string[] | undefined;

/**
 * `root` is where a monorepo's patterns are taken from, '' for the whole repository; `rootNames` are the names there.
 */
export function predictWrites(scope: Scope, root: string, rootNames?: ReadonlySet<string>): PredictWrites {
  const forbidden: Scope = { write: [], forbidden: scope.forbidden, wholeRepository: true };
  const places = new WriteIndex();
  for (const pattern of scope.write) places.claim(pattern, 0);
  const isWritable = (path: string): boolean =>
    scopeVerdict(forbidden, path) !== 'forbidden' &&
    (scope.wholeRepository || places.meets(path) || inScope(scope, path));
  return (objective) => {
    const named = pathTokensOf(objective, rootNames).map((path) => underRoot(root, path));
    const written = [...new Set(named)].filter(isWritable);
    return written.length > 0 ? written : undefined;
  };
}
