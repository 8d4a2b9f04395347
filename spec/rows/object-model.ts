/* Ledger rows of the section `objmodel`. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { always, type ContractRow, inSection, withModel } from '../contract-row.ts';

export const objectModelRows = inSection('Object-model binding', [
  {
    id: 'objmodel.objectStore.backend=git-native',
    path: '/objmodel/objectStore/backend',
    rule: 'objects are git blobs under the AI ref prefix',
    asks: ({ objmodel }) => objmodel.objectStore.backend === 'git-native',
    enforcedBy: 'store',
  },
  {
    id: 'objmodel.objectStore.backend=external-local',
    path: '/objmodel/objectStore/backend',
    rule: 'objects are plain files beside the repository, for development and tests',
    asks: ({ objmodel }) => objmodel.objectStore.backend === 'external-local',
    enforcedBy: 'store',
  },
  {
    id: 'objmodel.objectStore.backend=external-s3',
    path: '/objmodel/objectStore/backend',
    rule: 'objects in object storage; git keeps only ArtifactRefs',
    asks: ({ objmodel }) => objmodel.objectStore.backend === 'external-s3',
    enforcedBy: 'store',
  },
  {
    id: 'objmodel.objectStore.blobRetentionStrategy',
    path: '/objmodel/objectStore/blobRetentionStrategy',
    rule: 'how what a context snapshot found outside the tree is kept from garbage collection',
    asks: withModel,
    enforcedBy: 'core',
  },
  ...retention('ref-anchoring', 'refs keep blobs from garbage collection'),
  ...retention('orphan-commit', 'commits without parents keep them, a ref each'),
  ...retention('keep-pack', 'packs that git never repacks keep them, without a ref'),
  ...retention('custom-gc', 'a collector of our own keeps them, beside the object database'),
  {
    id: 'objmodel.objectStore.aiRefPrefix',
    path: '/objmodel/objectStore/aiRefPrefix',
    rule: 'where the refs of intents, plans and runs lie',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.contextPipeline.maxFrames',
    path: '/objmodel/contextPipeline/maxFrames',
    rule: 'the oldest unprotected frames are evicted beyond it',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.contextPipeline.seedFrameKind',
    path: '/objmodel/contextPipeline/seedFrameKind',
    rule: 'kind of the first, protected frame',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.contextPipeline.checkpointOnReplan',
    path: '/objmodel/contextPipeline/checkpointOnReplan',
    rule: 'a protected Checkpoint frame before every revision of the Plan',
    asks: withModel,
    enforcedBy: 'core',
  },
  ...planning('decompositionMode', 'per-objective', 'a Task for every objective'),
  ...planning(
    'decompositionMode',
    'per-file-cluster',
    'a Task for every cluster of hinted files that import each other',
  ),
  ...planning('decompositionMode', 'single-task', 'one Task with every objective'),
  ...planning('conflictResolution', 'force-serial', 'Tasks with overlapping writes come one after the other'),
  ...planning('conflictResolution', 'merge-tasks', 'Tasks with overlapping writes are one Task'),
  ...planning('conflictResolution', 'fail-fast', 'Tasks with overlapping writes are a planning error'),
  {
    id: 'objmodel.planGeneration.gateTaskPerStage',
    path: '/objmodel/planGeneration/gateTaskPerStage',
    rule: 'one gate Task for every stage',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.runPolicy.patchsetFormat',
    path: '/objmodel/runPolicy/patchsetFormat',
    rule: 'form of the patchset artifact: git diff or plain unified',
    asks: always,
    enforcedBy: 'artifacts',
  },
  {
    id: 'objmodel.runPolicy.snapshotOnRunStart',
    path: '/objmodel/runPolicy/snapshotOnRunStart',
    rule: 'a context snapshot at the start of every Run',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.runPolicy.metricsSchema',
    path: '/objmodel/runPolicy/metricsSchema',
    rule: 'the metrics of a Run have this structure',
    asks: ({ objmodel }) => Object.keys(objmodel.runPolicy.metricsSchema).length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.actorMapping.orchestratorActorId',
    path: '/objmodel/actorMapping/orchestratorActorId',
    rule: 'the Scheduler as creator of plans, runs and decisions',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.actorMapping.coderActorId',
    path: '/objmodel/actorMapping/coderActorId',
    rule: 'creator of the patchset',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.actorMapping.coderActorId#author',
    path: '/objmodel/actorMapping/coderActorId',
    rule: 'an author of the change, whose approval does not count',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.actorMapping.reviewerActorId',
    path: '/objmodel/actorMapping/reviewerActorId',
    rule: 'creator of the evidence of checks',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.abandonOnSecurityGateFail',
    path: '/objmodel/decisionPolicy/abandonOnSecurityGateFail',
    rule: 'a failed security check ends in Decision.Abandon, without another attempt',
    asks: (spec, { model }) => !model || spec.objmodel.decisionPolicy.abandonOnSecurityGateFail,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.abandonOnSecurityGateFail=false',
    path: '/objmodel/decisionPolicy/abandonOnSecurityGateFail',
    rule: 'a failed security check is retried',
    asks: (spec, { model }) => model && !spec.objmodel.decisionPolicy.abandonOnSecurityGateFail,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.abandonOnSecurityGateFail=false#task',
    path: '/objmodel/decisionPolicy/abandonOnSecurityGateFail',
    rule: 'by the Tasks that wrote the files it refused',
    asks: (spec, { model }) => model && !spec.objmodel.decisionPolicy.abandonOnSecurityGateFail,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.checkpointBeforeReplan',
    path: '/objmodel/decisionPolicy/checkpointBeforeReplan',
    rule: 'Decision.Checkpoint before every revision of the Plan',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.checkpointBeforeReplan=false',
    path: '/objmodel/decisionPolicy/checkpointBeforeReplan',
    rule: 'the decision before a revision of the Plan is Decision.Retry',
    asks: (spec, { model }) => model && !spec.objmodel.decisionPolicy.checkpointBeforeReplan,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.rollbackOnProvenanceFail=true',
    path: '/objmodel/decisionPolicy/rollbackOnProvenanceFail',
    rule: 'Decision.Rollback where provenance or its log failed',
    asks: ({ objmodel }) => objmodel.decisionPolicy.rollbackOnProvenanceFail,
    enforcedBy: 'core',
  },
  {
    id: 'objmodel.decisionPolicy.rollbackOnProvenanceFail=false',
    path: '/objmodel/decisionPolicy/rollbackOnProvenanceFail',
    rule: 'the swap happens all the same, and the decision, the run and stderr say that the proof is missing',
    asks: ({ objmodel }) => !objmodel.decisionPolicy.rollbackOnProvenanceFail,
    enforcedBy: 'core',
  },
]);

type Row = Omit<ContractRow, 'section'>;
type ObjectModel = EffectiveIntentSpec['objmodel'];

function retention(
  strategy: ObjectModel['objectStore']['blobRetentionStrategy'],
  rule: string,
): readonly Row[] {
  return [
    {
      id: `objmodel.objectStore.blobRetentionStrategy=${strategy}`,
      path: '/objmodel/objectStore/blobRetentionStrategy',
      rule,
      asks: ({ objmodel }) => objmodel.objectStore.blobRetentionStrategy === strategy,
      enforcedBy: 'core',
    },
  ];
}

function planning<Key extends 'decompositionMode' | 'conflictResolution'>(
  key: Key,
  value: ObjectModel['planGeneration'][Key],
  rule: string,
): readonly Row[] {
  return [
    {
      id: `objmodel.planGeneration.${key}=${value}`,
      path: `/objmodel/planGeneration/${key}`,
      rule,
      asks: ({ objmodel }, { model }) => model && objmodel.planGeneration[key] === value,
      enforcedBy: 'core',
    },
  ];
}
