/* Runs a third-party scanner over base and candidate. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import type { CheckOutcome, ScanContext } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { ScanRecord } from '../../core/interfaces/scanner.ts';
import type { ArtifactRecord, StageName } from '../../core/interfaces/stage.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { type TreeLeaf, writeTree } from '../../workspace/git/write-tree.ts';
import type { Attempt } from '../state/open-run.ts';
import { isBelow, type OpenScanner } from '../state/open-scanners.ts';
import type { OpeningWorkspace, WorkspaceSide } from './open-workspace.ts';
import { leavesJudging } from './second-run/policy-inputs.ts';
import { vouchedCacheOf } from './workspace-dependencies/shared-directory.ts';

/** Names of the reports among the artifacts of the check. */
const artifactNames = { base: 'scan-base', candidate: 'scan-report' } as const;

/** A tree that a scanner runs in. */
interface ScannedTree {
  readonly tree: string;
  readonly side: WorkspaceSide;
}

/** Where a scanner runs: both trees have its rule files as the policy commit has them. */
export interface ScannedTrees {
  readonly scanner: OpenScanner;
  readonly candidate: ScannedTree;
  /** The candidate with the check's verification inputs from the policy commit; set if they differ. */
  readonly judged?: ScannedTree;
  /** Absent without a base commit. */
  readonly base?: ScannedTree;
}

/** The trees that a scanner runs in; `undefined` for a check that is none. */
export async function scannedTrees(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  { id }: Pick<EffectiveCheck, 'id'>,
): Promise<ScannedTrees | undefined> {
  const scanner = attempt.environment.scanners.byCheck.get(id);
  if (scanner === undefined) return undefined;
  const { baseTree, baseCommit, candidateTree } = attempt.patch;
  const judge = leavesJudging(attempt) ? await workspace.policyJudge() : undefined;
  const scannedTree = async (from: string, side: WorkspaceSide, like?: 'base'): Promise<ScannedTree> => {
    const tree = await layRules(attempt, scanner, from);
    return { tree, side: tree === from ? side : workspace.over(tree, like) };
  };
  return {
    scanner,
    candidate: await scannedTree(candidateTree, workspace),
    ...(judge?.judges(id) ? { judged: await scannedTree(judge.tree, workspace.over(judge.tree)) } : {}),
    ...(baseCommit === undefined ? {} : { base: await scannedTree(baseTree, workspace.base, 'base') }),
  };
}

/**
 * Returns the errors of a scan with the policy commit's verification inputs that the scan of the unmodified candidate
 * lacks.
 */
export function refusedByPolicy(
  { findings }: Pick<CheckOutcome, 'findings'>,
  byPolicy: Pick<CheckOutcome, 'findings'>,
): readonly Finding[] {
  const keyOf = ({ path, detail }: Finding): string => JSON.stringify([path, detail?.code, detail?.id]);
  const known = new Set(findings.filter(({ severity }) => severity === 'error').map(keyOf));
  return byPolicy.findings
    .filter((one) => one.severity === 'error' && !known.has(keyOf(one)))
    .map((one) => ({
      ...one,
      message: `${one.message} (with the verification inputs of the policy commit)`,
    }));
}

async function layRules(
  { services: { scratch } }: Pick<Attempt, 'services'>,
  { config, ruleEntries }: OpenScanner,
  tree: string,
): Promise<string> {
  if (config.ruleFiles.length === 0) return tree;
  const leaves = new Map<string, TreeLeaf>();
  for (const { path } of await listTree(scratch, tree))
    if (isBelow(path, config.ruleFiles)) leaves.set(path, undefined);
  for (const { path, mode, object } of ruleEntries) leaves.set(path, { mode, object });
  return writeTree({ from: scratch, to: scratch }, leaves, tree);
}

/** What the evaluation of a scan may use. */
export function scanContext(
  attempt: Attempt,
  { scanner, candidate, base }: ScannedTrees,
  runAtBase: (side: WorkspaceSide) => ReturnType<ScanContext['runAtBase']>,
): ScanContext {
  const { environment, identity, services } = attempt;
  const { config, inputs } = scanner;
  const cache = () => vouchedCacheOf(attempt, { folder: 'scans', voucher: 'scan' });
  const { workspace, checks } = environment.config;
  const key = canonicalDigest([
    'writ-scan-v1',
    base?.tree ?? '',
    [...config.argv],
    [config.format, config.report, [...config.exitCodes], config.timeoutSeconds],
    inputs.map(({ path, sha256 }) => [path, sha256]),
    [environment.sandbox.name, process.platform, process.arch],
    JSON.stringify([workspace.prepare, workspace.share, workspace.history, checks.maxMemoryMb]),
  ]);
  return {
    rules: config,
    nowMs: identity.startedAtMs,
    keptAtBase: async () => {
      const text = base && (await (await cache()).find(key));
      return text === undefined ? undefined : Buffer.from(text);
    },
    runAtBase: () => base && runAtBase(base.side),
    keepAtBase: async (report) => (await cache()).keep(key, Buffer.from(report).toString('utf8')),
    read: async (side, path) => {
      const scanned = { base, candidate }[side];
      return scanned && readBlob(services.scratch, scanned.tree, path, maxFileBytes).catch(() => undefined);
    },
  };
}

const maxFileBytes = 16 * 1024 * 1024;

/** The exit code that was expected of a scanner: of several, the one that it ended with. */
export function finishedCode(
  { scanner: { config } }: ScannedTrees,
  { expectedExitCode }: Pick<EffectiveCheck, 'expectedExitCode'>,
  { exitCode }: Pick<SandboxResult, 'exitCode'> = {},
): number {
  const [first = expectedExitCode] = config.exitCodes;
  return exitCode !== undefined && config.exitCodes.includes(exitCode) ? exitCode : first;
}

/** Keeps both reports of a scan, and answers what the record of the check holds. */
export async function keepScan(
  { box }: Pick<Attempt, 'box'>,
  { scanner: { config, inputs } }: ScannedTrees,
  check: { readonly stage: StageName; readonly checkId: string },
  { scan }: Pick<CheckOutcome, 'scan'>,
): Promise<{ readonly record: ScanRecord; readonly artifacts: readonly ArtifactRecord[] } | undefined> {
  if (scan === undefined) return undefined;
  const { contentType, extension, tool, version, results, supplies } = scan;
  const artifacts: ArtifactRecord[] = [];
  const reports: { base?: string; candidate?: string } = {};
  for (const side of ['candidate', 'base'] as const) {
    const bytes = scan[side];
    if (bytes === undefined) continue;
    const added = await box.add({ ...check, name: artifactNames[side], bytes, contentType, extension });
    artifacts.push(added);
    reports[side] = added.sha256;
  }
  const record = {
    name: config.name,
    format: config.format,
    ...(tool === undefined ? {} : { tool }),
    ...(version === undefined ? {} : { version }),
    inputs,
    reports,
    results,
    ...(supplies === undefined ? {} : { supplies }),
  };
  return { record, artifacts };
}
