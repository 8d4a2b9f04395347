import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import type { LifecycleActor } from '../../engine/intent/activate-intent.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { unknownIntent } from '../../engine/intent/append-intent-events.ts';
import type { NamedIntent } from '../../engine/intent/close-intent.ts';
import { findIntent } from '../../engine/intent/find-intent.ts';
import { openRunStore } from '../../engine/intent/open-run-store.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { readIdentity } from '../../engine/vcs/identity.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { InputSource } from '../read-input.ts';
import { readSpecBytes } from './read-spec-bytes.ts';

/** An intent of a specification file. */
type IntentOfFile = NamedIntent & Required<Pick<NamedIntent, 'contract'>>;

/** The intent of a specification file, recorded or not. The document must be valid. */
export async function intentOfFile(
  context: InputSource,
  engine: WritEngine,
  repository: Repository,
  path: string,
): Promise<IntentOfFile> {
  const contract = await readContract(engine, await readSpecBytes(context, path));
  const store = await openRunStore(engine.slots.store, repository, systemClock, contract.effective);
  return { store, specId: contract.document.metadata.id, contract };
}

/**
 * What a command line names: the id of a recorded intent, else a specification file. INTENT_NOT_FOUND where it is
 * neither.
 */
export async function namedIntent(
  context: InputSource,
  engine: WritEngine,
  repository: Repository,
  named: string,
): Promise<NamedIntent> {
  const store = await findIntent(engine.slots.store, repository, systemClock, named);
  if (store) return { store, specId: named };
  const isFile =
    named === '-' || (await stat(resolve(context.cwd, named)).catch(() => undefined)) !== undefined;
  if (isFile) return intentOfFile(context, engine, repository, named);
  throw unknownIntent(named);
}

/** The person at the keyboard, by the identity that git would commit with. */
export async function lifecycleActor(repository: Repository): Promise<LifecycleActor> {
  const identity = await readIdentity(repository);
  const id = identity === undefined ? 'unknown' : `${identity.name} <${identity.email}>`;
  return { by: { kind: 'user', id: id.slice(0, 128) }, nowMs: systemClock.now() };
}
