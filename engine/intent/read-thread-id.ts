import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { RunStore } from '../store/run-store.ts';
import { parseObject } from '../store/stored-object.ts';

/** The thread of an intent is its first Intent object's id; `undefined` where the intent has never run. */
export async function readThreadId(
  { objects, refs }: RunStore,
  spec: EffectiveIntentSpec,
): Promise<string | undefined> {
  const bytes = await objects.read(refs.intent(spec.metadata.id), 'intent.json');
  return bytes && parseObject('intent', bytes).object_id;
}
