import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { SealingParties, SealingPlace } from '../../core/interfaces/sealing.ts';
import type { StoreSource } from '../../core/interfaces/store-source.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import type { Slot } from '../../core/kernel/slot.ts';
import { isAttested } from '../../spec/facts.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { type SealingForms, sealingFormsOf } from '../config/sections.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { workerFile } from '../record/started-run.ts';
import type { Ground } from '../state/open-run.ts';
import type { ChangeSource, ResumeRequest } from '../state/run-request.ts';

/** Trusted roots and signing configs are a few kilobytes. */
const maxFileBytes = 1024 * 1024;

/**
 * Opens key and log before any work, so that a run which could never be sealed is refused at once. With `dry` no key
 * is created; a temporary key replaces it.
 */
export async function openParties(
  engine: WritEngine,
  contract: AdmittedContract,
  ground: Pick<Ground, 'config' | 'repository' | 'policy' | 'plugins'>,
  dry = false,
): Promise<SealingParties | undefined> {
  const { provenance } = contract.effective;
  if (!isAttested(contract.effective)) return undefined;
  const { config, repository, policy, plugins } = ground;
  const { mode } = provenance.transparencyLog;
  const { key } = config.signer;
  const keys = await engine.slots.signer.pick(key.form);
  const logs = await engine.slots.log.pick(mode);
  const asked: string[] = [];
  const place: SealingPlace = {
    repository,
    commonDir: repository.commonDir,
    logMode: mode,
    config: { signer: config.signer, log: config.log },
    ...(dry ? { dry } : {}),
    outsideLog(name) {
      asked.push(name);
      return plugins.logs.get(name);
    },
    readPolicy: (path) => readBlob(repository, policy.tree, path, maxFileBytes),
  };
  try {
    const signer = await keys.open(key, place);
    const log = await logs.open(place, signer);
    await plugins.requireSecrets({ logs: asked });
    return { signer, log };
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('SIGNER_FAILED', {
      message: `the signing key could not be opened: ${messageOf(fault)}`,
      cause: fault,
    });
  }
}

/** Who makes the change; `undefined` where it is supplied. SLOT_UNKNOWN, and what the worker refuses to be made of. */
export async function openWorker({ slots }: WritEngine, source: ChangeSource): Promise<Worker | undefined> {
  if (source.kind !== 'worker') return undefined;
  return (await slots.worker.pick(source.worker)).open(source.from);
}

/**
 * Opens the worker that resumes a run. Returns `undefined` if none was requested, or if the run's directory lacks the
 * inputs of the start.
 */
export async function reopenWorker(
  { slots }: WritEngine,
  wanted: ResumeRequest['worker'],
  directory: string,
  startedWith: string | undefined,
): Promise<Worker | undefined> {
  if (!wanted) return undefined;
  if (wanted.from) return (await slots.worker.pick(wanted.name)).open(await wanted.from());
  const from = await readKept(directory);
  return from && (await slots.worker.pick(startedWith ?? wanted.name)).open(from);
}

async function readKept(directory: string): Promise<Uint8Array | undefined> {
  return readFile(join(directory, workerFile)).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
}

/**
 * The plugin parts that preflight checks of spec and repository need before a run. The built-in ones work without an
 * engine (`plugins/preset/create-engine.ts`).
 */
export interface AskedPlugins {
  /** Slot `store`. */
  readonly stores: Pick<Slot<StoreSource>, 'pick'>;
  /** How the sources in slots `signer` and `log` read their sections. */
  sealingForms(): Promise<SealingForms>;
  /** Hook `plan.draft`; returns the given draft if no plugin changes it. */
  redraft(draft: PlanDraft): Promise<PlanDraft>;
}

/** As an open engine answers. */
export function askedOf({ slots, hooks }: Pick<WritEngine, 'slots' | 'hooks'>): AskedPlugins {
  return {
    stores: slots.store,
    sealingForms: () => sealingFormsOf(slots),
    redraft: (draft) => hooks.plan.draft.call(draft),
  };
}
