import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { CheckRecord } from '../../../core/interfaces/stage.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';

/** A command check of a contract. */
export interface SceneCheck {
  readonly id: string;
  readonly command: string;
  readonly [more: string]: Json;
}

/** Checks by stage. */
export type SceneChecks = Partial<
  Record<'fast' | 'integration' | 'security' | 'release', readonly SceneCheck[]>
>;

const programs = [
  'node',
  'sh',
  'git',
  'cat',
  'test',
  'true',
  'ls',
  'touch',
  'mkdir',
  'ln',
  'rm',
  'echo',
  'sleep',
];

/** A repository with these files at its base, and the contract's checks that its candidate is judged by. */
export function sceneOf(t: Test, files: Readonly<Record<string, string>>): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(sample.root, path)), { recursive: true });
    writeFileSync(join(sample.root, path), content);
  }
  if (Object.keys(files).length > 0) {
    sample.git('add', '--all', '--force');
    sample.git('commit', '--quiet', '-m', 'The scene');
  }
  return sample;
}

/** The contract of a refactoring of `src/` with these checks, which may call the programs that attacks need. */
export function specOf(checks: SceneChecks, more: Record<string, Json> = {}): Json {
  const listed = (stage: keyof SceneChecks): Json =>
    (checks[stage] ?? []).map((check) => ({ kind: 'command', required: true, timeoutSeconds: 60, ...check }));
  return {
    intent: { changeType: 'refactor' },
    acceptance: {
      verificationPlan: {
        fastChecks: listed('fast'),
        integrationChecks: listed('integration'),
        securityChecks: listed('security'),
        releaseChecks: listed('release'),
      },
    },
    security: {
      toolAcl: {
        allow: [
          { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: programs } },
        ],
      },
    },
    artifacts: {
      required: [
        { name: 'patchset', stage: 'per-task', required: true },
        { name: 'test-log', stage: 'per-task', required: true },
      ],
    },
    ...more,
  };
}

/** A change that nobody can object to. */
export const harmless = {
  kind: 'patch',
  bytes: Buffer.from(
    'diff --git a/src/note.js b/src/note.js\nnew file mode 100644\n--- /dev/null\n+++ b/src/note.js\n@@ -0,0 +1 @@\n+export const note = 1;\n',
  ),
} as const;

/** Takes the harmless change through these checks. */
export function judge(
  sample: Sample,
  checks: SceneChecks,
  more: Record<string, Json> = {},
): Promise<RunView> {
  return sample.run({ source: harmless }, specOf(checks, more));
}

/** The records of a run by the ids of their checks. */
export function byId(view: RunView): Readonly<Record<string, CheckRecord>> {
  return Object.fromEntries(view.stages.flatMap(({ checks }) => checks).map((check) => [check.id, check]));
}

/**
 * What a check printed, out of the artifacts of its run; the check claims a `test-log` or is the only one of its stage.
 */
export function logOf(sample: Sample, { contentRef = '' }: RunView): string {
  const { stdout } = spawnSync('git', ['ls-tree', '-r', '--name-only', contentRef], {
    cwd: sample.root,
    encoding: 'utf8',
  });
  return stdout
    .split('\n')
    .filter((path) => path.includes('test-log'))
    .map((path) => sample.git('cat-file', 'blob', `${contentRef}:${path}`))
    .join('\n');
}
