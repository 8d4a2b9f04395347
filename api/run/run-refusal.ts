import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { toVerdict } from './verdict.ts';

/**
 * Why the answer of a run is not yes: abandoned, rolled back, waiting, or a record that says nothing; `undefined` for a
 * commit.
 */
export function runRefusal(view: RunView): WritError | undefined {
  const type = view.decision?.type;
  if (type === 'commit') return undefined;
  if (type === undefined) return undecided(view);
  const code =
    type === 'rollback'
      ? 'DECISION_ROLLBACK'
      : type === 'checkpoint'
        ? 'DECISION_WAITING'
        : 'DECISION_ABANDON';
  return new WritError(code, {
    message: toVerdict(view).sentence,
    detail: { run_id: view.runId },
    ...(type === 'checkpoint' ? { hints: [howToGoOn(view)] } : {}),
  });
}

/** With the run's own id: nobody is told of `RUN` beside it. */
function howToGoOn(view: RunView): string {
  const { runId, waiting } = view;
  if (waiting?.for === 'budget') return `grant more with \`writ resume ${runId} --more-cost-units N\``;
  const [first] = toVerdict(view).next;
  return first?.line === `writ resume ${runId}`
    ? `go on with \`${first.line}\``
    : `sign it with \`writ approve ${runId}\`, then go on with \`writ resume ${runId}\``;
}

/** The run went as far as it could, and yet its record says nothing of it: that is damage, not an answer. */
function undecided({ runId, state }: RunView): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the record of run \`${runId}\` is incomplete: it holds no decision and nothing to wait with`,
    detail: { run_id: runId, state },
  });
}
