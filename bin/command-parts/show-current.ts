import { lifecycleMarkdown, type ShownLifecycle, toLifecycleData } from '../../api/intent/lifecycle.ts';
import { namedIntent } from '../../api/intent/open-intent.ts';
import { unknownIntent } from '../../engine/intent/append-intent-events.ts';
import { readIntentHistory } from '../../engine/intent/intent-history.ts';
import { requireSameMetadata } from '../../engine/intent/require-same-metadata.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from './command.ts';
import { openEngine } from './open-engine.ts';

/** What has become of an intent; of a file that was never recorded, what the file says. INTENT_NOT_FOUND. */
export async function showCurrent(context: CommandContext, named: string): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  await using engine = await openEngine(context);
  const { store, specId, contract } = await namedIntent(context, engine, repository, named);
  if (contract) await requireSameMetadata(store, contract);
  const history = await readIntentHistory(store, specId);
  const shown: ShownLifecycle | undefined =
    history ?? (contract && { specId, digest: contract.digest, ...contract.document.lifecycle, events: [] });
  if (!shown) throw unknownIntent(specId);
  const markdown = lifecycleMarkdown(shown);
  return succeeded({ path: named, ...toLifecycleData(shown), markdown }, (printer) => printer.text(markdown));
}
