/* The first record of a run's journal, and the run's private directory. */
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import { authorshipShape, type GateReport, gateReportProblems } from '../../store/record/gate-report.ts';
import {
  fields,
  flag,
  gitObject,
  listOf,
  oneOf,
  orNull,
  type Shape,
  sha256Text,
  type TypeOf,
  text,
  wholeNumber,
} from '../../store/shape.ts';
import { isRefName } from '../../workspace/git/ref-name.ts';
import { adviceShape } from '../plan/plan-advice.ts';
import { localShape, wordingShape } from '../state/commit-wording.ts';
import type { Landing } from '../state/policies.ts';
import { spentShape } from '../state/spent.ts';
import { ownerFile } from './stale-run-files.ts';

const reportShape: Shape<GateReport> = {
  check: (value, path, problems) =>
    void problems.push(...gateReportProblems(value).map((one) => `${path}${one}`)),
};

export const startedShape = fields(
  {
    runId: text,
    threadId: text,
    startedAtMs: wholeNumber,
    source: oneOf('patch', 'range', 'worker'),
    /**
     * Fixed at the start: the branch on which `resume` is run does not matter. `expected`: the commit that the branch
     * must have at the swap, `null` for a new branch.
     */
    target: fields({ ref: text, expected: orNull(gitObject) }),
    /** The commit that supplies `.writ/`; `ref`: the branch it is the tip of. */
    policy: fields({ commit: orNull(gitObject), tree: gitObject }, { ref: text }),
    wording: wordingShape,
    /** The parent of the sealed commit. */
    base: fields({ commit: orNull(gitObject), tree: gitObject }),
    /** Authors as the change itself named them on arrival, otherwise the person who submitted it. */
    authorship: authorshipShape,
    sandbox: text,
    /** The report that `show` prints before any rule or check ran. */
    report: reportShape,
  },
  {
    /** When the run restarted from an unverified journal; its wall clock counts from here. */
    anewAtMs: wholeNumber,
    /** Who does the work, by name in slot `worker`; absent in records from before there were several. */
    worker: text,
    /** Time of the sealed commit, fixed so that its id is known before the checks end; absent: when it is sealed. */
    commitAtMs: wholeNumber,
    /** `--onto`, as it was given. */
    onto: text,
    /** The sealed commit replaces the tip of the target, and its parent is the parent of that tip. */
    replaces: flag,
    /** The change is only evaluated; nothing of the run is kept. */
    evaluatesOnly: flag,
    /** Where the change started, if that is behind the policy commit. */
    lag: fields({ from: gitObject, commits: wholeNumber }),
    /** Present if the policy is neither the target's nor the default branch's. */
    foreign: fields({ defaultRef: orNull(text) }),
    /** For a range, its tip: authors and committers up to here may not approve. */
    tip: gitObject,
    /** The candidate of a supplied patch, or of a worker's run that restarted with its candidate. */
    candidate: fields({ tree: gitObject, digest: sha256Text }),
    /** Warnings given before the run began that its work may be useless, each prefixed with its code. */
    lacking: listOf(text),
    /** Model usage of drafting the spec, if a model drafted it. */
    drafting: spentShape,
    /** How its Tasks are to be done, where a person confirmed that before. */
    advice: listOf(adviceShape),
    /** Why the run that this one repairs was refused. */
    failedBefore: text,
    local: localShape,
  },
);

/** The first record of a run's journal: the request, resolved once. */
export type StartedRun = TypeOf<typeof startedShape>;

/** Target, policy and base as the record holds them. */
export function startedLanding({
  target,
  policy,
  base,
  replaces,
  lag,
  foreign,
}: Landing): Pick<StartedRun, 'target' | 'policy' | 'base' | 'replaces' | 'lag' | 'foreign'> {
  return {
    target: { ref: target.ref, expected: target.expected ?? null },
    policy: { ...policy, commit: policy.commit ?? null },
    base: { commit: base.commit ?? null, tree: base.tree },
    ...(replaces === undefined ? {} : { replaces }),
    ...(lag === undefined ? {} : { lag }),
    ...(foreign === undefined ? {} : { foreign }),
  };
}

/** Type of the record. */
export const startedType = 'run-started';

/**
 * The first record; `undefined` for a journal that holds none: its process was stopped before the run began.
 * JOURNAL_CORRUPT.
 */
export function startedRun(records: readonly JournalRecord[]): StartedRun | undefined {
  const record = records[0];
  if (record === undefined) return undefined;
  if (record.type !== startedType) {
    throw new WritError('JOURNAL_CORRUPT', {
      message: `the journal begins with \`${record.type}\`, expected \`${startedType}\``,
      detail: { expected: startedType, found: record.type },
    });
  }
  const problems: string[] = [];
  startedShape.check(record.data, '', problems);
  if (problems.length === 0) problems.push(...contradictions(record.data as StartedRun));
  if (problems.length === 0) return record.data as StartedRun;
  throw new WritError('JOURNAL_CORRUPT', {
    message: `the journal of the run is damaged at its start: ${problems[0]}`,
    detail: { problems },
  });
}

/**
 * If the target exists, its tip must be both the policy commit and the base. If the sealed commit replaces that tip,
 * the base must be the policy commit.
 */
function contradictions({ target, policy, base, replaces }: StartedRun): readonly string[] {
  if (!target.ref.startsWith('refs/heads/') || !isRefName(target.ref))
    return ['/target/ref: expected the full name of a branch'];
  if (replaces)
    return target.expected !== null && policy.commit === base.commit && policy.tree === base.tree
      ? []
      : ['/replaces: expected an existing target, and its parent as base and policy'];
  if (target.expected === null) return [];
  return [
    ...(policy.commit === target.expected && policy.ref === target.ref
      ? []
      : ['/policy: expected the tip of the target']),
    ...(base.commit === target.expected ? [] : ['/base: expected the tip of the target']),
  ];
}

/** Where the workspaces of a run are: found again by a later process of the same user on the same machine. */
export function privateRootOf(runId: string): string {
  return join(tmpdir(), `writ-run-${runId}`);
}

/**
 * Creates the directory with mode 0700, or reuses it. Throws WORKSPACE_UNSAFE if the path is a symlink, a file,
 * another user's directory, or open to other users.
 */
export async function openPrivateRoot(runId: string, commonDir: string): Promise<string> {
  const path = privateRootOf(runId);
  await mkdir(path, { mode: 0o700 }).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EEXIST') throw fault;
  });
  const found = await lstat(path);
  const own = process.getuid === undefined || found.uid === process.getuid();
  if (found.isDirectory() && own && (found.mode & 0o077) === 0) {
    await writeFile(join(path, ownerFile), commonDir, { mode: 0o600 });
    return path;
  }
  throw new WritError('WORKSPACE_UNSAFE', {
    message: `expected \`${path}\` to be a directory that only you can enter`,
    detail: { path },
    hints: ['remove it, or set `TMPDIR` to a directory that only you can write'],
  });
}

/** In a run's directory: what its worker is made again from. */
export const workerFile = 'worker.json';
