import type { Test } from 'tap';
import { formatModelChoice } from '../../agent/instructions.ts';
import { coderWorker } from '../../agent/plugin.ts';
import { reachProvider } from '../../bin/command-parts/reach-provider.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type Json, makeSample, type Sample } from '../engine/sample.ts';
import { type ScriptedReply, scriptModel } from './scripted-model.ts';
import { everything } from './use-workspace-tools.ts';

export interface Scripted {
  readonly view: RunView;
  readonly sample: Sample;
  /** What the model was told in answer to its calls, in order. */
  readonly told: readonly string[];
}

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** One run of the sample whose Task a model does that only reads from its script; `more` of the contract's security. */
export async function workWithScript(
  t: Test,
  replies: readonly ScriptedReply[],
  more: { readonly [key: string]: Json } = {},
): Promise<Scripted> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel(replies);
  const choice = { provider: 'openai', model: 'scripted', apiBase: model.base, flags: {} };
  const security = { toolAcl: { allow: everything as unknown as Json }, ...more };
  const view = await sample.run(
    {
      source: { kind: 'worker', worker: coderWorker, from: formatModelChoice(choice) },
      reach: reachProvider({ variable: () => undefined, keys: {} }),
    },
    { security },
  );
  const told = model.asked.flatMap(({ body }) => {
    const { messages } = body as Asked;
    // What answers the last reply: older ones may have been left out since.
    const after = messages.findLastIndex(({ role }) => role !== 'tool');
    return messages.slice(after + 1).map(({ content }) => content);
  });
  return { view, sample, told };
}

/** The patch that makes the sample's tests pass, and a test more. */
export const mending = [
  'apply_patch',
  {
    patch: `*** Begin Patch
*** Update File: src/price.js
@@
-  return count * cents + 1;
+  return count * cents;
*** Update File: test/price.test.js
@@
   assert.ok(price(0, 100) < 2);
 });
+
+test('two cost twice as much as one', () => {
+  assert.equal(price(2, 100), 200);
+});
*** End Patch`,
  },
] as const;

export const ending = ['submit_task_complete', { complete: true, summary: 'exact' }] as const;
