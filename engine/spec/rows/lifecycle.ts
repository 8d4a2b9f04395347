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
