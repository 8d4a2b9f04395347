/* Opens the evidence policy of a run, and stores the context snapshot of an attempt. */
import { uuidV7From } from '../../core/base/ids.ts';
import type { EvidencePolicy, EvidenceSource } from '../../core/interfaces/privacy.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { OutsideEvidence } from '../../plugins/third-party/parts/outside-evidence.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { retainBlobs } from '../../store/retain-blobs.ts';
import { sealObject } from '../../store/stored-object.ts';
import { openAdmission } from '../context/admission.ts';
import { collectContext } from '../context/collect-context.ts';
import { type InstructionFiles, readInstructions } from '../context/instruction-files.ts';
import { type OpenRun, policyOf, type RunEnvironment } from './open-run.ts';
import type { Steps } from './record-collector.ts';

/** The context snapshot of an attempt, as its Run names it. */
export interface ContextSnapshot {
  readonly objectId: string;
  /** Of the stored object. */
  readonly sha256: string;
  readonly dependencies: readonly DigestedThing[];
}

/**
 * Stores the context snapshot of an attempt's base tree in the record; `undefined` if
 * `objmodel.runPolicy.snapshotOnRunStart` is off. Content that is in no tree is retained as
 * `objectStore.blobRetentionStrategy` requires.
 */
export async function writeSnapshot(
  run: OpenRun,
  steps: Steps,
  name: string,
  tree: string,
): Promise<ContextSnapshot | undefined> {
  const {
    identity: { contract, runId, startedAtMs },
    services: { engine, scratch },
  } = run;
  const spec = contract.effective;
  return steps.once('snapshot', async () => {
    const { snapshot, blobs, dependencies } = await collectContext({
      objects: scratch,
      tree,
      spec,
      strategy: await openEvidence(run),
      hooks: engine.hooks,
      runId,
      words: policyOf(run).words,
    });
    if (!snapshot) return undefined;
    const { blobRetentionStrategy, aiRefPrefix } = spec.objmodel.objectStore;
    if (blobs.length > 0)
      await retainBlobs(run.environment.repository, blobRetentionStrategy, runId, blobs, { aiRefPrefix });
    const { object, bytes, sha256 } = sealObject('context_snapshot', snapshot, {
      nowMs: await steps.once('snapshot-at', () => run.services.settings.clock.now()),
      objectId: uuidV7From(startedAtMs, `${runId}/${name}/snapshot`),
      createdBy: schedulerOf(spec),
    });
    await run.services.record.put([[`${name}/snapshot.json`, bytes]]);
    return { objectId: object.object_id, sha256, dependencies };
  });
}

const instructions = new WeakMap<RunEnvironment, Promise<InstructionFiles>>();

/** The instruction files of a run's base commit for the files that its scope covers. Reads them once. */
export function instructionsOf(run: OpenRun): Promise<InstructionFiles> {
  const known = instructions.get(run.environment) ?? readRunInstructions(run);
  instructions.set(run.environment, known);
  return known;
}

async function readRunInstructions(run: OpenRun): Promise<InstructionFiles> {
  const { environment, identity, services } = run;
  const { runId, scope, contract } = identity;
  const spec = contract.effective;
  const { hooks } = services.engine;
  const strategy = await openEvidence(run);
  const admit = openAdmission({ spec, strategy, hooks, runId, words: policyOf(run).words });
  const { userDirectory } = services.settings;
  const { tree } = environment.base;
  return readInstructions({ objects: services.scratch, tree, spec, scope, admit, userDirectory });
}

/** How sources are evaluated in a run: by the spec's strategy, and by the additional plugins of the policy commit. */
export interface RunEvidence extends EvidencePolicy {
  /** Throws if an additional plugin gave no usable answer. */
  requireSound(): void;
}

/**
 * Opens the evidence policy. Third-party plugins see only sources that the spec's own strategy accepts. Each can
 * refuse a source or order it within its tier; none can accept, add, or rank above its tier.
 */
export async function openEvidence(run: OpenRun): Promise<RunEvidence> {
  const { environment, identity, services } = run;
  const { strategy } = identity.contract.effective.evidence;
  const own = await services.engine.slots.evidence.pick(strategy);
  const beside = environment.config.evidence.plugins.flatMap(
    (name) => environment.plugins.evidence.get(name) ?? [],
  );
  // A plugin with hosts can send data out, so it gets redacted text: a name or address may hold data that the spec
  // keeps private.
  const shown = (source: EvidenceSource, { sendsOut }: OutsideEvidence): EvidenceSource =>
    sendsOut ? redactTexts(source, policyOf(run)) : source;
  return {
    rank: (trustTiers) => own.rank(trustTiers),
    async refuse(source) {
      const refused = await own.refuse(source);
      if (refused !== undefined) return refused;
      for (const one of beside) {
        const why = await one.refuse(shown(source, one), services.signal);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    async order(source) {
      let order = (await own.order?.(source)) ?? 0;
      for (const one of beside) order += await one.order(shown(source, one), services.signal);
      return order;
    },
    async refuseRetrieval(soFar) {
      const refused = await own.refuseRetrieval(soFar);
      if (refused !== undefined) return refused;
      for (const one of beside) {
        const why = await one.refuseRetrieval(soFar, services.signal);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    requireSound() {
      for (const one of beside) one.requireSound();
    },
  };
}
