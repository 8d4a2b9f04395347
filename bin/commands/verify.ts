import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import type { Anchors } from '../../attest/verify/anchors.ts';
import { parseCommit } from '../../attest/verify/git-commit.ts';
import { type GivenAnchors, loadAnchors } from '../../attest/verify/load-anchors.ts';
import { type VerifyCheck, type VerifyReport, verifyExitCode } from '../../attest/verify/report.ts';
import { verifyRun } from '../../attest/verify/verify-run.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { findRun } from '../../core/run/find-runs.ts';
import { readRun } from '../../core/run/read-run.ts';
import type { RunStore } from '../../core/run/run-store.ts';
import { readObjects } from '../../core/vcs/blobs.ts';
import { keepObjectReaders } from '../../core/vcs/object-reader.ts';
import { openRepository, type Repository } from '../../core/vcs/repository.ts';
import { resolveCommit } from '../../core/vcs/resolve-commit.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command.ts';
import { gitEvidence } from '../git-evidence.ts';
import { printVerification, type VerifiedTarget } from '../report/verification.ts';

/** `writ verify TARGET…`: commits or runs, offline. Exit 0 all verified · 1 a claim is refuted · 3 nothing to verify by. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const given = { keyFiles: context.options.values('key'), ledgerKeys: context.options.values('ledger-key') };
  return toResult(await verifyTargets(context, context.args, given));
}

/** Verifies commits and runs of the context's repository, by the user's own anchors and those given. */
export async function verifyTargets(
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>,
  targets: readonly string[],
  given: GivenAnchors = { keyFiles: [], ledgerKeys: [] },
): Promise<readonly VerifiedTarget[]> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const anchors = await loadAnchors(given, context.env);
  const verified: VerifiedTarget[] = [];
  for (const target of targets) verified.push(await verifyTarget(context, repository, anchors, target));
  return verified;
}

/** What was found, as the command's result; the worst target decides the exit code. */
export function toResult(verified: readonly VerifiedTarget[]): CommandResult {
  const reports = verified.map(({ report }) => report);
  const data = {
    verified: reports.length > 0 && reports.every((report) => report.verified),
    checks: verified.flatMap(({ target, report }) =>
      report.checks.map((check) => (verified.length > 1 ? { ...check, target } : { ...check })),
    ),
    expected: reports.reduce((sum, report) => sum + report.expected, 0),
    ran: reports.reduce((sum, report) => sum + report.ran, 0),
    targets: verified.map(({ target, runId, commit, report }) => ({
      target,
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(commit === undefined ? {} : { commit_sha: commit }),
      verified: report.verified,
    })),
  };
  const human = (printer: CommandContext['print']): void => {
    for (const one of verified) printVerification(printer, one);
  };
  const codes = reports.map(verifyExitCode);
  if (codes.every((code) => code === 0) && data.verified) return succeeded(data, human);
  const failing = reports
    .flatMap((report) => report.checks)
    .find(({ status }) => status !== 'passed' && status !== 'expired');
  const code = codes.includes(1) ? 'VERIFY_REFUTED' : 'VERIFY_NOTHING';
  const hints =
    failing?.code === 'untrusted-signer'
      ? [
          `if you trust this signer, get the key from them and give it: \`--key FILE\` (key id ${String(failing.detail?.key_id ?? '')})`,
        ]
      : [];
  const message = failing ? describe(failing) : 'nothing was verified';
  return refused(
    new WritError(code, {
      message,
      detail: { ...(failing ? { check: failing.id, code: failing.code, ...failing.detail } : {}) },
      hints,
    }),
    data,
    human,
  );
}

/** One sentence; a status and a code of the same word are said once. */
function describe({ id, status, code, detail }: VerifyCheck): string {
  const reason = typeof detail?.reason === 'string' ? detail.reason : undefined;
  const facts = [code === status ? undefined : code, reason].filter((fact) => fact !== undefined);
  return [`\`${id}\` ${status}`, ...facts].join(': ');
}

async function verifyTarget(
  context: Pick<CommandContext, 'env'>,
  repository: Repository,
  anchors: Anchors,
  target: string,
): Promise<VerifiedTarget> {
  const found = (await findByRun(repository, target)) ?? (await findByCommit(repository, target));
  const { runId, commit, store } = found;
  const source =
    store && runId !== undefined && commit !== undefined
      ? await gitEvidence(repository, store, runId, commit)
      : undefined;
  const named = {
    target,
    ...(runId === undefined ? {} : { runId }),
    ...(commit === undefined ? {} : { commit }),
  };
  if (!source) return { ...named, report: nothingThere(found.reason) };
  const report = await verifyRun(source, anchors, {
    clock: systemClock,
    memory: userCheckpointMemory(context.env),
    ...(runId === undefined ? {} : { runId }),
  });
  return { ...named, report };
}

interface Found {
  readonly runId?: string;
  readonly commit?: string;
  readonly store?: RunStore;
  /** What is missing where something is. */
  readonly reason: string;
}

async function findByRun(repository: Repository, target: string): Promise<Found | undefined> {
  try {
    const { store, runId } = await findRun(repository, systemClock, target);
    const { decision } = await readRun(repository, store, runId);
    return {
      runId,
      store,
      reason: 'the run has no commit',
      ...(decision?.commitSha === undefined ? {} : { commit: decision.commitSha }),
    };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return undefined;
    throw fault;
  }
}

async function findByCommit(repository: Repository, target: string): Promise<Found> {
  const commit = await resolveCommit(repository, target);
  const [object] = await readObjects(repository, [commit]);
  const [runId, ...more] = object ? (parseCommit(object.bytes)?.trailer('Run-Id') ?? []) : [];
  if (runId === undefined || more.length > 0) return { commit, reason: 'the commit names no run' };
  try {
    return { commit, reason: '', ...(await findRun(repository, systemClock, runId)) };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND'))
      return { commit, runId, reason: 'the run that the commit names is not in this repository' };
    throw fault;
  }
}

/** A target without evidence was not verified: one expected check, none ran. */
function nothingThere(reason: string): VerifyReport {
  return {
    verified: false,
    checks: [{ id: 'bundle', status: 'missing', code: 'missing', detail: { reason } }],
    expected: 1,
    ran: 0,
  };
}
