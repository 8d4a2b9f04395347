import { verificationRefusal, warningsOf } from '../../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../../api/verify/verified-target.ts';
import { verifyTargets } from '../../../api/verify/verify-targets.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { TurnScope } from '../turn-scope.ts';

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

/** What was found of one target: the verdict, then each check in a line; evidence that holds is counted. */
function reportText(found: VerifiedTarget): string {
  const { target, commit, runId, report } = found;
  const { checks } = report;
  const evidence = checks.filter(({ id, status }) => id.startsWith('evidence:') && status === 'passed');
  const shown = checks.filter((check) => !evidence.includes(check));
  return [
    `${report.verified ? 'verified' : 'not verified'}  ${target}  ${report.ran} of ${report.expected} checks ran`,
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(runId === undefined ? [] : [`run ${runId}`]),
    ...shown.map(({ id, status, code, detail = {} }) =>
      [
        status,
        id,
        ...(code === undefined || code === status ? [] : [code]),
        ...Object.entries(detail).map(([name, value]) => `${name} ${[value].flat().join(', ')}`),
      ].join('  '),
    ),
    ...(evidence.length === 0 ? [] : [`passed  ${evidence.length} evidence digests`]),
    ...warningsOf(found).map(({ message }) => `warning: ${message}`),
  ].join('\n');
}
