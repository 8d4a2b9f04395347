import { draftReview } from '../../api/intent/draft-review.ts';
import { requireSpec } from '../../api/intent/read-spec.ts';
import { draftData, draftedData } from '../../api/run/draft-data.ts';
import { systemClock } from '../../core/base/clock.ts';
import { effectiveScope } from '../../engine/plan/scope.ts';
import { draftEdits } from '../../engine/run/draft/edited-draft.ts';
import { draftPath, readDraft } from '../../engine/run/draft/kept-draft.ts';
import { findWaitingDraft } from '../../engine/run/draft/waiting-drafts.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { rules } from '../../gates/rules.ts';
import { styled } from '../terminal/print.ts';
import { type CommandContext, type CommandResult, succeeded } from './command.ts';
import { keptLacks } from './kept-lacks.ts';

/**
 * A draft that waits, as its file stands; `undefined` where none is meant. RUN_NOT_FOUND where several are,
 * OBJECT_CORRUPT, INTENTSPEC_INVALID and INTENTSPEC_MALFORMED for one that somebody spoilt.
 */
export async function showDraft(context: CommandContext, wanted: string): Promise<CommandResult | undefined> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const runId = await findWaitingDraft(context.stores, repository, systemClock, wanted);
  const kept = runId === undefined ? undefined : readDraft(repository, runId);
  if (kept === undefined) return undefined;
  const path = draftPath(repository, kept.runId);
  const names = rules.map(({ id }) => id);
  const { document, effective, digest, issues } = await requireSpec(context, path, names);
  const contract = { document, effective, digest, bytes: kept.specBytes, warnings: issues, mandatory: [] };
  const edits = draftEdits(kept, effective);
  const lacks = await keptLacks(context, repository, kept, contract);
  const data = draftedData(draftData(contract, { ...kept, path, lacks }, edits), kept, edits);
  return succeeded(data, (printer) => {
    printer.text(draftReview({ contract, scope: effectiveScope(effective), ...kept, lacks }, edits));
    printer.line(styled('bold', 'waits'), `  ${data.waits_for.join('; ') || 'its run has not begun'}`);
    printer.line(`  ${path}`);
    printer.line(styled('dim', `  writ resume ${kept.runId} --yes; writ cancel ${kept.runId}`));
  });
}
