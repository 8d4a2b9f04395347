import { cancelRun } from '../../api/run/cancel-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { systemClock } from '../../core/base/clock.ts';
import { cancelDraft, findWaitingDraft } from '../../engine/draft/waiting-drafts.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';
import { printRun } from '../report/human.ts';
import { toResult } from './run.ts';

/**
 * `writ cancel RUN`: ends a run in Decision.Abandon, wherever it stands; exit 0 where that is what it came to. A draft
 * that waits is taken away.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const draft = await findWaitingDraft(context.stores, repository, systemClock, wanted);
  if (draft !== undefined) {
    await cancelDraft(repository, draft);
    return succeeded({ run_id: draft, state: 'cancelled' }, (printer) =>
      printer.line(`draft ${draft}: cancelled; nothing of it is left`),
    );
  }
  const view = await cancelRun({
    ...context,
    run: wanted,
    reason: context.options.value('reason') ?? 'no reason given',
    openEngine: () => openEngine(context, { ephemeralKey: true }),
  });
  if (view.decision?.type !== 'abandon') return toResult(view, context.print);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}
