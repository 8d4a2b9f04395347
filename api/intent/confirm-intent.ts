import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { activateIntent } from '../../engine/intent/activate-intent.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { readIntentHistory } from '../../engine/intent/intent-history.ts';
import { openRunStore } from '../../engine/intent/open-run-store.ts';
import { isActivated } from '../../engine/intent/require-active.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { lifecycleActor } from './open-intent.ts';

/**
 * Records a drafted contract as confirmed by the person at the keyboard: `writ spec activate` without a file. A
 * contract that was confirmed before its run was refused stays confirmed.
 */
export async function confirmIntent(
  engine: WritEngine,
  repositoryPath: string,
  specBytes: Uint8Array,
): Promise<void> {
  const { contract, repository, store } = await openContract(engine, repositoryPath, specBytes);
  const history = await readIntentHistory(store, contract.document.metadata.id);
  if (history?.status === 'active' && isActivated(history, contract.digest)) return;
  await activateIntent(store, contract, await lifecycleActor(repository));
}

/**
 * Whether a contract is one that was confirmed, to the byte of its canonical form; what it says of itself is nothing.
 * LIFECYCLE_NOT_ACTIVE where it is another.
 */
export async function requireConfirmed(
  engine: WritEngine,
  repositoryPath: string,
  specBytes: Uint8Array,
): Promise<void> {
  const { contract, store } = await openContract(engine, repositoryPath, specBytes);
  const { digest } = contract;
  const { id } = contract.document.metadata;
  const history = await readIntentHistory(store, id);
  if (history !== undefined && isActivated(history, digest)) return;
  throw new WritError('LIFECYCLE_NOT_ACTIVE', {
    message: `the contract of intent \`${id}\` was changed after it was confirmed`,
    detail: { spec_id: id, digest },
    hints: ['say what shall be different: it is drafted, and confirmed, anew'],
  });
}

async function openContract(engine: WritEngine, repositoryPath: string, specBytes: Uint8Array) {
  const contract = await readContract(engine, specBytes);
  const repository = await openRepository(repositoryPath);
  const store = await openRunStore(engine.slots.store, repository, systemClock, contract.effective);
  return { contract, repository, store };
}
