/* Finds secrets in the text of a spec. Loaded only for a text that may hold one. */
import { findSecrets } from '../readers/sensitive/secrets/find-secrets.ts';
import { weighSecret } from '../readers/sensitive/secrets/weigh-secret.ts';
import { withoutUnseen } from '../readers/sensitive/views.ts';

/** The secrets in a text that are recognisable by their format: tokens and private keys, but no placeholders. */
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
