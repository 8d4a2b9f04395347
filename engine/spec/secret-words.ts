import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import { weighSecret } from '../../readers/sensitive/secrets/weigh-secret.ts';
import { withoutUnseen } from '../../readers/sensitive/views.ts';

/** What of a text is a secret by its own form, as it stands there: tokens and private keys, and no stand-in for one. */
export function ownSecretsIn(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const seen = withoutUnseen(bytes);
  return [bytes, ...(seen ? [seen.bytes] : [])].flatMap((one) => {
    const buffer = Buffer.from(one);
    const latin1 = buffer.toString('latin1');
    return findSecrets(one, latin1)
      .filter((match) => match.kind === 'token' && !match.bare && weighSecret(match, latin1) === 'secret')
      .map(({ start, end }) => buffer.toString('utf8', start, end));
  });
}
