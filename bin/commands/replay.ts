import { replayData } from '../../api/run/replay-data.ts';
import { WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';

/** `writ replay RUN`: decides again from the stored inputs; exit 0 byte-equal, 1 with the first difference. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const data = await replayData(context, context.args[0] ?? '');
  if (data.first_difference === undefined) {
    return succeeded({ ...data }, (printer) =>
      printer.line(`the stored inputs lead to the stored decision: ${data.decision?.type}, byte for byte`),
    );
  }
  const { file, field, expected, found } = data.first_difference;
  const fault = new WritError('REPLAY_DIFFERS', {
    message: `\`${file}${field}\`: expected ${expected}, found ${found}`,
    detail: { run_id: data.run_id, file, field, expected, found },
  });
  return refused(fault, { ...data }, (printer) => printer.line(fault.message));
}
