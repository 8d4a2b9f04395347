import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { Actor, Check, IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { PatchFile } from '../../../core/contract/patch-set.ts';

/** What a contract that takes a run back is made of. */
export interface UndoWords {
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly createdBy: Actor;
  readonly baseRef: string;
  readonly runId: string;
  /** Where one Task of several is taken back. */
  readonly task?: string;
  /** Of the patch that takes it back. */
  readonly files: readonly Pick<PatchFile, 'path' | 'oldPath' | 'changeType'>[];
}

const maxSummary = 256;
/** Objectives that name files: tests that go in any other are refused. */
const maxNamed = 500;

/**
 * The contract of a run, for taking back what it committed: the same scope, checks and policy, under an id of its own.
 * Its objectives name the files in which something is removed, tests too (resolutions, Tests are kept); checks that
 * name a file that goes are not asked, as long as another fast one is left. INTENTSPEC_MALFORMED.
 */
export function undoContract(specBytes: Uint8Array, words: UndoWords): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as IntentSpec;
  const { metadata, intent, acceptance, artifacts, lifecycle } = document;
  const { id, createdAt, createdBy, baseRef, runId, task, files } = words;
  const who = task === undefined ? `run ${runId}` : `task ${task} of run ${runId}`;
  const gone = files.filter(({ changeType }) => changeType === 'delete').map(({ path }) => path);
  const dropped = namingOf(acceptance.verificationPlan.fastChecks, gone);
  const isBare = acceptance.verificationPlan.fastChecks.every((check) => dropped.includes(check));
  const keeps = (check: Check): boolean => isBare || namingOf([check], gone).length === 0;
  const { verificationPlan: plan } = acceptance;
  const left = {
    ...plan,
    fastChecks: plan.fastChecks.filter(keeps),
    ...(plan.integrationChecks && { integrationChecks: plan.integrationChecks.filter(keeps) }),
    ...(plan.securityChecks && { securityChecks: plan.securityChecks.filter(keeps) }),
    ...(plan.releaseChecks && { releaseChecks: plan.releaseChecks.filter(keeps) }),
  };
  const lost = lostArtifacts(plan, left);
  const changed = {
    ...document,
    metadata: { ...metadata, id, createdAt, createdBy, target: { ...metadata.target, baseRef } },
    intent: {
      ...intent,
      summary: `Undo${task === undefined ? '' : ` ${task}`}: ${intent.summary}`
        .slice(0, maxSummary)
        .toWellFormed(),
      problemStatement: `What ${who} committed is not wanted: ${intent.summary}`,
      changeType: 'unknown',
      objectives: [
        `what ${who} changed is as it was before it`,
        ...files
          .slice(0, maxNamed)
          .flatMap(({ path, oldPath }) => [path, ...(oldPath === undefined ? [] : [oldPath])])
          .map((path) => `remove what it added to ${path}`.slice(0, 2000)),
      ],
      touchHints: {},
    },
    acceptance: {
      ...acceptance,
      successCriteria: [`what ${who} changed is as it was before it`],
      verificationPlan: left,
    },
    // A contract of its own, confirmed by whoever takes back: the one that it is made of may have been active as given.
    lifecycle: { ...lifecycle, status: 'draft' },
    ...(artifacts === undefined
      ? {}
      : {
          artifacts: {
            ...artifacts,
            required: artifacts.required.filter(({ name }) => !lost.has(name)),
          },
        }),
  };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}

/** Checks whose command names a file that goes. */
function namingOf(checks: readonly Check[], gone: readonly string[]): readonly Check[] {
  return checks.filter(({ command = '' }) => gone.some((path) => isNamed(path, command)));
}

/** As a whole, and as a file: whoever chose its name did not choose which checks are asked. */
function isNamed(path: string, command: string): boolean {
  if (!/[./]/.test(path)) return false;
  for (let at = command.indexOf(path); at >= 0; at = command.indexOf(path, at + 1)) {
    const [before, after] = [command.slice(Math.max(0, at - 3), at), command.slice(at + path.length)];
    if (/(?:^|[^\p{L}\p{N}_./-])(?:\.\/)?$/u.test(before) && !/^[\p{L}\p{N}_./-]/u.test(after)) return true;
  }
  return false;
}

type Plan = IntentSpec['acceptance']['verificationPlan'];

/** What only checks that are left out would have delivered. */
function lostArtifacts(before: Plan, after: Plan): ReadonlySet<string> {
  const made = (plan: Plan): readonly string[] =>
    Object.values(plan).flatMap((checks: readonly Check[] = []) =>
      checks.flatMap(({ artifactsProduced = [] }) => artifactsProduced),
    );
  const left = new Set(made(after));
  return new Set(made(before).filter((name) => !left.has(name)));
}
