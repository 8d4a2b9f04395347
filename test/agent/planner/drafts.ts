import type { ScriptedReply } from '../scripted-model.ts';

/** A draft for the sample's wrong price, as a model would submit it. */
export const priceDraft = {
  summary: 'Prices are exact',
  problemStatement: 'A price is one cent too high, whoever asks for it.',
  changeType: 'bugfix',
  objectives: ['src/price.js answers exactly count times cents, and test/price.test.js holds a test for it'],
  inScope: ['src/', 'test/'],
  successCriteria: ['two pieces cost twice as much as one'],
  checks: [
    {
      id: 'unit',
      stage: 'fast',
      kind: 'testSuite',
      command: 'node --test --test-isolation=none --test-reporter=tap',
    },
  ],
  risk: { level: 'low', rationale: 'One line of arithmetic.', factors: [] },
} as const;

export function submits(draft: Readonly<Record<string, unknown>> | string): ScriptedReply {
  return { calls: [['submit_intent_draft', draft]] };
}

export const priceFix = `*** Begin Patch
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
*** End Patch`;

/** Makes the change, and says so. */
export const makesFix: readonly ScriptedReply[] = [
  { calls: [['apply_patch', { patch: priceFix }]] },
  { calls: [['submit_task_complete', { complete: true, summary: 'exact' }]] },
];
