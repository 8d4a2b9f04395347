import { toRunsData } from '../../api/run/verdict.ts';
import { systemClock } from '../../core/base/clock.ts';
import { listWaitingDrafts } from '../../engine/draft/waiting-drafts.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { styled } from '../terminal/print.ts';

/** `writ runs`: newest first, drafts that wait for a person among them. */
export async function run(context: CommandContext): Promise<CommandResult> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const begun = await listRuns(context.stores, repository, systemClock);
  const drafts = await listWaitingDrafts(repository, begun);
  const runs = [...begun, ...drafts].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  return succeeded(toRunsData(runs), (printer) => {
    if (runs.length === 0) printer.line('no runs yet');
    printer.table(
      runs.map((run) => {
        const { runId, startedAt, state, summary } = run;
        const decision = 'decision' in run ? run.decision : undefined;
        const isSealed = 'landing' in run && run.landing === 'sealed';
        const color = decision === undefined || isSealed ? 'yellow' : decision === 'commit' ? 'green' : 'red';
        const shown = isSealed ? 'sealed, not landed' : (decision ?? state);
        return [runId, startedAt, styled(color, shown), summary];
      }),
    );
    if (printer.quiet || drafts.length === 0) return;
    for (const { runId, request, waitsFor } of drafts) {
      printer.line();
      printer.line(styled('bold', runId), '  a draft that waits');
      for (const said of request) printer.line('  asked  ', said);
      for (const why of waitsFor) printer.line('  ', why);
      printer.line(styled('dim', `  writ show ${runId}; writ resume ${runId} --yes; writ cancel ${runId}`));
    }
  });
}
