import { intentOfFile, lifecycleActor, toLifecycleData } from '../../api/intent/lifecycle.ts';
import { activateIntent } from '../../engine/intent/close-intent.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';

/** `writ spec activate F`: draft → active, as an event; the file stays as it is. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const { store, contract } = await intentOfFile(context, engine, repository, context.args[0] ?? '');
  const history = await activateIntent(store, contract, await lifecycleActor(repository));
  return succeeded(toLifecycleData(history), (printer) =>
    printer.line(`${history.specId} is ${history.status}, as the document ${contract.digest}`),
  );
}
