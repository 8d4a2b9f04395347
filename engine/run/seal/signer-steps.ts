import { WritError } from '../../../core/base/errors.ts';
import type { Signer } from '../../../core/contract/signer.ts';
import type { Steps } from '../state/steps.ts';

const loggingStep = 'logging';

/**
 * Steps that rest on signatures of one key. A managed key has those of the run; one that dies with its process its own,
 * so that the next begins anew.
 */
export function stepsOfKey(
  steps: Steps,
  { certificate, keyId }: Pick<Signer, 'certificate' | 'keyId'>,
): Steps {
  return certificate === undefined ? steps : steps.under(keyed(keyId));
}

/**
 * Steps of the key that this run's claim was logged with, else of `signer` (`docs/decisions/0007-keyless.md`). Where
 * that key died with its process, `once` answers what ended, and refuses whatever did not: SIGNER_FAILED.
 */
export function stepsOfClaim(steps: Steps, signer: Signer): Steps {
  const logged = steps.ended(loggingStep)?.answer;
  if (typeof logged !== 'string' || logged === signer.keyId) return stepsOfKey(steps, signer);
  const dead = steps.under(keyed(logged));
  return {
    ...dead,
    async once<T>(key: string, act: () => Promise<T> | T): Promise<T> {
      const known = dead.ended(key);
      if (known) return dead.once(key, act);
      throw new WritError('SIGNER_FAILED', {
        message:
          'the certificate of this run is gone: the process that held its key was stopped after it had logged the provenance',
        detail: { key_id: logged, step: key },
      });
    },
  };
}

/** Writes down, before the log is asked, whose signature it is handed. */
export async function beforeLogging(steps: Steps, { certificate, keyId }: Signer): Promise<void> {
  if (certificate !== undefined) await steps.once(loggingStep, () => keyId);
}

function keyed(keyId: string): string {
  return `by-${keyId.slice(0, 16)}`;
}
