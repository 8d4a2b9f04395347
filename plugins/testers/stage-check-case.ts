import type { Finding } from '../../core/contract/finding.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { StageName } from '../../core/contract/stage.ts';
import type {
  ArtifactFacts,
  CheckFacts,
  StageCheck,
  StageCheckInput,
  StandingFinding,
} from '../../core/contract/stage-check.ts';
import { type DeepPartial, sampleSpecWith } from './sample-spec.ts';
import { type CaseFile, toPatchSet } from './tiny-diff.ts';

/** What stands at a gate, what the service that is asked answers, and what has to come of it. */
export interface StageCheckCase {
  readonly name: string;
  /** Default: the first that the check stands at. */
  readonly stage?: StageName;
  readonly spec?: DeepPartial<EffectiveIntentSpec>;
  readonly files?: Readonly<Record<string, CaseFile>>;
  /** Fields that are not named are those of a required command that passed. */
  readonly checks?: readonly Partial<CheckFacts>[];
  readonly findings?: readonly StandingFinding[];
  readonly artifacts?: readonly ArtifactFacts[];
  /** To every question; absent where the check asks nobody. */
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

/** What the check is handed in this case. */
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
