import { printable } from '../../../core/base/printable.ts';
import type { TaskUndoing } from '../../../engine/run/draft/task-undoing.ts';

/** Why one Task of a run is not taken back, in words. */
export function whyNotTask(
  runId: string,
  task: string,
  found: Exclude<TaskUndoing, { readonly kind: 'patch' }>,
): string {
  const whole = `\`/undo ${runId}\` takes all of it back`;
  switch (found.kind) {
    case 'unchanged':
      return `task \`${task}\` has changed nothing in the commit of run ${runId}`;
    case 'nothing':
      return `nothing of task \`${task}\` of run ${runId} is left to be taken back`;
    case 'untold':
      return `the tasks of run ${runId} are one commit, and its record does not say what each of them changed: ${whole}`;
    case 'gone':
      return `what each task of run ${runId} changed is not kept any more: ${whole}`;
    case 'refuted':
      return `what the record of run ${runId} says of its tasks does not bear its commit (${printable(found.why)}), and no task of it is taken back: \`/verify ${runId}\``;
    case 'built-upon': {
      const [last] = found.tasks.slice(-1);
      const by = last === undefined ? '' : ` (${listed(found.tasks)})`;
      // One after the other, the last one first, they can be taken back, too.
      const first =
        last === undefined ? '' : `take that back first (\`/undo ${runId} ${printable(last)}\`), or `;
      return `changed since by later tasks of run ${runId}${by}, and not taken back: ${listed(found.paths)}; ${first}${whole}`;
    }
  }
}

const maxListed = 10;

/** Names, the first of them. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).map((name) => `\`${printable(name)}\``);
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : '';
  return `${shown.join(', ')}${more}`;
}
