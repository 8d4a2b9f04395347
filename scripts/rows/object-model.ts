import { type RowReader, readersIn } from './row-reader.ts';

const stores = ['fields that a run stores', 'all that one run can show'] as const;
const table = 'every trouble under every policy and budget';

/** Object-model binding. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/intent/open-run-store.ts', [
    [
      'objmodel.objectStore.backend=git-native',
      'pick(objectStore.backend)',
      "pick('external-local')",
      'objectStore: objects are anchored',
    ],
    [
      'objmodel.objectStore.backend=external-local',
      'pick(objectStore.backend)',
      "pick('git-native')",
      'a run under `external-local` is kept beside the repository',
    ],
    [
      'objmodel.objectStore.aiRefPrefix',
      'storeRefs(objectStore.aiRefPrefix)',
      "storeRefs('refs/ai/')",
      'objectStore: objects are anchored',
    ],
  ]),
  ...readersIn('engine/run/record/take-snapshot.ts', [
    [
      'objmodel.objectStore.blobRetentionStrategy',
      'retainBlobs(run.ground.repository, blobRetentionStrategy,',
      "retainBlobs(run.ground.repository, 'ref-anchoring',",
      'what a snapshot found is kept as the contract says',
    ],
  ]),
  ...readersIn('engine/store/retain-blobs.ts', [
    [
      'objmodel.objectStore.blobRetentionStrategy=ref-anchoring',
      "'ref-anchoring': refAnchoring,",
      "'ref-anchoring': orphanCommit,",
      'ref-anchoring: what is kept outlives git gc',
    ],
    [
      'objmodel.objectStore.blobRetentionStrategy=orphan-commit',
      "'orphan-commit': orphanCommit,",
      "'orphan-commit': refAnchoring,",
      'orphan-commit: what is kept outlives git gc',
    ],
    [
      'objmodel.objectStore.blobRetentionStrategy=keep-pack',
      "'keep-pack': keepPack,",
      "'keep-pack': refAnchoring,",
      'keep-pack: what is kept outlives git gc',
    ],
    [
      'objmodel.objectStore.blobRetentionStrategy=custom-gc',
      "'custom-gc': customGc,",
      "'custom-gc': refAnchoring,",
      'custom-gc: what is kept outlives git gc',
    ],
  ]),
  ...readersIn('engine/frame/context-frames.ts', [
    [
      'objmodel.contextPipeline.maxFrames',
      'openFrameWindow(maxFrames)',
      'openFrameWindow(128)',
      '`maxFrames` bounds the pipeline',
    ],
    [
      'objmodel.contextPipeline.seedFrameKind',
      "kind: seedFrameKind,\n    name: 'seed',",
      "kind: 'IntentAnalysis',\n    name: 'seed',",
      'the first frame is of the kind that the contract names',
    ],
    [
      'objmodel.contextPipeline.checkpointOnReplan',
      'checkpointOnReplan ? push(',
      'true ? push(',
      '`checkpoint` pushes a protected frame',
    ],
  ]),
  ...readersIn('engine/plan/decompose.ts', [
    [
      'objmodel.planGeneration.decompositionMode=per-objective',
      "if (mode === 'per-objective')",
      'if (objectives.length === 0)',
      'per-objective: each objective is a Task',
    ],
    [
      'objmodel.planGeneration.decompositionMode=per-file-cluster',
      "(mode === 'per-file-cluster' ? perCluster(work) : undefined)",
      'undefined',
      'an objective is a step of the clusters',
    ],
    [
      'objmodel.planGeneration.decompositionMode=single-task',
      "if (mode === 'per-objective')",
      "if (mode !== 'per-file-cluster')",
      'single-task: one Task with every objective',
    ],
  ]),
  ...readersIn('engine/plan/resolve-conflicts.ts', [
    [
      'objmodel.planGeneration.conflictResolution=force-serial',
      'after: after.get(at) ?? []',
      'after: []',
      'force-serial: overlapping Tasks stay apart',
    ],
    [
      'objmodel.planGeneration.conflictResolution=merge-tasks',
      "if (how === 'merge-tasks') return",
      'if (conflicts.length < 0) return',
      'merge-tasks: what hangs together by its writes',
    ],
    [
      'objmodel.planGeneration.conflictResolution=fail-fast',
      "if (how === 'fail-fast' && conflicts.length > 0)",
      'if (conflicts.length < 0)',
      'fail-fast: an overlap is a planning error',
    ],
  ]),
  ...readersIn('engine/plan/gate-tasks.ts', [
    [
      'objmodel.planGeneration.gateTaskPerStage',
      'objmodel.planGeneration.gateTaskPerStage ? stages.map(',
      'stages.length > 0 ? stages.map(',
      'without a gate for each stage there is one',
    ],
  ]),
  ...readersIn('plugins/artifacts/patchset.ts', [
    [
      'objmodel.runPolicy.patchsetFormat',
      "spec.objmodel.runPolicy.patchsetFormat === 'GitDiff'",
      'spec',
      'patchsetFormat: the stored patchset',
    ],
  ]),
  ...readersIn('engine/frame/take-context.ts', [
    [
      'objmodel.runPolicy.snapshotOnRunStart',
      'if (!spec.objmodel.runPolicy.snapshotOnRunStart)',
      'if (!spec)',
      'without `snapshotOnRunStart` there is a seeded pipeline',
    ],
  ]),
  ...readersIn('engine/run/decide/decide-run.ts', [
    [
      'objmodel.runPolicy.metricsSchema',
      "...(subject === 'candidate' ? await metricRefusals(spec, metrics) : []),",
      '',
      'metricsSchema: a metric that is not as the contract expects',
    ],
  ]),
  ...readersIn('engine/spec/scheduler-of.ts', [
    [
      'objmodel.actorMapping.orchestratorActorId',
      'objmodel.actorMapping.orchestratorActorId',
      "objmodel ? 'someone' : ''",
      ...stores,
      'objmodel.actorMapping.orchestratorActorId',
    ],
  ]),
  ...readersIn('engine/run/record/judgement-objects.ts', [
    [
      'objmodel.actorMapping.coderActorId',
      "optionsOf(coderActorId, 'patchset')",
      "optionsOf('someone', 'patchset')",
      ...stores,
      'objmodel.actorMapping.coderActorId',
    ],
    [
      'objmodel.actorMapping.reviewerActorId',
      'const optionsOf = (id: string, what: string): SealOptions => ({',
      "const optionsOf = (given: string, what: string, id = given === reviewerActorId ? 'someone' : given): SealOptions => ({",
      ...stores,
      'objmodel.actorMapping.reviewerActorId',
    ],
  ]),
  ...readersIn('engine/run/decide/receive-approvals.ts', [
    [
      'objmodel.actorMapping.coderActorId#author',
      'objmodel.actorMapping.coderActorId,',
      '',
      'a record that names nobody',
    ],
  ]),
  ...readersIn('engine/run/decide/decision-objections.ts', [
    [
      'objmodel.decisionPolicy.abandonOnSecurityGateFail',
      "name === 'security' && policy.abandonOnSecurityGateFail",
      "name === 'security' && !policy",
      table,
    ],
    [
      'objmodel.decisionPolicy.abandonOnSecurityGateFail=false',
      "name === 'security' && policy.abandonOnSecurityGateFail",
      "name === 'security'",
      table,
    ],
  ]),
  ...readersIn('engine/run/work/hand-back-candidate.ts', [
    [
      'objmodel.decisionPolicy.abandonOnSecurityGateFail=false#task',
      '(input.blame?.tasks ?? []).map(({ id }) => id)',
      '(input.blame?.merged ?? []).slice(0, 0)',
      'abandonOnSecurityGateFail false:',
    ],
  ]),
  ...readersIn('engine/run/decide/decide.ts', [
    [
      'objmodel.decisionPolicy.rollbackOnProvenanceFail=true',
      'isRolledBack = policy.rollbackOnProvenanceFail',
      'isRolledBack = policy === undefined',
      'a log that fails rolls back',
    ],
    [
      'objmodel.decisionPolicy.rollbackOnProvenanceFail=false',
      'isRolledBack = policy.rollbackOnProvenanceFail',
      'isRolledBack = policy !== undefined',
      'a log that fails is reported and the swap happens',
    ],
    [
      'objmodel.decisionPolicy.checkpointBeforeReplan',
      "policy.checkpointBeforeReplan ? 'checkpoint' : 'retry'",
      "'retry'",
      'the same test failing twice makes a new revision',
    ],
    [
      'objmodel.decisionPolicy.checkpointBeforeReplan=false',
      "policy.checkpointBeforeReplan ? 'checkpoint' : 'retry'",
      "'checkpoint'",
      'without a checkpoint before it, a replan is decided as retry',
    ],
  ]),
];
