import { nearestName } from '../../../core/base/nearest-name.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { WritConfig } from '../../config/config.ts';
import { checksOf } from '../../spec/checks-of.ts';

/** Code of the warning. */
export const checkUnknownCode = 'CHECK_UNKNOWN';

const most = 8;

/**
 * Warnings on tables `[checks.<id>]` of the configuration whose id no check of the run has, without their code: nothing
 * reads them, and where an id was mistyped its check goes without. One configuration serves many contracts, so this is
 * never more than a warning. Pure.
 */
export function checksWithoutUse(
  spec: EffectiveIntentSpec,
  { checks: { reports } }: Pick<WritConfig, 'checks'>,
): readonly string[] {
  const known = new Set(checksOf(spec).flatMap(({ check }) => check.id ?? []));
  const unused = [...reports.keys()].filter((id) => !known.has(id));
  const told = unused.slice(0, most).map((id) => {
    const near = nearestName(id, known);
    const meant = near === undefined ? '' : `; the nearest is \`${near}\``;
    return `\`[checks.${toKey(id)}]\` in \`.writ/config.toml\` at the policy commit expected a check of that id, found none in this run${meant}`;
  });
  return unused.length > most
    ? [...told, `and ${unused.length - most} more tables of checks that this run has not`]
    : told;
}

/** As TOML writes it. */
function toKey(id: string): string {
  return /^[\w-]+$/.test(id) ? id : JSON.stringify(id);
}
