import { checkEnvironment } from '../../../workspace/process/find-program.ts';
import type { OpenRun } from '../../state/open-run.ts';
import type { HandPlace } from './hand-place.ts';

/** The environment of a worker's commands: that of a check before a patch exists. */
export function handEnvironment(
  { identity: { contract, runId }, ground }: Pick<OpenRun, 'identity' | 'ground'>,
  { workspace, reports }: HandPlace,
): Record<string, string> {
  const inside = ground.sandbox.pathsInside({ workspace, reports });
  return checkEnvironment({
    intentSpecId: contract.effective.metadata.id,
    intentSpecDigest: contract.digest,
    runId,
    workspace: inside.workspace,
    baseSha: ground.base.commit ?? '',
    patchSetDigest: '',
    reportsDir: inside.reports,
  });
}
