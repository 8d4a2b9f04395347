/* Runs a check in a workspace of its own and takes over its carried paths. */
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { CarriedPath, CheckCarry, WrittenOutside } from '../../../core/interfaces/stage.ts';
import type { Attempt } from '../../state/open-run.ts';
import type { CheckWatch } from '../check-watch.ts';
import type { OpenWorkspace, WorkspaceSide } from '../open-workspace.ts';
import { rewrittenFindings, writtenOutside } from '../written-outside.ts';
import { carryLimits, type HandedOn, type TrackedCarry } from './carry-store.ts';

/** State shared by the workspaces of one check; the code that opens them fills it. */
export interface Passing {
  carried?: CheckCarry;
  /** Files that its command wrote outside the spec's scope in its last run. */
  wroteOutside?: WrittenOutside | undefined;
  /** Carried paths that were refused, and why; tracked files that were written. */
  readonly findings: Finding[];
  /** Measures its time. */
  readonly watch: Pick<CheckWatch, 'making' | 'running'>;
}

/**
 * Runs `act` in a separate workspace, which is deleted afterwards. It checks the tracked files for changes. If the
 * command ran and a later check needs its output, it copies the carried paths.
 */
export async function inWorkspace<T extends { readonly result?: unknown }>(
  {
    identity: { scope },
    services: { signal },
    environment,
  }: Pick<Attempt, 'identity' | 'services' | 'environment'>,
  side: WorkspaceSide,
  from: {
    readonly received: readonly CarriedPath[];
    readonly handsOn: boolean;
    readonly tellsWrites: boolean;
  },
  passing: Passing,
  act: (world: OpenWorkspace) => Promise<T>,
): Promise<T> {
  // If a check runs its command twice, the first run's output carries over to the second.
  const received = passing.carried?.handedOn ?? from.received;
  const world = await passing.watch.making(() => side.open(received));
  try {
    const ran = await act(world);
    if (ran.result === undefined || signal.aborted) return ran;
    const isUntouched = await world.isUntouched();
    const changed = isUntouched ? [] : await world.changed();
    const rewritten = rewrittenFindings(changed, environment.config.workspace.rewrites);
    if (from.tellsWrites)
      passing.wroteOutside = isUntouched
        ? undefined
        : await writtenOutside(await world.place(), changed, scope);
    const told = new Set(passing.findings.map(({ message }) => message));
    passing.findings.push(...rewritten.filter(({ message }) => !told.has(message)));
    const isCarrying = environment.config.workspace.carry.length > 0 && from.handsOn;
    if (!isCarrying) return ran;
    const { carried, refused } = await world.handOn();
    passing.carried = { received, handedOn: carried };
    passing.findings.push(...carryFindings(world.tracked, refused));
    return ran;
  } finally {
    await world.close();
  }
}

/**
 * Returns why a check with carried paths fails. If the candidate tracks a carried path, later checks would use
 * content that was never committed. Pure.
 */
export function carryFindings(
  tracked: readonly TrackedCarry[],
  refused: HandedOn['refused'],
): readonly Finding[] {
  return [
    ...tracked.map(({ path, tracked: found }) =>
      finding(
        'CARRY_TRACKED',
        path,
        `\`[workspace] carry\` names \`${path}\`, where the tree tracks \`${found}\``,
      ),
    ),
    ...refused.map(({ path, reason }) =>
      finding(
        'CARRY_REFUSED',
        path,
        `expected at \`${path}\`, which \`[workspace] carry\` names, only files, directories and links within the workspace, at most ${carryLimits.entries} entries and ${carryLimits.bytes} bytes, found: ${reason}; let the check leave something else there, or name less in \`carry\` at the policy commit`,
      ),
    ),
  ];
}

function finding(code: string, path: string, message: string): Finding {
  return { rule: 'check-outcome', severity: 'error', message, detail: { code, path } };
}
