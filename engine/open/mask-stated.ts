import { redactTexts } from '../../readers/sensitive/redact.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import { weighSecret } from '../../readers/sensitive/secrets/weigh-secret.ts';
import { withoutUnseen } from '../../readers/sensitive/views.ts';
import { type Authorship, peopleOf } from '../../store/record/gate-report.ts';
import { keepMessage } from '../../workspace/git/create-commit.ts';
import { maskWords } from '../record/masking.ts';
import type { CommitWording, WordingPart } from '../state/commit-wording.ts';

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
    ...(holds(wording.message, false) ? (['message'] as const) : []),
    ...(names.some((one) => holds(one, true)) ? (['author'] as const) : []),
    ...(people.some((one) => holds(one, true)) ? (['people'] as const) : []),
    ...(wording.message === undefined && holds(summary, false) ? (['summary'] as const) : []),
  ];
  return {
    wording: { ...masked, ...(refused.length === 0 ? {} : { refused }) },
    authorship: maskAuthorship(authorship, values),
  };
}

function holds(text: string | undefined, tokensOnly: boolean): boolean {
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
