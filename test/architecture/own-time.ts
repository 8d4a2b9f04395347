import type { HouseRule } from './rule-kinds.ts';

/** Where tests wait: until something holds, to look on while nothing may happen, for an instant of a kill. */
const waits = 'test/waiting/';
/** Timers and sleeps, in code without strings; time-outs that are methods (`t.setTimeout`) are deadlines. */
const ownTime = /(?<!\.)\bset(?:Timeout|Interval)\b|\bAtomics\.wait\b|[cC]lock\.sleep\b/;
/** Clocks that measure. `Date.now` makes inputs, such as ids and times of expiry. */
const stopwatch = /\bperformance\.now\b|\bprocess\.(?:cpuUsage|hrtime|resourceUsage|uptime)\b/;
const chance = /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b/;

/** Files of tests that keep time themselves, and why no wait of `test/waiting/` is it. */
export const keepsTime: Readonly<Record<string, string>> = {
  'test/attack/confinement/left-behind.test.ts': 'measures how long the event loop stood still, and memory',
  'test/attack/confinement/limits.test.ts': 'ends a look-out early when something is found',
  'test/bin/start-writ.ts': 'gives up on a process that says nothing for minutes',
  'test/agent/codex/run-with-codex.test.ts': 'its clock skips short waits and sleeps the long one',
  'test/core/kernel/hook.test.ts': 'its clock sleeps longer than the deadline of a tap',
  'test/core/kernel/worker/rules/leaves.ts': 'a rule that leaves a timer running',
  'test/engine/stuck-run.ts': 'a worker that never ends',
  'test/engine/work/backoff.test.ts': 'its clock counts who sleeps',
  'test/workspace/egress/client.ts': 'gives up on a connection on which nothing comes',
  'test/workspace/egress/egress-proxy.test.ts':
    'talks steadily to a connection that is to be cut all the same',
  'test/workspace/process/spawn.test.ts': 'measures memory while a process is at work',
  'test/gates/checks/test-suite.test.ts': 'counts turns of the event loop while a thread is at work',
  'test/kill/kill-run.ts':
    'gives up on a run that does not end; what an ended one has printed is on its way for an instant',
  'test/plugins/redaction/plugin.test.ts': 'counts turns of the event loop while a thread is at work',
  'test/plugins/sandbox/sandbox-tester.ts': 'gives up on a command that goes on after its end, and kills it',
  'test/plugins/store/store-writer.ts': 'a write that hangs',
  'test/session/work/goal-stops.test.ts': 'its clock skips short waits and sleeps the long one',
  'test/session/work/goal.test.ts': 'its clock skips short waits and sleeps the long one',
  'test/session/work/hasty-clock.ts': 'a clock that skips short waits and sleeps the long one',
  'test/session/conform/play-script.ts': 'its clock skips short waits and sleeps the long one',
  'test/service/docs.test.ts': 'types a command again until it prints what the page says',
  'test/service/hostile/exchange.ts':
    'sends octet by octet, and gives up on a server that neither answers nor ends',
  'test/service/hostile/open-steward.ts': 'gives up on an event that does not come',
  'test/service/hostile/swap-links.ts': 'a thread that blocks, between two states of a directory',
  'test/service/kill/instance.ts': 'gives up on a service that neither serves nor ends',
};

/** Files of tests that read a stopwatch, and for what; none compares it with a limit. */
const readsStopwatch: Readonly<Record<string, string>> = {
  'test/workspace/git/killed.test.ts': 'spreads the instants of kills over a whole run',
  'test/kill/kill-run.ts': 'spreads the instants of kills over a whole run',
  'test/session/tui/slow-line.ts': 'delays what goes through it',
  'test/compatibility/old-state.ts': 'passes the start of the process on',
  'test/service/kill/instance.ts': 'reports how long a start took',
};

/** The rules of test files: no timers of their own, no stopwatch, no random values without a seed. */
export const testRules: readonly HouseRule[] = [
  clockRule({
    name: 'tests wait by `test/waiting/` only',
    pattern: ownTime,
    excepted: keepsTime,
    fault: `sets a timer or sleeps: wait with \`${waits}\`, or say why not`,
    needless: 'keeps no time',
  }),
  clockRule({
    name: 'no clock decides a test',
    pattern: stopwatch,
    excepted: readsStopwatch,
    fault: 'reads a stopwatch: count work (`test/work/`), or measure in `bench/`',
    needless: 'reads no stopwatch',
  }),
  {
    name: 'what tests leave to chance has a seed',
    check: ({ files }) => {
      const tests = files.filter(({ path }) => path.startsWith('test/'));
      return {
        matched: tests.length,
        violations: tests
          .filter(({ code }) => chance.test(code))
          .map(({ path }) => `${path} draws without a seed: \`test/chance/\``),
      };
    },
  },
];

interface ClockRule {
  readonly name: string;
  readonly pattern: RegExp;
  /** Files that the pattern may match, with the reason. */
  readonly excepted: Readonly<Record<string, string>>;
  readonly fault: string;
  /** Of an excepted file that the pattern does not match. */
  readonly needless: string;
}

/** Files of tests outside of `test/waiting/` match the pattern only if they are excepted. */
function clockRule({ name, pattern, excepted, fault, needless }: ClockRule): HouseRule {
  return {
    name,
    check: ({ files }) => {
      const tests = files.filter(({ path }) => path.startsWith('test/') && !path.startsWith(waits));
      const found = tests.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
      const isUnused = (path: string): boolean =>
        tests.some((file) => file.path === path) && !found.includes(path);
      return {
        matched: files.filter(({ path, code }) => path.startsWith(waits) && pattern.test(code)).length,
        violations: [
          ...found.filter((path) => excepted[path] === undefined).map((path) => `${path} ${fault}`),
          ...Object.keys(excepted)
            .filter(isUnused)
            .map((path) => `${path} is excepted and ${needless}`),
        ],
      };
    },
  };
}
