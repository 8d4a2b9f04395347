import type { Found } from '../../store/problem.ts';
import { historyHeadPath, intentEventPath } from '../intent/intent-history.ts';
import type { RefFiles } from './check-record.ts';
import type { StoredRef } from './stored-ref.ts';

/**
 * The chain of an intent's events: one event for each number, each naming the one before it. The spec has the digest
 * that `intent.json` and an event state.
 */
export function checkIntent(
  { ref }: StoredRef,
  files: RefFiles,
  missing: readonly string[],
): readonly Found[] {
  if (missing.length > 0) return [];
  const found: Found[] = [];
  const report = (code: Found['code'], path: string, what: string): void => {
    found.push({ code, where: `${ref}:${path}`, what });
  };
  for (const needed of ['intent.json', 'spec.json'])
    if (!files.has(needed)) report('reference-missing', needed, 'the intent has none');
  const events = [...files.keys()].filter((path) => path.startsWith('events/')).length;
  let head: string | undefined;
  const stated = new Set<string>();
  for (let number = 1; number <= events; number += 1) {
    const path = intentEventPath(number);
    const event = files.get(path);
    if (!event) {
      report('reference-missing', path, `expected one of ${events} events`);
      return found;
    }
    if (event.claims?.previous !== head)
      report('digest-mismatch', path, 'it does not follow the event before it');
    head = event.sha256;
    if (event.claims?.intentspec_digest !== undefined) stated.add(event.claims.intentspec_digest);
  }
  if (files.get(historyHeadPath)?.claims?.sha256 !== head)
    report('digest-mismatch', historyHeadPath, 'the last event is not the one that it names');
  const spec = files.get('spec.json')?.canonical;
  const expected = files.get('intent.json')?.claims?.intentspec_digest;
  if (spec !== undefined && expected !== undefined && spec !== expected)
    report(
      'digest-mismatch',
      'spec.json',
      `expected ${expected} (\`intentspec_digest\` of \`intent.json\`), found ${spec}`,
    );
  else if (expected !== undefined && stated.size > 0 && !stated.has(expected))
    report('digest-mismatch', 'intent.json', 'no event of the intent names the digest of its spec');
  return found;
}
