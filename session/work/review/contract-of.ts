import { WritError } from '../../../core/base/errors.ts';
import type { TurnScope } from '../turn-scope.ts';
import { findRunOf } from './find-run-of.ts';

/** The contract of a run, as its record holds it. RUN_NOT_FOUND. */
export async function contractOf(scope: Pick<TurnScope, 'setting'>, runId: string): Promise<Buffer> {
  const found = await findRunOf(scope, runId);
  const bytes = await found?.store.objects.read(found.store.refs.run(runId), 'spec.json');
  if (bytes === undefined) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
  return bytes;
}
