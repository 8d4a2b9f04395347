import { type RowReader, readersIn } from './row-reader.ts';

const history = 'the history that the author wrote is in the review';

/** What is not taken of an entry is its number instead. */
const entry = '({ at, by, reason, diffSummary }) =>';

/** Lifecycle. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/spec/rules/schema-version.ts', [
    [
      'lifecycle.schemaVersion',
      'if (!version) return [];',
      'if (!version || text) return [];',
      'every invalid fixture',
      'SEMANTIC_SCHEMA_VERSION-newer.json',
    ],
  ]),
  ...readersIn('engine/intent/require-active.ts', [
    [
      'lifecycle.status',
      'const stated = contract.document.lifecycle.status;',
      "const stated = 'active';",
      'without events the document’s own status decides',
    ],
  ]),
  ...readersIn('engine/run/seal/seal.ts', [
    [
      'lifecycle.status#closed-by-commit',
      'await closeByCommit(attempt.means.store, contract, {',
      'void ({',
      'the same id with other metadata',
    ],
  ]),
  ...readersIn('engine/intent/intent-history.ts', [
    [
      'lifecycle.changeLog',
      '[...document.lifecycle.changeLog, ...replans]',
      'document.lifecycle.changeLog',
      'the change log is the author’s entries',
    ],
  ]),
  ...readersIn('engine/spec/review.ts', [
    ['lifecycle.changeLog.at', entry, '({ by, reason, diffSummary }, at) =>', history, 'at'],
    ['lifecycle.changeLog.by', entry, '({ at, reason, diffSummary }, by) =>', history, 'by'],
    ['lifecycle.changeLog.reason', entry, '({ at, by, diffSummary }, reason) =>', history, 'reason'],
    [
      'lifecycle.changeLog.diffSummary',
      entry,
      '({ at, by, reason }, diffSummary) =>',
      history,
      'diffSummary',
    ],
  ]),
];
