import type { DigestedThing } from '../../core/contract/attestor.ts';
import type { EvidencePolicy } from '../../core/contract/evidence-policy.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { ClassWords } from '../../core/contract/privacy-policy.ts';
import type { Hooks } from '../../core/kernel/hooks.ts';
import type { ObjectBody } from '../store/object-shapes.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { listTree } from '../vcs/tree.ts';
import { openAdmission } from './admission.ts';
import { type ContextFrames, openContextFrames } from './context-frames.ts';
import { collectContextItems, contextSnapshotBody } from './context-snapshot.ts';
import { expandHints } from './expand-hints.ts';

export interface ContextRequest {
  readonly objects: GitDirectory;
  /** Base tree of the attempt. */
  readonly tree: string;
  readonly spec: EffectiveIntentSpec;
  /** Of the contract's strategy. */
  readonly strategy: EvidencePolicy;
  readonly hooks: Pick<Hooks, 'frame'>;
  readonly runId: string;
  /** `[redaction]` of the config at the policy commit. */
  readonly words?: ClassWords;
}

/** What one attempt starts from. */
export interface TakenContext {
  /** Body of the `context_snapshot` object; `undefined` where `runPolicy.snapshotOnRunStart` asks for none. */
  readonly snapshot: ObjectBody<'context_snapshot'> | undefined;
  /**
   * Content that no tree of the repository holds, named by SHA-256; to be retained by
   * `objectStore.blobRetentionStrategy`.
   */
  readonly blobs: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly frames: ContextFrames;
  /** For the provenance: one uri and digest per item of the snapshot. */
  readonly dependencies: readonly DigestedThing[];
}

/**
 * Takes the context of an attempt: expands the hints on its base tree, admits what they lead to, opens the pipeline
 * with its seed.
 */
export async function takeContext(request: ContextRequest): Promise<TakenContext> {
  const { objects, tree, spec, strategy, hooks, runId, words } = request;
  const admit = openAdmission({ spec, strategy, hooks, runId, ...(words ? { words } : {}) });
  const frames = await openContextFrames(spec, admit);
  if (!spec.objmodel.runPolicy.snapshotOnRunStart)
    return { snapshot: undefined, blobs: [], frames, dependencies: [] };
  const hints = await expandHints(objects, await listTree(objects, tree), spec);
  const { items, rejected, blobs } = await collectContextItems({
    objects,
    tree,
    spec,
    hints,
    strategy,
    admit,
  });
  return {
    snapshot: contextSnapshotBody({ tree, spec, hints }, { items, rejected }, runId),
    blobs: [...blobs],
    frames,
    dependencies: items.map(({ name, uri, sha256 }) => ({ name, uri, digest: { sha256 } })),
  };
}
