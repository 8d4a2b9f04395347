import { lifecycleActor, namedIntent, toLifecycleData } from '../../api/intent/lifecycle.ts';
import { WritError } from '../../core/base/errors.ts';
import { closeIntent } from '../../engine/intent/close-intent.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';

/** Characters of a reason (document 1, changeLog[].reason). */
const maxReason = 2000;

/** `writ spec close ID`: draft or active → closed by a person, as an event. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const reason = context.options.value('reason') ?? 'closed by a person';
  if (reason.length === 0 || reason.length > maxReason || reason.includes('\0')) {
    throw new WritError('USAGE', {
      message: `expected a reason of 1 to ${maxReason} characters, found ${reason.length}`,
      detail: { option: 'reason', length: reason.length },
    });
  }
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const intent = await namedIntent(context, engine, repository, context.args[0] ?? '');
  const history = await closeIntent(intent, reason, await lifecycleActor(repository));
  return succeeded(toLifecycleData(history), (printer) =>
    printer.line(`${history.specId} is ${history.status}`),
  );
}
