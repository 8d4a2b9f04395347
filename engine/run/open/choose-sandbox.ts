import { isWritError, WritError } from '../../../core/base/errors.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { pickSandbox } from '../../tool/pick-sandbox.ts';
import type { Ground } from '../state/ground.ts';

/**
 * The sandbox of a run. SANDBOX_UNAVAILABLE where none works, SANDBOX_NONE_REFUSED for one that confines nothing under
 * a contract that denies the network.
 */
export async function chooseSandbox(
  engine: Pick<WritEngine, 'slots'>,
  name: string,
  contract: AdmittedContract,
): Promise<Required<Pick<Ground, 'sandbox' | 'passedOver'>>> {
  const denies = contract.effective.constraints.security.networkPolicy === 'deny';
  const passedOver: string[] = [];
  try {
    const sandbox = await pickSandbox(name, engine.slots.sandbox, (passed, reason) =>
      passedOver.push(`\`${passed}\` is installed and does not work here: ${reason.replaceAll(/\s+/g, ' ')}`),
    );
    if (!sandbox.unconfined || !denies) return { sandbox, passedOver };
    throw new WritError('SANDBOX_NONE_REFUSED', {
      hints: [
        `drop \`--sandbox ${sandbox.name}\``,
        'or set `constraints.security.networkPolicy` to `allow` in a new spec',
      ],
    });
  } catch (fault) {
    if (denies || !isWritError(fault, 'SANDBOX_UNAVAILABLE')) throw fault;
    throw new WritError('SANDBOX_UNAVAILABLE', {
      message: `${fault.message}; without one nothing keeps a check to the public hosts that \`networkPolicy: allow\` opens`,
      detail: fault.detail,
      hints: [
        ...fault.hints,
        'or pass `--sandbox none`: checks then have the whole network of this machine, unrecorded, and the provenance says so',
      ],
      cause: fault,
    });
  }
}
