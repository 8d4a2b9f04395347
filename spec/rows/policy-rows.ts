/* Ledger rows of lifecycle, document, execution and metadata. */
import type { EffectiveIntentSpec, ReplanTrigger } from '../../core/interfaces/intentspec.gen.ts';
import { always, inSection, withModel } from '../contract-row.ts';

export const lifecycleRows = inSection('Lifecycle', [
  {
    id: 'lifecycle.schemaVersion',
    path: '/lifecycle/schemaVersion',
    rule: 'three numbers; newer than this schema is a warning',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'lifecycle.status',
    path: '/lifecycle/status',
    rule: 'only `active` runs',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'lifecycle.status#closed-by-commit',
    path: '/lifecycle/status',
    rule: 'Decision.Commit closes the intent; a closed one does not run again',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'lifecycle.changeLog',
    path: '/lifecycle/changeLog',
    rule: 'one entry for every replan, kept as events',
    asks: withModel,
    enforcedBy: 'core',
  },
  ...(['at', 'by', 'reason', 'diffSummary'] as const).map((key) => ({
    id: `lifecycle.changeLog.${key}`,
    path: `/lifecycle/changeLog/*/${key}`,
    rule: 'kept as written, in the digest and in the review',
    asks: (spec: Parameters<typeof withModel>[0]) => spec.lifecycle.changeLog.length > 0,
    enforcedBy: 'core',
  })),
]);

export const documentRows = inSection('Top level', [
  {
    id: 'apiVersion',
    path: '/apiVersion',
    rule: 'the form is validated; `v1alpha1` is planned and run, other versions are refused',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'kind',
    path: '/kind',
    rule: 'the constant `IntentSpec`',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'extensions',
    path: '/extensions',
    rule: 'open, kept in the digest, affects no gate decision; other than `<vendor>/<key>` is a warning',
    asks: (spec) => Object.keys(spec.extensions).length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'document#strict',
    path: '',
    rule: 'strict JSON within 4 MiB and 64 levels, with line and column of the first fault',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'document#unknown-properties',
    path: '',
    rule: 'unknown properties are refused everywhere but in open objects',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'document#defaults',
    path: '',
    rule: 'defaults are applied before use and never before the digest',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'document#all-issues',
    path: '',
    rule: 'every issue is reported at once, with code and JSON Pointer, in the order of the document',
    asks: always,
    enforcedBy: 'core',
  },
]);

export const executionRows = inSection('Execution policy', [
  {
    id: 'execution.retry.maxRetries',
    path: '/execution/retry/maxRetries',
    rule: 'attempts of a Task after its first; then Decision.Abandon',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'execution.retry.backoffSeconds',
    path: '/execution/retry/backoffSeconds',
    rule: 'wait before the n-th retry: backoffSeconds × 2^(n-1), at most 3600 seconds',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'execution.replan.triggers',
    path: '/execution/replan/triggers',
    rule: 'each causes a new revision of the Plan',
    asks: (spec, { model }) => model && spec.execution.replan.triggers.length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'execution.replan.triggers#supplied-patch',
    path: '/execution/replan/triggers',
    rule: 'what would replan ends a supplied patch in abandon, with its reason',
    asks: (_spec, { model }) => !model,
    enforcedBy: 'core',
  },
  ...(
    [
      ['scope-creep', 'an error of rule `scope`: a file out of scope was to be changed'],
      ['repeated-test-fail', 'the same test failed in two attempts of a Task, one after the other'],
      ['security-gate-fail', 'a required security check failed, or an error that names a place'],
    ] as const
  ).map(([trigger, rule]) => ({
    id: `execution.replan.triggers=${trigger}`,
    path: '/execution/replan/triggers',
    rule,
    asks: asksFor(trigger),
    enforcedBy: 'core',
  })),
  {
    id: 'execution.replan.triggers=evidence-conflict',
    path: '/execution/replan/triggers',
    rule: 'sources contradict each other; without a model there are none',
    asks: (spec, { model }) => model && asksFor('evidence-conflict')(spec),
    enforcedBy: 'core',
  },
  {
    id: 'execution.replan.triggers=unknown-api',
    path: '/execution/replan/triggers',
    rule: 'an added line calls an endpoint that `touchHints.apis` does not name',
    asks: asksFor('unknown-api'),
    enforcedBy: 'gates',
  },
  {
    id: 'execution.concurrency.maxParallelTasks',
    path: '/execution/concurrency/maxParallelTasks',
    rule: 'so many checks of a stage at once',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'execution.concurrency.maxParallelTasks#tasks',
    path: '/execution/concurrency/maxParallelTasks',
    rule: 'so many Tasks at once, fewer where writes conflict',
    asks: withModel,
    enforcedBy: 'core',
  },
]);

function asksFor(trigger: ReplanTrigger): (spec: EffectiveIntentSpec) => boolean {
  return ({ execution }) => execution.replan.triggers.includes(trigger);
}

export const metadataRows = inSection('Metadata', [
  {
    id: 'metadata.id',
    path: '/metadata/id',
    rule: 'external id of the Intent, name of its ref, trailer of the commit',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.createdAt',
    path: '/metadata/createdAt',
    rule: 'an RFC 3339 time with a zone that exists in the calendar',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.createdBy.type',
    path: '/metadata/createdBy/type',
    rule: 'kind of the actor who created the Intent',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.createdBy.id',
    path: '/metadata/createdBy/id',
    rule: 'id of the actor who created the Intent',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.createdBy.displayName',
    path: '/metadata/createdBy/displayName',
    rule: 'shown in the review, no business effect',
    asks: (spec) => spec.metadata.createdBy.displayName !== undefined,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.target.repo.type',
    path: '/metadata/target/repo/type',
    rule: 'monorepo: scope root · local: this repository · git: provenance uri',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.target.repo.locator',
    path: '/metadata/target/repo/locator',
    rule: 'has the form that its type demands',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.target.baseRef',
    path: '/metadata/target/baseRef',
    rule: 'resolved to a commit that is stored on the Run',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.target.workspaceId',
    path: '/metadata/target/workspaceId',
    rule: 'written to the Run',
    asks: (spec) => spec.metadata.target.workspaceId !== undefined,
    enforcedBy: 'core',
  },
  {
    id: 'metadata.target.labels',
    path: '/metadata/target/labels',
    rule: 'written to the tags of the Intent',
    asks: (spec) => Object.keys(spec.metadata.target.labels).length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'metadata#immutable',
    path: '/metadata',
    rule: 'the same id with other metadata is refused',
    asks: always,
    enforcedBy: 'core',
  },
]);
