import { type RowReader, readersIn } from './row-reader.ts';

const stores = ['fields that a run stores', 'all that one run can show'] as const;

/** Metadata. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/intent/seal-intent.ts', [
    ['metadata.id', 'externalIds: { intentspec_id: id },', 'externalIds: {},', ...stores, 'metadata.id'],
    [
      'metadata.createdBy.type',
      'kind: createdBy.type,',
      "kind: 'user',",
      ...stores,
      'metadata.createdBy.type and id',
    ],
    [
      'metadata.createdBy.id',
      'id: createdBy.id }',
      "id: 'someone' }",
      ...stores,
      'metadata.createdBy.type and id',
    ],
    [
      'metadata.target.labels',
      'tags: { ...target.labels },',
      'tags: {},',
      ...stores,
      'metadata.target.labels on the intent',
    ],
  ]),
  ...readersIn('readers/documents/date-time.ts', [
    ['metadata.createdAt', 'day > daysIn(year, month)', 'day > 31', 'days and times that do not exist'],
  ]),
  ...readersIn('engine/spec/review.ts', [
    [
      'metadata.createdBy.displayName',
      'displayName ? `',
      "displayName === '' ? `",
      'the review says everything',
    ],
  ]),
  ...readersIn('engine/plan/scope.ts', [
    [
      'metadata.target.repo.type',
      "if (repo.type !== 'monorepo') return '';",
      "return '';",
      'metadata.target.repo: a monorepo is worked on below its locator only',
    ],
  ]),
  ...readersIn('engine/spec/rules/locator-form.ts', [
    [
      'metadata.target.repo.locator',
      'if (holds(locator) && !unprintable.test(locator)) return [];',
      'return [];',
      'locators of every form are told apart',
    ],
  ]),
  ...readersIn('engine/run/state/resolve-origin.ts', [
    [
      'metadata.target.baseRef',
      'contract.effective.metadata.target.baseRef',
      "'HEAD'",
      'metadata.target.baseRef decides what the change starts from',
    ],
  ]),
  ...readersIn('engine/run/record/run-body.ts', [
    [
      'metadata.target.workspaceId',
      'target.workspaceId === undefined',
      'true',
      ...stores,
      'metadata.target.workspaceId',
    ],
  ]),
  ...readersIn('engine/intent/require-same-metadata.ts', [
    [
      'metadata#immutable',
      'throw new WritError(',
      'if (id === undefined) throw new WritError(',
      'the same id',
    ],
  ]),
];
