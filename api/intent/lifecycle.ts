/* The lifecycle of an intent as commands show it, and its confirmation by a person. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type DraftedIntent, withOwnId } from '../../engine/draft/draft-intent.ts';
import { type DraftEdit, editSentence } from '../../engine/draft/stored-draft.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { unknownIntent } from '../../engine/intent/append-intent-events.ts';
import { activateIntent, type LifecycleActor, type NamedIntent } from '../../engine/intent/close-intent.ts';
import { findIntent, openRunStore } from '../../engine/intent/find-intent.ts';
import { type IntentHistory, isActivated, readIntentHistory } from '../../engine/intent/intent-history.ts';
import { markdownText } from '../../readers/documents/markdown-text.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { reviewDocument } from '../../spec/review.ts';
import { readIdentity } from '../../workspace/git/commit-log.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';

import type { JsonData } from '../schemas/shape.ts';
import { readSpecFile, type SpecSource, scopeSentences } from './read-spec.ts';

/** Lifecycle to display: the recorded history of an intent, or the fields of a document that was never recorded. */
export type ShownLifecycle = Pick<IntentHistory, 'specId' | 'digest' | 'status' | 'changeLog' | 'events'> & {
  readonly thread?: string;
};

/** Status, changeLog and events as the lifecycle commands answer them. */
export function toLifecycleData(shown: ShownLifecycle): JsonData {
  return {
    spec_id: shown.specId,
    ...(shown.thread === undefined ? {} : { thread_id: shown.thread }),
    digest: shown.digest,
    status: shown.status,
    change_log: shown.changeLog.map(({ at, by, reason, diffSummary }) => ({
      at,
      by,
      reason,
      diff_summary: diffSummary,
    })),
    events: shown.events.map((event) => ({
      at: event.created_at,
      kind: event.kind,
      by: event.by,
      reason: event.reason,
      ...(event.from === undefined ? {} : { from: event.from }),
      ...(event.status === undefined ? {} : { status: event.status }),
      ...(event.run === undefined ? {} : { run_id: event.run }),
      ...(event.superseded_by === undefined ? {} : { superseded_by: event.superseded_by }),
      ...(event.supersedes === undefined ? {} : { supersedes: event.supersedes }),
    })),
  };
}

/** The same for people, as Markdown; every word of others is escaped. */
export function lifecycleMarkdown(shown: ShownLifecycle): string {
  const changes = shown.changeLog.map(
    ({ at, by, reason, diffSummary }) =>
      `- ${markdownText(at)} · ${markdownText(by)} · ${markdownText(reason)}\n  ${markdownText(diffSummary)}`,
  );
  const events = shown.events.map((event) => {
    const move = event.status === undefined ? event.kind : `${event.from ?? ''} → ${event.status}`;
    return `- ${markdownText(event.created_at)} · ${move} · ${markdownText(event.by)} · ${markdownText(event.reason)}`;
  });
  return [
    `# ${markdownText(shown.specId)}`,
    '',
    `Status: **${shown.status}**`,
    '',
    '## Change log',
    '',
    ...(changes.length === 0 ? ['No entry.'] : changes),
    '',
    '## Events',
    '',
    ...(events.length === 0 ? ['Nothing has happened yet.'] : events),
    '',
  ].join('\n');
}

/** An intent of a specification file. */
type IntentOfFile = NamedIntent & Required<Pick<NamedIntent, 'contract'>>;

/** The intent of a specification file, recorded or not. The document must be valid. */
export async function intentOfFile(
  context: SpecSource,
  engine: WritEngine,
  repository: Repository,
  path: string,
): Promise<IntentOfFile> {
  const contract = await readContract(engine, (await readSpecFile(context, path)).bytes);
  const store = await openRunStore(engine.slots.store, repository, systemClock, contract.effective);
  return { store, specId: contract.document.metadata.id, contract };
}

/**
 * What a command line names: the id of a recorded intent, else a specification file. INTENT_NOT_FOUND where it is
 * neither.
 */
export async function namedIntent(
  context: SpecSource,
  engine: WritEngine,
  repository: Repository,
  named: string,
): Promise<NamedIntent> {
  const store = await findIntent(engine.slots.store, repository, systemClock, named);
  if (store) return { store, specId: named };
  const isFile =
    named === '-' || (await stat(resolve(context.cwd, named)).catch(() => undefined)) !== undefined;
  if (isFile) return intentOfFile(context, engine, repository, named);
  throw unknownIntent(named);
}

/** The person at the keyboard, by the identity that git would commit with. */
export async function lifecycleActor(repository: Repository): Promise<LifecycleActor> {
  const identity = await readIdentity(repository);
  const id = identity === undefined ? 'unknown' : `${identity.name} <${identity.email}>`;
  return { by: { kind: 'user', id: id.slice(0, 128) }, nowMs: systemClock.now() };
}

/**
 * Records a drafted spec as confirmed by the user at the terminal, like `writ spec activate` without a file. If the
 * run of a confirmed spec is refused, the spec stays confirmed.
 */
export async function confirmIntent(
  engine: WritEngine,
  repositoryPath: string,
  specBytes: Uint8Array,
): Promise<void> {
  const { contract, repository, store } = await openContract(engine, repositoryPath, specBytes);
  const history = await readIntentHistory(store, contract.document.metadata.id);
  if (history?.status === 'active' && isActivated(history, contract.digest)) return;
  await activateIntent(store, contract, await lifecycleActor(repository));
}

/**
 * Requires that this exact spec (its canonical digest) was confirmed. The lifecycle fields in the spec do not count.
 * LIFECYCLE_NOT_ACTIVE if it was changed after confirmation.
 */
export async function requireConfirmed(
  engine: WritEngine,
  repositoryPath: string,
  specBytes: Uint8Array,
): Promise<void> {
  const { contract, store } = await openContract(engine, repositoryPath, specBytes);
  const { digest } = contract;
  const { id } = contract.document.metadata;
  const history = await readIntentHistory(store, id);
  if (history !== undefined && isActivated(history, digest)) return;
  throw new WritError('LIFECYCLE_NOT_ACTIVE', {
    message: `the spec of intent \`${id}\` was changed after it was confirmed`,
    detail: { spec_id: id, digest },
    hints: ['say what to change: writ drafts the spec again, and you confirm it again'],
  });
}

/** What a contract goes on as after a run. */
export interface ContinuedContract {
  /** The run whose commit may have closed the intent. */
  readonly closedBy: string;
  /** The id of the next intent. */
  readonly id: string;
}

/**
 * If the commit of `closedBy` closed the intent of a contract that was active, returns the contract with the next id,
 * and records a draft as confirmed: a person confirmed everything else in it. Otherwise `undefined`: it can run as it
 * is.
 */
export async function continueIntent(
  engine: WritEngine,
  repositoryPath: string,
  specBytes: Uint8Array,
  { closedBy, id }: ContinuedContract,
): Promise<{ readonly specBytes: Uint8Array; readonly digest: string } | undefined> {
  const { contract, store } = await openContract(engine, repositoryPath, specBytes);
  const { document, digest } = contract;
  const history = await readIntentHistory(store, document.metadata.id);
  const last = history?.statusEvent;
  if (history?.status !== 'closed' || last?.run !== closedBy) return undefined;
  const isActive = document.lifecycle.status === 'active';
  if (!isActive && !isActivated(history, digest)) return undefined;
  const bytes = withOwnId(specBytes, id);
  if (!isActive) await confirmIntent(engine, repositoryPath, bytes);
  return { specBytes: bytes, digest: (await readContract(engine, bytes)).digest };
}

async function openContract(engine: WritEngine, repositoryPath: string, specBytes: Uint8Array) {
  const contract = await readContract(engine, specBytes);
  const repository = await openRepository(repositoryPath);
  const store = await openRunStore(engine.slots.store, repository, systemClock, contract.effective);
  return { contract, repository, store };
}

/** What of a draft a person reads. */
export type ReviewedDraft = Pick<DraftedIntent, 'contract' | 'scope' | 'repairs' | 'questions'> &
  Partial<Pick<DraftedIntent, 'lacks'>> & {
    /** Acceptance criteria beyond the spec's text, with the ids of the checks that verify them. */
    readonly criteria?: readonly { readonly text: string; readonly checks: readonly string[] }[];
  };

/** Renders a drafted spec for review before confirmation. Markdown, with repairs, edits and open questions. */
export function draftReview(
  { contract, scope, repairs, questions, lacks = [], criteria = [] }: ReviewedDraft,
  edits: readonly DraftEdit[] = [],
): string {
  const { document, effective, digest, warnings } = contract;
  const review = reviewDocument({
    document,
    effective,
    digest,
    issues: warnings,
    scope: scopeSentences(scope),
  });
  return [
    review.trimEnd(),
    ...listed(
      '## What the goal is held to',
      criteria.map(({ text, checks }) => `${text} (verified by ${checks.join(', ')})`),
    ),
    ...listed('## Made stricter than drafted', repairs),
    ...listed('## Edited by hand since it was drafted', edits.map(editSentence)),
    ...listed('## To be decided by confirming', questions),
    ...listed('## Missing here, and needed before it can be committed', lacks),
    '',
  ].join('\n');
}

function listed(title: string, entries: readonly string[]): readonly string[] {
  if (entries.length === 0) return [];
  return ['', title, '', ...entries.map((entry) => `- ${markdownText(entry)}`)];
}
