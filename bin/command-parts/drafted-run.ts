/* Runs that begin with a request: the draft, its confirmation and its run. */
import {
  confirmIntent,
  draftReview,
  lifecycleMarkdown,
  namedIntent,
  type ReviewedDraft,
  type ShownLifecycle,
  toLifecycleData,
} from '../../api/intent/lifecycle.ts';
import { draftTarget } from '../../api/intent/read-project.ts';
import { requireSpec } from '../../api/intent/read-spec.ts';
import { draftData, draftedData } from '../../api/run/replay-data.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import { type DraftedIntent, draftIntent, keptDraftLacks } from '../../engine/draft/draft-intent.ts';
import { readRequest } from '../../engine/draft/draft-request.ts';
import {
  type DraftEdit,
  draftEdits,
  draftPath,
  type KeptDraft,
  keepDraft,
  readDraft,
  requireStricter,
} from '../../engine/draft/stored-draft.ts';
import { findWaitingDraft, whyItWaits } from '../../engine/draft/waiting-drafts.ts';
import { type AdmittedContract, readContract } from '../../engine/intent/admit-contract.ts';
import { unknownIntent } from '../../engine/intent/append-intent-events.ts';
import { readIntentHistory, requireSameMetadata } from '../../engine/intent/intent-history.ts';
import { effectiveScope } from '../../engine/plan/scope.ts';
import type { RunRequest } from '../../engine/state/run-request.ts';
import { rules } from '../../gates/rules.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type LineReader, openLines } from '../terminal/open-output.ts';
import { styled } from '../terminal/print.ts';
import { runWishes } from './change-source.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from './command.ts';
import { advisoriesLacking, openEngine } from './engine.ts';

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
 * `writ run --request`: a model drafts the spec, the user or a low risk confirms it, and its run starts. Nothing is
 * stored before confirmation. DRAFT_REFUSED, DRAFT_CANCELLED; DRAFT_WAITS with the command to continue.
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
    print.note('drafting a spec of the request');
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
    const { lacks } = drafted;
    const reviewed = await reviewDraft(context, drafted, lines.get);
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
    message: `the drafted spec waits for a person to confirm it: \`${draft.path}\``,
    detail: { run_id: runId, path: draft.path },
    hints: [`confirm it with \`writ resume ${runId} --yes\``],
  });
  const data = draftedData(draft, kept, edits);
  return refused(error, data, (printer) => {
    printer.line(`run ${runId}: drafted`);
    printer.line(`  ${draft.path}`);
  });
}

/** Creates the value on first use and disposes of it if it was created. */
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

/** A user's answer to a draft. */
type Reviewed =
  | { readonly answer: 'confirm' | 'cancel' | 'wait' }
  /** With what shall be different. */
  | { readonly answer: 'modify'; readonly note: string };

/**
 * Always shows the draft, then confirms it: by `--yes`, or by the user at the terminal. Without a terminal, a
 * low-risk draft without open questions is confirmed automatically. Otherwise it waits.
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

/**
 * Shows a waiting draft as currently stored. `undefined` if the id does not match a draft. RUN_NOT_FOUND if several
 * match; OBJECT_CORRUPT, INTENTSPEC_INVALID and INTENTSPEC_MALFORMED if its file was damaged.
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

/**
 * Shows the current lifecycle of an intent. For a file that was never recorded, shows the file's own fields.
 * INTENT_NOT_FOUND.
 */
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

/** Returns what repository and user currently lack to run a waiting draft, one sentence each. */
async function keptLacks(
  { env }: Pick<CommandContext, 'env'>,
  repository: Repository,
  kept: KeptDraft,
  contract: AdmittedContract,
): Promise<readonly string[]> {
  return [
    ...(await keptDraftLacks(repository, kept, contract)),
    ...advisoriesLacking(contract.effective, env),
  ];
}
