import { statSync } from 'node:fs';
import { canonicalDigest } from '../../../core/base/canonical.ts';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../../core/interfaces/patch-set.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import type { Attempt } from '../../state/open-run.ts';
import { isBelow } from '../../state/open-scanners.ts';
import { vouchedCacheOf } from '../vouched-cache.ts';
import type { JudgedTree } from './judged-tree.ts';
import { digestOf, type KeptFootprints, openKeptFootprints } from './kept-footprints.ts';

/** Footprints that runs of this repository left on this machine. */
export async function keptFootprintsOf(attempt: Pick<Attempt, 'ground' | 'means'>): Promise<KeptFootprints> {
  return openKeptFootprints(await vouchedCacheOf(attempt, { folder: 'footprints', voucher: 'footprint' }));
}

/**
 * Digest of everything that a footprint depends on. It covers the command, the sandbox, this machine's programs, the
 * inputs of `prepare` and of shared directories, and the verification inputs. Product files are not included.
 */
export async function footprintKey(
  { ground, identity }: Pick<Attempt, 'ground' | 'identity'>,
  { entries, reach, judges }: JudgedTree,
  { kind, command = '', expectedExitCode }: EffectiveCheck,
): Promise<string> {
  const { workspace, checks } = ground.config;
  const inputs = untrackedInputs(workspace);
  const { verificationPlan } = identity.contract.effective.acceptance;
  const others = Object.values(verificationPlan)
    .flat()
    .map((one) => one.command ?? '');
  return canonicalDigest([
    'writ-footprint-v3',
    [kind, command, expectedExitCode],
    // Later checks see the carried paths of earlier ones.
    workspace.carry.length > 0 ? [...workspace.carry, ...others] : [],
    ...machineState(ground, reach),
    JSON.stringify([workspace.prepare, workspace.share, [...checks.reports]]),
    digestOf(entries.filter(({ path }) => isBelow(path, inputs))),
    judges,
  ]);
}

/** The sandbox and the programs of this machine. */
export function machineState(
  { sandbox }: Pick<Attempt['ground'], 'sandbox'>,
  { programs }: JudgedTree['reach'],
): readonly (readonly unknown[])[] {
  return [
    [sandbox.name, process.platform, process.arch, process.version, process.env.PATH ?? ''],
    programs.map(programState),
  ];
}

/** Paths of the tree from which untracked directories are built, or that define their content. */
export function untrackedInputs({
  lockfile,
  prepare,
}: Attempt['ground']['config']['workspace']): readonly string[] {
  return [lockfile, ...prepare.flatMap((step) => [step.lockfile, ...step.inputs])];
}

/** Whether a patch changes one of these paths, or something below it. */
export function isTouched({ files }: Pick<PatchSet, 'files'>, places: readonly string[]): boolean {
  return files.some(({ path, oldPath = path }) => isBelow(path, places) || isBelow(oldPath, places));
}

/** An upgrade changes size or time of a program. */
function programState(name: string): readonly (string | number)[] {
  const path = /^[\w.+-]+$/.test(name) ? findProgram(name, process.env.PATH ?? '') : undefined;
  const status = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return [name, path ?? '', status?.size ?? 0, Math.trunc(status?.mtimeMs ?? 0)];
}
