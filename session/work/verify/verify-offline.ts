import { verificationRefusal } from '../../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../../api/verify/verified-target.ts';
import { verifyTargets } from '../../../api/verify/verify-targets.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { TurnScope } from '../turn-scope.ts';
import { reportText } from './report-text.ts';

const maxOutput = 16_384;

/** Verifies a target by the verifier and the anchors of `writ verify`, offline; `refusal`: it is not verified. */
export async function verifyOffline(
  { setting, signal }: Pick<TurnScope, 'setting' | 'signal'>,
  target: string,
): Promise<{ readonly refusal?: string; readonly output: string }> {
  const { engine, repositoryPath, env } = setting;
  const place = { cwd: repositoryPath, repoPath: repositoryPath, stores: engine.slots.store, env, signal };
  let found: readonly VerifiedTarget[];
  try {
    found = await verifyTargets(place, [target]);
  } catch (fault) {
    signal.throwIfAborted();
    if (!isWritError(fault)) throw fault;
    return { refusal: `${fault.code}: ${fault.message}`, output: '' };
  }
  signal.throwIfAborted();
  const refused = verificationRefusal(found);
  return {
    ...(refused === undefined ? {} : { refusal: `${refused.code}: ${refused.message}` }),
    output: found.map(reportText).join('\n').slice(0, maxOutput),
  };
}
