import { redactTexts } from '../privacy/redact-texts.ts';
import { findSecrets } from '../privacy/secrets/find-secrets.ts';
import { weighSecret } from '../privacy/secrets/weigh-secret.ts';
import { withoutUnseen } from '../privacy/unseen.ts';
import type { Authorship } from './authorship.ts';
import type { CommitWording } from './commit-wording.ts';
import { mask } from './mask-patch.ts';

/** `values`: secrets of the change itself, which a name or a message may repeat. */
type Values = readonly Buffer[];

/** Words and people of a commit as they may be written down: without the secrets in them. */
export function maskWording(
  { message, author, coAuthors, ...rest }: CommitWording,
  values: Values,
): CommitWording {
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

/** Who made a change as it may be written down. An address without a token in it stays: it is what keeps its owner from approving. */
export function maskAuthorship({ authors, committers, broughtBy }: Authorship, values: Values): Authorship {
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
  let shown = text;
  for (const value of values) shown = shown.replaceAll(value.toString('utf8'), mask);
  return holdsSecret(shown, false) ? redactTexts(shown, { remove: ['secrets'], words: {} }) : shown;
}

/** What only stands in for a secret, or is no more than an expression, is everybody's to write. */
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
