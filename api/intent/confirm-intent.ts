import { systemClock } from '../../core/base/clock.ts';
import { activateIntent } from '../../engine/intent/activate-intent.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { openRunStore } from '../../engine/intent/open-run-store.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { lifecycleActor } from './open-intent.ts';

/** Records a drafted contract as confirmed by the person at the keyboard: `writ spec activate` without a file. */
export async function confirmIntent(
  engine: WritEngine,
  repositoryPath: string,
  specBytes: Uint8Array,
): Promise<void> {
  const contract = await readContract(engine, specBytes);
  const repository = await openRepository(repositoryPath);
  const store = await openRunStore(engine.slots.store, repository, systemClock, contract.effective);
  await activateIntent(store, contract, await lifecycleActor(repository));
}
