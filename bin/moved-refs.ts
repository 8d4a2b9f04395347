import { WritError } from '../core/base/errors.ts';
import { isRefused } from '../core/upkeep/move-outcome.ts';
import type { Moved } from '../core/upkeep/push-refs.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from './command.ts';
import { styled } from './print.ts';

/** What `push` and `fetch` answer: every ref and what became of it; exit 1 where one should have moved and did not. */
export function toMovedResult({ remote, refs }: Moved): CommandResult {
  const data = { remote, refs };
  const human = (printer: CommandContext['print']): void => {
    const changed = refs.filter(({ status }) => status !== 'current');
    if (changed.length === 0) printer.line(`up to date with ${remote} (${refs.length} refs)`);
    printer.table(
      changed.map((ref) => [styled(isRefused(ref) ? 'red' : 'green', ref.status), ref.ref, ref.reason ?? '']),
    );
  };
  const stuck = refs.filter(isRefused);
  if (stuck.length === 0) return succeeded(data, human);
  return refused(
    new WritError('REFS_REFUSED', {
      message: `${stuck.length} of ${refs.length} refs could not be moved, first \`${stuck[0]?.ref}\` (${stuck[0]?.status})`,
      detail: { refs: stuck.slice(0, 20) },
    }),
    data,
    human,
  );
}
