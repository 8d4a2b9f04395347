import t, { type Test } from 'tap';
import type { ReplanTrigger } from '../../core/interfaces/plan.ts';
import { type StageName, stageNames } from '../../core/interfaces/stage.ts';
import { decide } from '../../engine/decide/decide.ts';
import type { DecidedStage, DecisionInput } from '../../engine/record/decision-input.ts';
import { long } from '../rooms/long.ts';

/* Every combination that the contract names, against a table of answers that knows no input, only the words of the contract. */

type Effect = 'none' | 'again' | 'security' | 'people' | 'final' | 'odd';

interface Trouble {
  readonly name: string;
  /** What the contract makes of it; for an attempt where that differs. */
  readonly effect: Effect;
  readonly attempt?: Effect;
  readonly supplied?: Effect;
  /** The stage that it shows in. */
  readonly stage?: StageName;
  readonly record?: (stage: DecidedStage) => readonly DecidedStage[];
  readonly input?: Partial<DecisionInput>;
  /** It can happen beside another one. */
  readonly pairs?: boolean;
}

const check = (status: 'passed' | 'failed' | 'waiting', required = true) => [{ id: 'a', status, required }];
const failed = (stage: DecidedStage): readonly DecidedStage[] => [
  { ...stage, status: 'failed', expected: 1, ran: 1, checks: check('failed') },
];
const refused = (stage: DecidedStage): readonly DecidedStage[] => [
  { ...stage, status: 'failed', findings: [{ rule: 'sbom', severity: 'error', path: 'a' }] },
];
const waiting = (stage: DecidedStage): readonly DecidedStage[] => [
  { ...stage, status: 'waiting', expected: 1, ran: 1, checks: check('waiting') },
];

const troubles: readonly Trouble[] = [
  { name: 'nothing at all', effect: 'none' },
  {
    name: 'a warning',
    effect: 'none',
    pairs: true,
    input: { patchFindings: [{ rule: 'scope', severity: 'warning' }] },
  },
  {
    name: 'a failed check that is not required',
    effect: 'none',
    stage: 'fast',
    record: (stage) => [
      { ...stage, expected: 2, ran: 2, checks: [...stage.checks, ...check('failed', false)] },
    ],
  },
  {
    name: 'a worker that answers nothing',
    effect: 'again',
    supplied: 'odd',
    pairs: true,
    input: { worker: 'nothing' },
  },
  { name: 'a worker that answers no patch', effect: 'again', supplied: 'odd', input: { worker: 'failed' } },
  { name: 'a merge conflict', effect: 'again', pairs: true, input: { conflicts: ['src/a.ts'] } },
  {
    name: 'a path out of scope',
    effect: 'again',
    pairs: true,
    input: { patchFindings: [{ rule: 'scope', severity: 'error', path: 'x' }] },
  },
  {
    name: 'a direct execution',
    effect: 'again',
    input: { patchFindings: [{ rule: 'no-direct-eval', severity: 'error', path: 'x', line: 1 }] },
  },
  { name: 'a fast check that failed', effect: 'again', pairs: true, stage: 'fast', record: failed },
  { name: 'a rule that refused the fast stage', effect: 'again', stage: 'fast', record: refused },
  {
    name: 'an integration check that failed',
    effect: 'again',
    pairs: true,
    stage: 'integration',
    record: failed,
  },
  {
    name: 'a security check that failed',
    effect: 'security',
    pairs: true,
    stage: 'security',
    record: failed,
  },
  { name: 'a rule that refused the security stage', effect: 'security', stage: 'security', record: refused },
  {
    name: 'a security stage that failed and says no more',
    effect: 'security',
    stage: 'security',
    record: (stage) => [{ ...stage, status: 'failed' }],
  },
  { name: 'a release check that failed', effect: 'again', pairs: true, stage: 'release', record: failed },
  { name: 'a release check that waits', effect: 'people', pairs: true, stage: 'release', record: waiting },
  { name: 'a fast check that waits', effect: 'people', pairs: true, stage: 'fast', record: waiting },
  {
    name: 'a guard that refuses',
    effect: 'final',
    pairs: true,
    input: { refusals: [{ rule: 'plugin', severity: 'error' }] },
  },
  {
    name: 'no check at all',
    effect: 'final',
    attempt: 'none',
    stage: 'fast',
    record: (stage) => [{ ...stage, status: 'skipped', expected: 0, ran: 0, checks: [] }],
  },
  { name: 'a stage without a record', effect: 'final', pairs: true, stage: 'integration', record: () => [] },
  { name: 'a stage with two records', effect: 'final', stage: 'fast', record: (stage) => [stage, stage] },
  {
    name: 'a stage that passed and ran nothing',
    effect: 'final',
    stage: 'fast',
    record: (stage) => [{ ...stage, ran: 0, checks: [] }],
  },
  {
    name: 'a stage that skipped its check',
    effect: 'final',
    stage: 'fast',
    record: (stage) => [{ ...stage, status: 'skipped' }],
  },
  {
    name: 'a stage that passed although a check failed',
    effect: 'final',
    stage: 'fast',
    record: (stage) => [{ ...stage, checks: check('failed') }],
  },
  {
    name: 'a fast stage that nobody started',
    effect: 'final',
    stage: 'fast',
    record: (stage) => [{ ...stage, status: 'not-started', ran: 0, checks: [] }],
  },
];

interface Situation {
  readonly troubles: readonly Trouble[];
  readonly subject: 'attempt' | 'candidate';
  readonly source: 'supplied' | 'worker';
  readonly wallClock: 'left' | 'exceeded';
  readonly rejected: 'no' | 'yes';
  readonly human: 'not asked' | 'enough' | 'too few';
  readonly governing: 'left alone' | 'touched';
  readonly onSecurity: 'abandon' | 'go on';
  readonly checkpointBeforeReplan: 'yes' | 'no';
  readonly trigger: 'none' | 'not enabled' | 'enabled' | 'enabled, no replan left';
  readonly retries: 'left' | 'exhausted';
  readonly cost: 'near the cap' | 'over the cap';
  readonly sealing: 'not begun' | 'refuted' | 'provenance-failed' | 'swap-lost' | 'changed-under-us';
  readonly onProvenance: 'rollback' | 'swap';
}

/** First row that matches, as `type/next`. */
const answers: readonly (readonly [when: (s: Situation) => boolean, answer: string])[] = [
  [(s) => has(s, 'odd'), 'abandon/stop'],
  [(s) => s.subject === 'attempt' && s.sealing !== 'not begun', 'abandon/stop'],
  [(s) => s.sealing === 'refuted', 'rollback/stop'],
  [(s) => s.sealing === 'swap-lost', 'rollback/stop'],
  [(s) => s.sealing === 'changed-under-us', 'rollback/stop'],
  [(s) => s.wallClock === 'exceeded', 'abandon/stop'],
  [(s) => s.rejected === 'yes', 'abandon/stop'],
  [(s) => has(s, 'final'), 'abandon/stop'],
  [(s) => has(s, 'security') && s.onSecurity === 'abandon', 'abandon/stop'],
  // What is being sealed was decided to be committed: anything else that speaks against it now is no commit.
  [(s) => s.sealing !== 'not begun' && !isAccepted(s), 'abandon/stop'],
  [(s) => s.sealing !== 'not begun' && s.onProvenance === 'rollback', 'rollback/stop'],
  [(s) => s.sealing !== 'not begun', 'commit/swap'],
  [(s) => fires(s) && s.source === 'supplied', 'abandon/stop'],
  [(s) => s.trigger === 'enabled, no replan left', 'abandon/stop'],
  [(s) => fires(s) && s.cost === 'over the cap', 'checkpoint/wait-for-budget'],
  [(s) => fires(s) && s.checkpointBeforeReplan === 'yes', 'checkpoint/replan'],
  [(s) => fires(s), 'retry/replan'],
  [(s) => isFailed(s) && s.source === 'supplied', 'abandon/stop'],
  [(s) => isFailed(s) && s.retries === 'exhausted', 'abandon/stop'],
  [(s) => isFailed(s) && s.cost === 'over the cap', 'checkpoint/wait-for-budget'],
  [(s) => isFailed(s), 'retry/retry'],
  [(s) => s.cost === 'over the cap', 'checkpoint/wait-for-budget'],
  [(s) => lacksPeople(s), 'checkpoint/wait-for-approval'],
  [(s) => s.subject === 'attempt', 'checkpoint/merge'],
  [() => true, 'commit/seal'],
];

const effects = ({ troubles: all, subject, source }: Situation): readonly Effect[] =>
  all.map(
    (one) =>
      (source === 'supplied' ? one.supplied : undefined) ??
      (subject === 'attempt' ? one.attempt : undefined) ??
      one.effect,
  );
const has = (s: Situation, effect: Effect): boolean => effects(s).includes(effect);
const fires = ({ trigger }: Situation): boolean =>
  trigger === 'enabled' || trigger === 'enabled, no replan left';
const isFailed = (s: Situation): boolean => has(s, 'again') || has(s, 'security');
const lacksPeople = (s: Situation): boolean =>
  has(s, 'people') ||
  (s.subject === 'candidate' &&
    (s.human === 'too few' || (s.governing === 'touched' && s.human === 'not asked')));
const isAccepted = (s: Situation): boolean =>
  !fires(s) && !isFailed(s) && s.cost === 'near the cap' && !lacksPeople(s);

function expected(s: Situation): string {
  return answers.find(([when]) => when(s))?.[1] ?? 'none';
}

const humans = {
  'not asked': { required: false, needed: 2, approved: 0 },
  enough: { required: true, needed: 2, approved: 2 },
  'too few': { required: true, needed: 2, approved: 1 },
} as const;

const enabled: Readonly<Record<Situation['trigger'], readonly ReplanTrigger[]>> = {
  none: ['scope-creep', 'security-gate-fail'],
  'not enabled': ['scope-creep', 'security-gate-fail'],
  enabled: ['scope-creep', 'repeated-test-fail'],
  'enabled, no replan left': ['repeated-test-fail'],
};

function toInput(s: Situation): DecisionInput {
  const stages = s.troubles.reduce<readonly DecidedStage[]>(
    (all, { stage, record }) => all.flatMap((one) => (record && one.stage === stage ? record(one) : [one])),
    stageNames.map((name) => cleanStage(name, s)),
  );
  const input: DecisionInput = {
    schema: 'urn:writ:decision-input:v2',
    runId: 'run',
    specId: 'spec-0001',
    specDigest: 'd',
    baseCommit: null,
    policyCommit: null,
    patchDigest: 'p',
    candidateTree: 't',
    gateReportDigest: 'g',
    subject: s.subject,
    source: s.source,
    ...(s.source === 'worker' ? { worker: 'patch' } : {}),
    task: { id: 'task-1', attempt: s.retries === 'left' ? 3 : 4, maxRetries: 3 },
    conflicts: [],
    patchFindings: [],
    touchesGoverning: s.governing === 'touched',
    stages: later(stages),
    wallClock: { limitSeconds: 60, exceeded: s.wallClock === 'exceeded' },
    refusals: [],
    triggers: { enabled: enabled[s.trigger], fired: s.trigger === 'none' ? [] : ['repeated-test-fail'] },
    replans: { count: s.trigger === 'enabled, no replan left' ? 5 : 4, limit: 5 },
    cost: { limitUnits: 100, usedUnits: s.cost === 'over the cap' ? 101 : 95 },
    human: { ...humans[s.human], rejected: s.rejected === 'yes' ? 1 : 0 },
    citations: { needed: 0, trusted: true },
    policy: {
      abandonOnSecurityGateFail: s.onSecurity === 'abandon',
      checkpointBeforeReplan: s.checkpointBeforeReplan === 'yes',
      rollbackOnProvenanceFail: s.onProvenance === 'rollback',
    },
    ...(s.sealing === 'not begun' ? {} : { sealing: s.sealing }),
  };
  const more = s.troubles.map((one) => one.input ?? {});
  return Object.assign({}, input, ...more, { patchFindings: more.flatMap((one) => one.patchFindings ?? []) });
}

function cleanStage(stage: StageName, { subject }: Situation): DecidedStage {
  const clean = { stage, expected: 1, ran: 1, checks: check('passed'), findings: [] } as const;
  if (stage === 'fast') return { ...clean, status: 'passed' };
  if (subject === 'attempt') return { ...clean, status: 'not-started', ran: 0, checks: [] };
  return { ...clean, status: 'skipped', expected: 0, ran: 0, checks: [] };
}

/** After a stage that failed or waits, what nothing else is known of did not start. */
function later(stages: readonly DecidedStage[]): readonly DecidedStage[] {
  const stopped = stages.findIndex(({ status }) => status === 'failed' || status === 'waiting');
  return stages.map((one, at) =>
    stopped < 0 || at <= stopped || one.status !== 'skipped' || one.expected > 0
      ? one
      : { ...one, status: 'not-started', expected: 1 },
  );
}

type Dimensions = { readonly [Name in keyof Situation]: readonly Situation[Name][] };

function* situations(dimensions: Dimensions): Generator<Situation> {
  const names = Object.keys(dimensions) as (keyof Situation)[];
  const picks: Partial<Record<keyof Situation, unknown>> = {};
  function* pick(at: number): Generator<Situation> {
    const name = names[at];
    if (name === undefined) return void (yield { ...picks } as Situation);
    for (const value of dimensions[name]) {
      picks[name] = value;
      yield* pick(at + 1);
    }
  }
  yield* pick(0);
}

function compare(t: Test, dimensions: Dimensions, least: number): void {
  const wrong: string[] = [];
  const seen = new Map<string, number>();
  let count = 0;
  for (const situation of situations(dimensions)) {
    count += 1;
    const { type, next, reasons } = decide(toInput(situation));
    const answer = expected(situation);
    seen.set(answer, (seen.get(answer) ?? 0) + 1);
    const isSilent = answer === 'commit/seal' || answer === 'checkpoint/merge';
    if (`${type}/${next}` !== answer || (reasons.length === 0) !== isSilent) {
      const facts = { ...situation, troubles: situation.troubles.map(({ name }) => name) };
      wrong.push(
        `${JSON.stringify(facts)}: expected ${answer}, found ${type}/${next} (${reasons.join('; ')})`,
      );
    }
  }
  t.strictSame(wrong.slice(0, 5), [], `${wrong.length} of ${count} situations`);
  t.ok(count >= least, `${count} situations`);
  t.comment(JSON.stringify(Object.fromEntries(seen)));
}

const all: Dimensions = {
  troubles: troubles.map((one) => [one]),
  subject: ['attempt', 'candidate'],
  source: ['supplied', 'worker'],
  wallClock: ['left', 'exceeded'],
  rejected: ['no', 'yes'],
  human: ['not asked', 'enough', 'too few'],
  governing: ['left alone'],
  onSecurity: ['abandon', 'go on'],
  checkpointBeforeReplan: ['yes', 'no'],
  trigger: ['none', 'not enabled', 'enabled', 'enabled, no replan left'],
  retries: ['left', 'exhausted'],
  cost: ['near the cap', 'over the cap'],
  sealing: ['not begun'],
  onProvenance: ['rollback'],
};

long('`decide` matches the answer table for every problem under every policy and budget', async (t) =>
  compare(t, { ...all, wallClock: ['left'], rejected: ['no'] }, 19_000),
);

long('`decide` matches the answer table for every problem in expired or rejected runs', async (t) =>
  compare(
    t,
    { ...all, checkpointBeforeReplan: ['yes'], trigger: ['none', 'enabled'], retries: ['left'] },
    9_000,
  ),
);

t.test('a change to governing files needs two approvers whatever the spec requires', async (t) =>
  compare(
    t,
    {
      ...all,
      governing: ['touched'],
      wallClock: ['left'],
      rejected: ['no'],
      checkpointBeforeReplan: ['yes'],
    },
    9_000,
  ),
);

t.test('`decide` matches the answer table for pairs of problems', async (t) => {
  const pairable = troubles.filter(({ pairs }) => pairs);
  const pairs = pairable.flatMap((one, at) =>
    pairable
      .slice(at + 1)
      .filter((other) => one.stage === undefined || one.stage !== other.stage)
      .map((other) => [one, other]),
  );
  compare(
    t,
    {
      ...all,
      troubles: pairs,
      wallClock: ['left'],
      rejected: ['no'],
      human: ['not asked'],
      checkpointBeforeReplan: ['yes'],
    },
    8_000,
  );
});

long('`decide` matches the answer table for each sealing failure', async (t) => {
  const sealing = {
    ...all,
    human: ['not asked', 'too few'],
    checkpointBeforeReplan: ['yes'],
    retries: ['left'],
    trigger: ['none', 'enabled'],
    sealing: ['refuted', 'provenance-failed', 'swap-lost', 'changed-under-us'],
    onProvenance: ['rollback', 'swap'],
  } as const satisfies Dimensions;
  compare(t, { ...sealing, subject: ['candidate'], onSecurity: ['go on'] }, 9_000);
  compare(t, { ...sealing, subject: ['attempt'], troubles: [troubles.slice(0, 1)] }, 350);
});
