import { confirmIntent } from '../../api/intent/confirm-intent.ts';
import { draftReview, type ReviewedDraft } from '../../api/intent/draft-review.ts';
import { draftData, draftedData } from '../../api/run/draft-data.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { effectiveScope } from '../../engine/plan/scope.ts';
import { type DraftedIntent, draftIntent } from '../../engine/run/draft/draft-intent.ts';
import { type DraftEdit, draftEdits, requireStricter } from '../../engine/run/draft/edited-draft.ts';
import { draftPath, type KeptDraft, keepDraft } from '../../engine/run/draft/kept-draft.ts';
import { readRequest } from '../../engine/run/draft/read-request.ts';
import { whyItWaits } from '../../engine/run/draft/why-it-waits.ts';
import type { RunRequest } from '../../engine/run/state/run-request.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { type LineReader, openLines } from '../terminal/line-reader.ts';
import { advisoriesLacking } from './advisories-lacking.ts';
import { runWishes } from './change-source.ts';
import { type CommandContext, type CommandResult, refused } from './command.ts';
import { draftTarget } from './draft-target.ts';
import { keptLacks } from './kept-lacks.ts';

/** Starts the run of a confirmed draft. */
type StartRun = (
  given: Pick<RunRequest, 'specBytes' | 'source' | 'runId' | 'model' | 'drafting'>,
) => Promise<CommandResult>;

/** What a confirmed draft is started with. */
type Confirmed = Omit<KeptDraft, 'repairs' | 'questions' | 'drafted' | 'spent'> &
  Pick<RunRequest, 'drafting'>;

type Drafting = Pick<RunRequest, 'repositoryPath' | 'reach' | 'pluginAccess' | 'outside'> & {
  readonly source: KeptDraft['source'];
};

/**
 * `writ run --request`: a model drafts the contract, a person or its low risk confirms it, and its run starts. Nothing
 * is kept before that. DRAFT_REFUSED, DRAFT_CANCELLED, DRAFT_WAITS with what goes on.
 */
export async function draftedRun(
  context: CommandContext,
  engine: WritEngine,
  { repositoryPath, reach, source, pluginAccess, outside }: Drafting,
  start: StartRun,
): Promise<CommandResult> {
  const { options, signal, print, stdin } = context;
  const said = [await readRequest(options.value('request') ?? '')];
  const runId = uuidV7(systemClock.now());
  const target = await draftTarget(context);
  const wishes = runWishes(options);
  using lines = lazily(() => openLines(stdin, signal));
  let model: RunRequest['model'];
  let spent: RunRequest['drafting'];
  for (;;) {
    print.note('drafting a contract of the request');
    const drafted = await draftIntent(engine, {
      repositoryPath,
      runId,
      source,
      said,
      target,
      createdAt: toRfc3339(systemClock.now()),
      clock: systemClock,
      signal,
      ...(wishes.sandbox === undefined ? {} : { sandbox: wishes.sandbox }),
      ...(reach === undefined ? {} : { reach }),
      ...(pluginAccess === undefined ? {} : { pluginAccess }),
      ...(outside === undefined ? {} : { outside }),
      ...(model === undefined ? {} : { model }),
      ...(spent === undefined ? {} : { spent }),
      ...(wishes.onto === undefined ? {} : { onto: wishes.onto }),
    });
    ({ model, spent } = drafted);
    const lacks = [...drafted.lacks, ...advisoriesLacking(drafted.contract.effective, context.env)];
    const reviewed = await reviewDraft(context, { ...drafted, lacks }, lines.get);
    if (reviewed.answer === 'cancel') throw new WritError('DRAFT_CANCELLED');
    if (reviewed.answer === 'modify') {
      said.push(await readRequest(reviewed.note));
      continue;
    }
    const kept = { runId, source, ...wishes, noMerge: wishes.noMerge === true, ...toKeep(drafted) };
    const path = await keepDraft(await openRepository(repositoryPath), kept);
    const data = draftData(drafted.contract, { path, ...kept, lacks });
    if (reviewed.answer === 'wait') return waiting(data, kept);
    const specBytes = drafted.contract.bytes;
    await confirmIntent(engine, repositoryPath, specBytes);
    return withDraft(
      await start({ specBytes, source, runId, drafting: spent, ...(model === undefined ? {} : { model }) }),
      data,
    );
  }
}

function toKeep({ contract, repairs, questions, spent }: DraftedIntent) {
  return { specBytes: contract.bytes, repairs, questions, spent };
}

/**
 * Goes on with a draft that waited: what its file holds now is read, held to what was drafted, shown with what differs,
 * and confirmed or not. What it was drafted with starts its run. DRAFT_LOOSENED.
 */
export async function resumeDraft(
  context: CommandContext,
  engine: WritEngine,
  repositoryPath: string,
  kept: KeptDraft,
  start: (given: Confirmed) => Promise<CommandResult>,
): Promise<CommandResult> {
  const contract = await readContract(engine, kept.specBytes);
  const scope = effectiveScope(contract.effective);
  using lines = lazily(() => openLines(context.stdin, context.signal));
  const edits = draftEdits(kept, contract.effective);
  const repository = await openRepository(repositoryPath);
  const path = draftPath(repository, kept.runId);
  requireStricter({ ...kept, path }, edits);
  const lacks = await keptLacks(context, repository, kept, contract);
  const { answer } = await reviewDraft(context, { contract, scope, ...kept, lacks }, lines.get, edits);
  if (answer === 'cancel') throw new WritError('DRAFT_CANCELLED');
  const data = draftData(contract, { ...kept, path, lacks }, edits);
  if (answer !== 'confirm') return waiting(data, kept, edits);
  await confirmIntent(engine, repositoryPath, kept.specBytes);
  const { repairs: _, questions: __, drafted: ___, spent, ...given } = kept;
  return withDraft(await start({ ...given, drafting: spent }), data);
}

/** A draft that somebody has to confirm: exit 4, and the line that goes on. */
function waiting(
  draft: ReturnType<typeof draftData>,
  kept: Pick<KeptDraft, 'runId' | 'questions'>,
  edits: readonly DraftEdit[] = [],
): CommandResult {
  const { runId } = kept;
  const error = new WritError('DRAFT_WAITS', {
    message: `the drafted contract waits for a person to confirm it: \`${draft.path}\``,
    detail: { run_id: runId, path: draft.path },
    hints: [`confirm it: \`writ resume ${runId} --yes\``],
  });
  const data = draftedData(draft, kept, edits);
  return refused(error, data, (printer) => {
    printer.line(`run ${runId}: drafted`);
    printer.line(`  ${draft.path}`);
  });
}

/** Made when it is first asked for, disposed of if it was. */
function lazily<T extends Disposable>(make: () => T): Disposable & { readonly get: () => T } {
  let made: T | undefined;
  return {
    get: () => (made ??= make()),
    [Symbol.dispose]: () => made?.[Symbol.dispose](),
  };
}

/** The result of a run that began with a draft. */
function withDraft(result: CommandResult, draft: ReturnType<typeof draftData>): CommandResult {
  return { ...result, data: { ...(result.data as object), draft } };
}

/** What a person says of a draft. */
type Reviewed =
  | { readonly answer: 'confirm' | 'cancel' | 'wait' }
  /** With what shall be different. */
  | { readonly answer: 'modify'; readonly note: string };

/**
 * Shows a draft, always, and has it confirmed: by `--yes`, by the person at the terminal, or, where there is none and
 * nothing is left to decide, by its low risk (resolutions, `writ run --request`). Else it waits.
 */
async function reviewDraft(
  { options, interactive, print, json }: CommandContext,
  drafted: ReviewedDraft,
  lines: () => LineReader,
  edits: readonly DraftEdit[] = [],
): Promise<Reviewed> {
  const review = draftReview(drafted, edits);
  if (json) for (const line of review.trimEnd().split('\n')) print.complain(line);
  else print.text(review);
  if (options.flag('yes')) return { answer: 'confirm' };
  if (interactive) return askPerson(print, lines());
  const isPlain = whyItWaits(drafted.contract.effective.risk.level, drafted, edits).length === 0;
  if (isPlain) print.note('the draft goes on unconfirmed: its risk is low, and it leaves nothing to decide');
  return { answer: isPlain ? 'confirm' : 'wait' };
}

const maxAsked = 5;

async function askPerson(print: CommandContext['print'], lines: LineReader): Promise<Reviewed> {
  for (let asked = 0; asked < maxAsked; asked += 1) {
    print.complain('confirm, modify or cancel?');
    const said = (await lines.next())?.trim().toLowerCase();
    if (said === undefined) return { answer: 'cancel' };
    if (said === 'confirm' || said === 'c') return { answer: 'confirm' };
    if (said === 'cancel' || said === 'x') return { answer: 'cancel' };
    if (said !== 'modify' && said !== 'm') continue;
    print.complain('what shall be different?');
    const note = (await lines.next())?.trim();
    if (note === undefined) return { answer: 'cancel' };
    if (note !== '') return { answer: 'modify', note };
  }
  return { answer: 'cancel' };
}
