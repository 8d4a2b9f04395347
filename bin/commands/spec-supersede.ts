import { lifecycleActor, namedIntent, toLifecycleData } from '../../api/intent/lifecycle.ts';
import { supersedeIntent } from '../../engine/intent/close-intent.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';

/** `writ spec supersede OLD NEW`: active → deprecated; each of the two intents records the other's id. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const [oldName = '', newName = ''] = context.args;
  const old = await namedIntent(context, engine, repository, oldName);
  const next = await namedIntent(context, engine, repository, newName);
  const history = await supersedeIntent(old, next, await lifecycleActor(repository));
  return succeeded({ ...toLifecycleData(history), superseded_by: next.specId }, (printer) =>
    printer.line(`${history.specId} is ${history.status}, superseded by ${next.specId}`),
  );
}
