import { type Line, span } from '../../screen/line.ts';
import type { ListedGrant } from '../../screen/session-door.ts';
import { visible } from '../../screen/visible.ts';

/** What is pre-approved, numbered as `/approvals revoke N` takes it. */
export function approvalLines(grants: readonly ListedGrant[]): readonly Line[] {
  if (grants.length === 0) return [[span('  nothing is pre-approved', 'dim')]];
  return grants.map(
    ({ kind, what, cwd, secondsLeft }, at): Line => [
      span(`  ${at + 1}  `, 'accent'),
      span(visible(what), 'code'),
      span(`  ${visible(kind)} in ${visible(cwd)}`, 'dim'),
      span(secondsLeft === undefined ? '  until writ ends' : `  ${secondsLeft} s left`, 'warn'),
    ],
  );
}

/** The grants that a word names: one by its number or id, or all of them. */
export function pickGrants(grants: readonly ListedGrant[], which: string): readonly ListedGrant[] {
  if (which === 'all') return grants;
  return grants.filter(({ id }, at) => id === which || `${at + 1}` === which);
}
