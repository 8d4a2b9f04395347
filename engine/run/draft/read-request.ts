import { WritError } from '../../../core/base/errors.ts';
import { mayHoldSecret } from '../../spec/may-hold-secret.ts';

/** Characters of a request. */
export interface RequestBounds {
  readonly least: number;
  readonly most: number;
}

const requestBounds: RequestBounds = { least: 3, most: 8000 };

/**
 * What a person asks for, as a model may read it and a run keep it: 3 to 8000 characters unless told, no control
 * characters, no secret. REQUEST_INVALID, before anybody sees it.
 */
export async function readRequest(text: string, bounds: RequestBounds = requestBounds): Promise<string> {
  const request = boundRequest(text, bounds);
  if (!mayHoldSecret(request)) return request;
  const { ownSecretsIn } = await import('../../spec/secret-words.ts');
  if (ownSecretsIn(request).length > 0)
    throw invalid('expected words without a secret, found a token or a private key');
  return request;
}

/** The words of a request, within its bounds; what can be said of them at once. REQUEST_INVALID. */
export function boundRequest(text: string, { least, most }: RequestBounds = requestBounds): string {
  const request = text.trim();
  if (request.length < least || request.length > most)
    throw invalid(
      `expected ${least} to ${most} characters, found ${request.length}`,
      request.length < least
        ? ['say in a sentence what shall change']
        : [
            'say in short what shall change; what is longer stands in a file of the repository, or in a contract of your own: `writ spec new`',
          ],
    );
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u.test(request))
    throw invalid('expected words, found control characters');
  return request;
}

function invalid(found: string, hints: readonly string[] = []): WritError {
  return new WritError('REQUEST_INVALID', { message: `the request is not taken: ${found}`, hints });
}
