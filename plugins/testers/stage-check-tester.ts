/* Tests the promises of a stage check. */
import assert from 'node:assert/strict';
import { messageOf } from '../../core/base/errors.ts';
import type {
  ArtifactFacts,
  CheckFacts,
  StageCheck,
  StageCheckInput,
  StandingFinding,
} from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { StageName } from '../../core/interfaces/stage.ts';
import { parseFindings } from '../../core/kernel/answer.ts';
import { type ServedModel, serveModel } from './provider-tester.ts';
import { type CaseRunner, type DeepPartial, type Promises, runCases, sampleSpecWith } from './run-cases.ts';
import { type CaseFile, toPatchSet } from './tiny-diff.ts';

/** A check of the gate stages to be tested. */
export interface StageCheckSubject {
  readonly check: StageCheck;
  /** At least one that passes, and one that is refused. */
  readonly cases: readonly StageCheckCase[];
  /** Redirects the check's requests to a server on this loopback port. Absent: the check sends no requests. */
  readonly leadTo?: (port: number) => void;
  /** Values that the check receives, and that no answer may contain. */
  readonly secrets?: readonly string[];
}

/**
 * Runs a stage check through the promises of every stage check, with recorded answers of its service. Rejects with an
 * AssertionError that names the broken promise.
 */
export async function stageCheckTester(
  runner: CaseRunner | undefined,
  subject: StageCheckSubject,
): Promise<void> {
  await runCases(runner, 'stage check', subject.check.name, promisesOf(subject));
}

const isRefused = (findings: readonly Pick<Finding, 'severity'>[]): boolean =>
  findings.some(({ severity }) => severity === 'error');

function promisesOf(subject: StageCheckSubject): Promises {
  const { check, cases } = subject;
  const passes = cases.filter(({ expect }) => !expect.some(({ severity }) => severity === 'error'));
  const passing = (): StageCheckCase => {
    const [found] = passes;
    assert.ok(found, 'expected a case that passes');
    return found;
  };
  const asking = passes.filter(({ answer }) => answer !== undefined);
  return {
    'there is a case that passes, and one that is refused': async () => {
      passing();
      assert.ok(passes.length < cases.length, 'expected a case that is refused: one with an `error`');
    },
    ...Object.fromEntries(
      cases.map((one) => [
        `\`${one.name}\` is evaluated as it says, and the same way twice`,
        async () => {
          await using server = await serve(subject, answering(one));
          const found = await judge(subject, one);
          requireFindings(one, found);
          const [asked] = server.asked;
          if (one.wire?.path !== undefined) assert.equal(asked?.path, one.wire.path);
          if (one.wire?.body !== undefined) assert.partialDeepStrictEqual(asked?.body, one.wire.body);
          assert.deepEqual(await judge(subject, one), found, 'asked twice, it answered twice differently');
        },
      ]),
    ),
    'at each of its stages it answers': async () => {
      assert.ok(check.stages.length > 0, 'expected a stage');
      const one = passing();
      for (const stage of check.stages) {
        await using _server = await serve(subject, answering(one));
        await judge(subject, { ...one, stage });
      }
    },
    ...(subject.leadTo === undefined
      ? {}
      : {
          'without an answer, or with a failure, it does not pass': async () => {
            assert.ok(
              asking.length > 0,
              'expected a case that passes and has an `answer`: it declares hosts',
            );
            for (const one of asking)
              for (const [how, answer] of Object.entries(outages)) {
                await using server = await serve(subject, answer);
                const found = await judge(subject, one).catch((fault: unknown) => fault);
                // A case without a request is not affected by the outage.
                if (server.asked.length === 0) continue;
                assert.ok(
                  !Array.isArray(found) || isRefused(found as readonly Finding[]),
                  `\`${one.name}\`, ${how}: expected an \`error\` or a failure, got a pass`,
                );
              }
          },
        }),
    'the caller can stop it': async () => {
      const stop = new AbortController();
      const one = asking[0] ?? passing();
      await using _server = await serve(subject, () => stop.abort(new Error('stopped')));
      if (asking.length === 0 || subject.leadTo === undefined) stop.abort(new Error('stopped'));
      const fault = await judge(subject, one, stop.signal).then(
        () => assert.fail('expected no answer'),
        (thrown: unknown) => thrown,
      );
      assert.equal(messageOf(fault), 'stopped');
    },
    'questions that are asked at once have each their own answer': async () => {
      const one = passing();
      await using _server = await serve(subject, answering(one));
      for (const found of await Promise.all([1, 2, 3].map(() => judge(subject, one))))
        requireFindings(one, found);
    },
  };
}

type Answer = Parameters<typeof serveModel>[0];

/** Ways in which a service gives no answer. */
const outages: Readonly<Record<string, Answer>> = {
  'the connection dropped': (response) => void response.destroy(),
  'a failure of the server': (response) => {
    response.writeHead(503, { 'content-type': 'application/json' });
    response.end('{}');
  },
  'an answer without words': (response) => void response.end(),
};

async function serve({ leadTo }: StageCheckSubject, answer: Answer): Promise<ServedModel> {
  const server = await serveModel(answer);
  leadTo?.(server.port);
  return server;
}

function answering({ answer = {} }: StageCheckCase): Answer {
  return (response) => {
    const { status = 200, headers, json, text } = answer;
    response.writeHead(status, {
      'content-type': json === undefined ? 'text/plain' : 'application/json',
      ...headers,
    });
    response.end(text ?? (json === undefined ? '' : JSON.stringify(json)));
  };
}

/** Runs the check as a run does: it must not change its input, and its output is validated. */
async function judge(
  { check, secrets = [] }: StageCheckSubject,
  one: StageCheckCase,
  signal = AbortSignal.timeout(60_000),
): Promise<readonly Finding[]> {
  const input = toStageCheckInput(check, one);
  const before = JSON.stringify(input);
  const told = parseFindings(await check.judge(input, signal));
  assert.equal(JSON.stringify(input), before, 'expected what it is handed to stay as it was');
  for (const { rule } of told) assert.equal(rule, check.name, 'expected findings in its own name');
  const text = JSON.stringify(told);
  assert.ok(!secrets.some((secret) => text.includes(secret)), 'expected findings without its secrets');
  return told;
}

function requireFindings({ expect }: StageCheckCase, found: readonly Finding[]): void {
  const shown = found.map((one) => `\n  ${JSON.stringify(one)}`).join('') || '\n  (none)';
  assert.equal(
    found.length,
    expect.length,
    `expected ${expect.length} finding(s), got ${found.length}:${shown}`,
  );
  for (const [index, wanted] of expect.entries())
    assert.partialDeepStrictEqual(found[index], wanted, `finding ${index + 1} is another:${shown}`);
}

/** The state at a gate, the answer of the service, and the expected findings. */
export interface StageCheckCase {
  readonly name: string;
  /** Default: the first stage of the check. */
  readonly stage?: StageName;
  readonly spec?: DeepPartial<EffectiveIntentSpec>;
  readonly files?: Readonly<Record<string, CaseFile>>;
  /** Fields that are not named are those of a required command that passed. */
  readonly checks?: readonly Partial<CheckFacts>[];
  readonly findings?: readonly StandingFinding[];
  readonly artifacts?: readonly ArtifactFacts[];
  /** The answer to every request. Absent if the check sends none. */
  readonly answer?: {
    /** Default 200. */
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly json?: unknown;
    readonly text?: string;
  };
  /** Path and body of the first question, as far as they are named. */
  readonly wire?: { readonly path?: string; readonly body?: unknown };
  /** None: it passes. */
  readonly expect: readonly Partial<Omit<Finding, 'rule'>>[];
}

/** The input of the check in this case. */
export function toStageCheckInput(
  check: StageCheck,
  one: Omit<StageCheckCase, 'name' | 'expect'>,
): StageCheckInput {
  const { digest, baseCommit, baseTree, candidateTree, files, diff } = toPatchSet(one.files ?? {});
  const stage = one.stage ?? check.stages[0] ?? 'release';
  const { findings = [], artifacts = [], checks = [] } = one;
  const text = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength).toString('utf8');
  return {
    runId: '01890a5d-ac96-774b-bcce-b302099a8057',
    stage,
    spec: sampleSpecWith(one.spec ?? {}),
    patch: {
      digest,
      ...(baseCommit === undefined ? {} : { baseCommit }),
      baseTree,
      candidateTree,
      files: files.map(({ start: _start, end: _end, ...file }) => file),
      ...(check.readsDiff ? { diff: text } : {}),
    },
    checks: checks.map((given, index) => ({ ...passed, id: `check-${index + 1}`, stage, ...given })),
    findings,
    omittedFindings: 0,
    artifacts,
  };
}

const passed: Omit<CheckFacts, 'id' | 'stage'> = {
  kind: 'command',
  status: 'passed',
  required: true,
  command: 'true',
  expectedExitCode: 0,
  exitCode: 0,
  timedOut: false,
};
