import { canonicalDigest } from '../../core/base/canonical.ts';
import { type Asked, readAsked } from '../../engine/run/draft/asked.ts';
import { parseNamedJson } from '../../engine/store/record/parse-named-json.ts';
import type { OpenedRun } from './open-run.ts';

/**
 * What a person asked for, and which model drafted the contract of it, as the contract of the run tells it; `undefined`
 * where that says nothing, is not recorded yet, or is another one than was judged.
 */
export async function askedOf({
  store,
  view,
}: Pick<OpenedRun, 'store' | 'view'>): Promise<Asked | undefined> {
  const bytes = await store.objects.read(store.refs.run(view.runId), 'spec.json');
  if (bytes === undefined) return undefined;
  const document = parseNamedJson('spec.json', bytes);
  if (canonicalDigest(document) !== view.spec.digest) return undefined;
  const { extensions } = document as { readonly extensions?: unknown };
  return typeof extensions === 'object' && extensions !== null
    ? readAsked({ extensions: { ...extensions } })
    : undefined;
}
