import type { Finding } from '../../../core/interfaces/finding.ts';
import type { CarriedPath, CheckCarry, WrittenOutside } from '../../../core/interfaces/stage.ts';
import type { Attempt } from '../../state/open-run.ts';
import type { CheckWatch } from '../check-time.ts';
import type { OpenWorkspace, WorkspaceSide } from '../open-workspace.ts';
import { rewrittenFindings } from '../rewritten-files.ts';
import { writtenOutside } from '../written-outside.ts';
import { carryFindings } from './carry-findings.ts';

/** What passes through the worlds of one check: filled by whoever opens them. */
export interface Passing {
  carried?: CheckCarry;
  /** What its command wrote outside the contract's scope, the last time it ran. */
  wroteOutside?: WrittenOutside | undefined;
  /** What of it could not be handed on, and why; tracked files that were written. */
  readonly findings: Finding[];
  /** Takes its time. */
  readonly watch: Pick<CheckWatch, 'making' | 'running'>;
}

/**
 * Acts in a world of its own, which is gone afterwards, looks whether its tracked files are what they were, and takes
 * what stands at the carried paths where the command ran and somebody comes after it.
 */
export async function inWorld<T extends { readonly result?: unknown }>(
  { identity: { scope }, means: { signal }, ground }: Pick<Attempt, 'identity' | 'means' | 'ground'>,
  side: WorkspaceSide,
  from: {
    readonly received: readonly CarriedPath[];
    readonly handsOn: boolean;
    readonly tellsWrites: boolean;
  },
  passing: Passing,
  act: (world: OpenWorkspace) => Promise<T>,
): Promise<T> {
  // A check that runs its command twice hands on from the first to the second.
  const received = passing.carried?.handedOn ?? from.received;
  const world = await passing.watch.making(() => side.open(received));
  try {
    const ran = await act(world);
    if (ran.result === undefined || signal.aborted) return ran;
    const changed = await world.changed();
    const rewritten = rewrittenFindings(changed, ground.config.workspace.rewrites);
    if (from.tellsWrites) passing.wroteOutside = await writtenOutside(await world.place(), changed, scope);
    const told = new Set(passing.findings.map(({ message }) => message));
    passing.findings.push(...rewritten.filter(({ message }) => !told.has(message)));
    const isCarrying = ground.config.workspace.carry.length > 0 && from.handsOn;
    if (!isCarrying) return ran;
    const { carried, refused } = await world.handOn();
    passing.carried = { received, handedOn: carried };
    passing.findings.push(...carryFindings(world.tracked, refused));
    return ran;
  } finally {
    await world.close();
  }
}
