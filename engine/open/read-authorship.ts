/* Reads the candidate of a supplied patch and its authors. */
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import { weighSecret } from '../../readers/sensitive/secrets/weigh-secret.ts';
import { withoutUnseen } from '../../readers/sensitive/views.ts';
import { type Authorship, peopleOf } from '../../store/record/gate-report.ts';
import { formatIdentity, type Identity, identityOf, listPeople } from '../../workspace/git/commit-log.ts';
import { keepMessage } from '../../workspace/git/create-commit.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Base } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { statedAuthors } from '../../workspace/patch/mail.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { touchesGoverning } from '../../workspace/patch/patch-paths.ts';
import type { ResolvedRange } from '../../workspace/patch/read-patch.ts';
import { maskWords } from '../record/masking.ts';
import type { StartedRun } from '../record/started-run.ts';
import type { CommitWording, WordingPart } from '../state/commit-wording.ts';
import type { RunRequest } from '../state/run-request.ts';

/** Reads from the change who made it; if it names no one, the submitter is the author. */
export async function readAuthorship(
  repository: Repository,
  source: RunRequest['source'],
  range: ResolvedRange | undefined,
): Promise<Authorship> {
  if (range) {
    const { authors, committers } = await listPeople(repository, range.base.commit, range.tip);
    const named = { authors: authors.map(formatIdentity), committers: committers.map(formatIdentity) };
    return authors.length === 0 ? { ...named, ...(await broughtBy(repository)) } : named;
  }
  const stated = source.kind === 'patch' ? statedAuthors(source.bytes) : { authors: [], unsigned: true };
  return {
    authors: stated.authors.map(formatIdentity),
    committers: [],
    ...(stated.unsigned ? await broughtBy(repository) : {}),
  };
}

/** Adds the author that `--author` names; existing authors stay. */
export function withAuthor(found: Authorship, given: Identity | undefined): Authorship {
  return given ? { ...found, authors: [...new Set([formatIdentity(given), ...found.authors])] } : found;
}

async function broughtBy(repository: Repository): Promise<Pick<Authorship, 'broughtBy'>> {
  const runner = await identityOf(repository);
  return runner ? { broughtBy: formatIdentity(runner) } : {};
}

/** Throws AUTHOR_UNKNOWN if a change needs approval and has no known author: its submitter could then approve it. */
export function requireKnownAuthor(
  authorship: Authorship,
  spec: EffectiveIntentSpec,
  patch: PatchSet | undefined,
): void {
  if (authorship.authors.length > 0 || authorship.broughtBy !== undefined) return;
  if (asksPeople(spec) || touchesGoverning(patch?.files ?? [])) throw new WritError('AUTHOR_UNKNOWN');
}

function asksPeople({ risk, acceptance }: EffectiveIntentSpec): boolean {
  return (
    risk.humanInLoop.required ||
    stageNames.some((stage) =>
      acceptance.verificationPlan[`${stage}Checks`].some(
        ({ kind, command }) => kind === 'policy' && /^\s*["']?require-approvers\b/.test(command ?? ''),
      ),
    )
  );
}

/** The candidate of a supplied patch, out of the objects it left. */
export async function readCandidate(
  scratch: Scratch,
  base: Base,
  runId: string,
  candidate: StartedRun['candidate'],
): Promise<PatchSet | undefined> {
  if (!candidate) return undefined;
  const patch = await normalisePatch(scratch, base, candidate.tree).catch((cause: unknown) => {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `the candidate of run \`${runId}\` is not in this repository: ${messageOf(cause)}`,
      detail: { run_id: runId, tree: candidate.tree },
      hints: ['get its records with `writ fetch`'],
      cause,
    });
  });
  if (patch.digest === candidate.digest) return patch;
  throw new WritError('OBJECT_CORRUPT', {
    message: 'the stored candidate (the changed files) is not the one that was evaluated',
    detail: { expected: candidate.digest, found: patch.digest },
  });
}

/** `values`: secrets of the change itself, which a name or a message may repeat. */
type Values = readonly Buffer[];

/** Words and people of a commit as they may be written down: without the secrets in them. */
function maskWording({ message, author, coAuthors, ...rest }: CommitWording, values: Values): CommitWording {
  const person = ({ name, email }: { readonly name: string; readonly email: string }) => ({
    name: maskText(name, values),
    email: maskAddress(email),
  });
  return {
    ...rest,
    ...(message === undefined ? {} : { message: maskText(message, values) }),
    ...(author === undefined ? {} : { author: person(author) }),
    ...(coAuthors === undefined ? {} : { coAuthors: coAuthors.map(person) }),
  };
}

/**
 * Returns the masked message and people, and the parts that rule `secrets` refuses. A part is refused if it holds a
 * secret of a known form, as given or as sealed. Without a message, the spec's summary is checked too.
 */
export function maskStated(
  wording: CommitWording,
  authorship: Authorship,
  summary: string,
  values: Values,
): { readonly wording: CommitWording; readonly authorship: Authorship } {
  const masked = maskWording(wording, values);
  const names = [wording.author?.name, wording.author?.email];
  const people = [
    ...(wording.coAuthors ?? []).flatMap(({ name, email }) => [name, email]),
    ...peopleOf(authorship).filter((one) => !one.startsWith(`${wording.author?.name} <`)),
  ];
  const refused: WordingPart[] = [
    ...(wordsHoldSecret(wording.message, false) ? (['message'] as const) : []),
    ...(names.some((one) => wordsHoldSecret(one, true)) ? (['author'] as const) : []),
    ...(people.some((one) => wordsHoldSecret(one, true)) ? (['people'] as const) : []),
    ...(wording.message === undefined && wordsHoldSecret(summary, false) ? (['summary'] as const) : []),
  ];
  return {
    wording: { ...masked, ...(refused.length === 0 ? {} : { refused }) },
    authorship: maskAuthorship(authorship, values),
  };
}

/** Whether words hold a secret, as they are given or as they are sealed. */
export function wordsHoldSecret(text: string | undefined, tokensOnly: boolean): boolean {
  return text !== undefined && (holdsSecret(text, tokensOnly) || holdsSecret(asSealed(text), tokensOnly));
}

/** Controls and directions are left out of a sealed message: what they keep apart there comes together. */
function asSealed(text: string): string {
  const { text: words, trailers } = keepMessage(text);
  return [words, '', ...trailers].join('\n');
}

/**
 * Who made a change as it may be written down. An address without a token in it stays: it is what keeps its owner from
 * approving.
 */
function maskAuthorship({ authors, committers, broughtBy }: Authorship, values: Values): Authorship {
  const person = (text: string): string => {
    const at = text.lastIndexOf(' <');
    return at < 0 ? maskAddress(text) : maskText(text.slice(0, at), values) + maskAddress(text.slice(at));
  };
  return {
    authors: authors.map(person),
    committers: committers.map(person),
    ...(broughtBy === undefined ? {} : { broughtBy: person(broughtBy) }),
  };
}

/** Only what is a secret by its own form: a change that calls its author's address a password must not hide him. */
function maskAddress(text: string): string {
  return holdsSecret(text, true) ? redactTexts(text, { remove: ['secrets'], words: {} }) : text;
}

function maskText(text: string, values: Values): string {
  let shown = maskWords(text, values);
  if (holdsSecret(shown, false)) shown = redactTexts(shown, { remove: ['secrets'], words: {} });
  const sealed = asSealed(shown);
  return holdsSecret(sealed, false) ? redactTexts(sealed, { remove: ['secrets'], words: {} }) : shown;
}

/** A placeholder for a secret, or a mere expression, is allowed. */
function holdsSecret(text: string, tokensOnly: boolean): boolean {
  const bytes = Buffer.from(text);
  return [bytes, withoutUnseen(bytes)?.bytes ?? bytes].some((one) => {
    const latin1 = Buffer.from(one).toString('latin1');
    return findSecrets(one, latin1).some(
      (match) =>
        !match.bare && (!tokensOnly || match.kind === 'token') && weighSecret(match, latin1) === 'secret',
    );
  });
}
