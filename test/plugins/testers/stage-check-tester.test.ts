import t from 'tap';
import type { StageCheckInput } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import { type StageCheckCase, type StageCheckSubject, stageCheckTester } from '../../../testing.ts';

/* A stage check in this process, as a program that embeds the engine has one, and what the suite says of broken ones. */

let port = 0;
let turn = 0;

async function look(signal: AbortSignal): Promise<{ readonly open?: boolean }> {
  const response = await fetch(`http://127.0.0.1:${port}/calendar`, { signal });
  if (!response.ok) throw new Error(`the calendar answered ${response.status}`);
  return (await response.json()) as { readonly open?: boolean };
}

type Judge = (input: StageCheckInput, signal: AbortSignal) => Promise<readonly Finding[]>;

const closed: Finding = { rule: 'calendar', severity: 'error', message: 'nothing is released today' };
const sound: Judge = async (input, signal) => {
  if (input.checks.some(({ status }) => status === 'failed')) return [closed];
  return (await look(signal)).open === true ? [] : [closed];
};
const cases: readonly StageCheckCase[] = [
  { name: 'a day of releases', answer: { json: { open: true } }, wire: { path: '/calendar' }, expect: [] },
  { name: 'another day', answer: { json: {} }, expect: [{ severity: 'error' }] },
  { name: 'a failed check', checks: [{ status: 'failed' }], expect: [{ severity: 'error' }] },
];
const subject = (judge: Judge, more: Partial<StageCheckSubject> = {}): StageCheckSubject => ({
  check: { name: 'calendar', plugin: 'days', stages: ['security', 'release'], readsDiff: false, judge },
  cases: cases.slice(0, 2),
  leadTo: (at) => {
    port = at;
  },
  ...more,
});

t.test('a correct stage check passes the stage check tester', (t) => stageCheckTester(t, subject(sound)));

const broken: Readonly<
  Record<string, readonly [judge: Judge, found: RegExp, more?: Partial<StageCheckSubject>]>
> = {
  'passes what cannot be known': [
    (input, signal) => sound(input, signal).catch((fault) => (signal.aborted ? Promise.reject(fault) : [])),
    /without an answer.*expected an `error` or a failure, got a pass/,
  ],
  'is not the same twice': [
    async (input, signal) => {
      turn += 1;
      return (await sound(input, signal)).map((one) => ({ ...one, message: `no ${turn}` }));
    },
    /asked twice/,
  ],
  'changes what it is handed': [
    async (input, signal) => {
      (input.checks as unknown[]).push({});
      return sound(input, signal);
    },
    /to stay as it was/,
  ],
  'does not let itself be stopped': [
    async () => (await look(AbortSignal.timeout(5000)).catch(() => ({ open: true }))) && [],
    /got 0|expected no answer|got a pass/,
  ],
  'stands at a stage that it does not know': [
    async (input, signal) => {
      if (input.stage === 'release') throw new Error('release?');
      return sound(input, signal);
    },
    /at each of its stages.*release\?/,
  ],
  'tells its secret': [
    async (input, signal) => (await sound(input, signal)).map((one) => ({ ...one, message: 'canary-0123' })),
    /without its secrets/,
    { secrets: ['canary-0123'] },
  ],
  'speaks for another': [
    async (input, signal) => (await sound(input, signal)).map((one) => ({ ...one, rule: 'secrets' })),
    /in its own name/,
  ],
  'answers in no form': [
    async () => [{ severity: 'fine' }] as unknown as readonly Finding[],
    /unknown|expected `/,
  ],
  'has no case that is refused': [sound, /expected a case that is refused/, { cases: cases.slice(0, 1) }],
  'has no case that passes': [sound, /expected a case that passes/, { cases: cases.slice(1) }],
  'asks a host that no case is about': [
    async ({ checks }, signal) => {
      signal.throwIfAborted();
      return checks.length > 0 ? [closed] : [];
    },
    /has an `answer`/,
    { cases: [{ name: 'fine', expect: [] }, ...cases.slice(2)] },
  ],
};

for (const [what, [judge, found, more]] of Object.entries(broken))
  t.test(`the tester rejects a stage check that ${what}`, async (t) => {
    await t.rejects(stageCheckTester(undefined, subject(judge, more)), {
      name: 'AssertionError',
      message: found,
    });
  });
