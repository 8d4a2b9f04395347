import { journalOf, type Place, sampleIntent, samplePatch, soonAfterwards } from './place.ts';
import { type Expectation, type Recipe, sealedClaims } from './recipe.ts';

/** What the journal holds when the run is killed, in the order of a run. */
const points: Readonly<Record<string, readonly [about: string, type: string, step?: string]>> = {
  'killed-at-the-start': ['before its plan', 'run-started'],
  'killed-in-the-plan': ['while its plan was made', 'step-begun', 'plan/1'],
  'killed-before-the-checks': [
    'when the rules had evaluated its patch',
    'step-ended',
    'candidate-1/patch-judged',
  ],
  'killed-in-a-check': ['during a check', 'step-begun', 'candidate-1/epoch-1/integration/check/whole'],
  'killed-between-stages': [
    'between two gate stages',
    'step-ended',
    'candidate-1/epoch-1/integration/settled',
  ],
  'killed-after-the-decision': ['when it had decided', 'step-ended', 'candidate-1/decided'],
  'killed-before-logging': ['when the log was about to answer', 'step-begun', 'candidate-1/seal/logged'],
  'killed-after-logging': ['when the log had answered', 'step-ended', 'candidate-1/seal/logged'],
  'killed-in-the-record': ['while its record was written', 'step-begun', 'candidate-1/seal/record/run'],
  'killed-before-the-branch-moved': ['before the branch moved', 'step-begun', 'candidate-1/seal/swap'],
  'killed-after-the-branch-moved': ['after the branch moved', 'step-ended', 'candidate-1/seal/swap'],
};

/** Runs that were killed, and are resumed and sealed by the claims. */
export const killedRecipes: Readonly<Record<string, Recipe>> = Object.fromEntries(
  Object.entries(points).map(([name, [about, type, step]]): [string, Recipe] => [
    name,
    {
      about: `a run that was killed ${about}`,
      ...(name === 'killed-after-the-branch-moved' ? { sample: 2 } : {}),
      make: async (place) => {
        const ids = await killRun(place, type, step);
        return [...killedClaims(ids.run_id), ...sealedClaims({ ...ids, state: '' })];
      },
    },
  ]),
);

async function killRun(
  place: Place,
  type: string,
  step?: string,
): Promise<{ readonly run_id: string; readonly thread_id: string }> {
  const check = (id: string, command: string) => ({
    ...{ id, kind: 'command', command, timeoutSeconds: 60, required: true, artifactsProduced: [] },
  });
  const integrationChecks = [check('whole', 'node --test --test-isolation=none --test-reporter=tap')];
  const releaseChecks = [check('last', 'echo ready')];
  const spec = sampleIntent(place, {
    acceptance: { verificationPlan: { integrationChecks, releaseChecks } },
  });
  const marker = `"type":"${type}","data":{${step === undefined ? '' : `"step":"${step}"`}`;
  await place.kill(['run', spec, '--patch', samplePatch(place)], () => journalOf(place).includes(marker));
  const journal = journalOf(place);
  if (journal.includes('"type":"run-finished"')) throw new Error('the run had ended before it was killed');
  const [first = ''] = journal.split('\n');
  const { runId, threadId } = (JSON.parse(first) as { readonly data: { runId: string; threadId: string } })
    .data;
  return { run_id: runId, thread_id: threadId };
}

export function killedClaims(run: string): readonly Expectation[] {
  return [
    { run: ['runs'] },
    { run: ['show', run], exit: 'recorded' },
    { run: ['fsck'], exit: 'recorded' },
    { run: ['resume', run], at: soonAfterwards },
  ];
}
