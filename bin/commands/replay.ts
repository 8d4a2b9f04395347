import { WritError } from '../../core/base/errors.ts';
import { replayRun } from '../../core/upkeep/replay-run.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command.ts';
import { openRun } from '../open-run.ts';

/** `writ replay RUN`: decides again from the stored inputs; exit 0 byte-equal, 1 with the first difference. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { store, view } = await openRun(context, context.args[0] ?? '');
  const { objects, refs } = store;
  const paths = (await objects.list(refs.run(view.runId))).map(({ path }) => path);
  if (!paths.includes('decision-record.json')) {
    throw new WritError('RUN_UNDECIDED', { detail: { run_id: view.runId, state: view.state } });
  }
  const replay = replayRun(await objects.readMany(refs.run(view.runId), paths));
  const { equal, decision, firstDifference } = replay;
  const data = {
    run_id: view.runId,
    equal,
    ...(decision === undefined
      ? {}
      : { decision: { type: decision.type, rationale: decision.rationale, reasons: decision.reasons } }),
    ...(firstDifference === undefined ? {} : { first_difference: firstDifference }),
  };
  if (equal) {
    return succeeded(data, (printer) =>
      printer.line(`the stored inputs lead to the stored decision: ${decision?.type}, byte for byte`),
    );
  }
  const { file, field, expected, found } = firstDifference ?? {
    file: '',
    field: '',
    expected: '',
    found: '',
  };
  const fault = new WritError('REPLAY_DIFFERS', {
    message: `\`${file}${field}\`: expected ${expected}, found ${found}`,
    detail: { run_id: view.runId, file, field, expected, found },
  });
  return refused(fault, data, (printer) => printer.line(fault.message));
}
