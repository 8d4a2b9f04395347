import { type Guard, within } from './guard.ts';

const suite = 'test/gates/checks/test-suite.test.ts';
const stored = 'test/attack/secrets-stored/refused-secret.test.ts';
const hostile = 'test/attack/refs/hostile-refs.test.ts';
const travelling = 'test/attack/refs/two-records.test.ts';
const forged = 'test/attack/reports/forged-report.test.ts';

/** Test reports: what the author's code writes is a claim. */
export const guards: readonly Guard[] = [
  ...within('gates/checks/suite-report.ts', forged, [
    [
      'output that is TAP comes first',
      'const printed = await outputReport(result);',
      'const printed = undefined as Awaited<ReturnType<typeof outputReport>>;',
      'a report written by hand',
    ],
    [
      'two reports are ambiguous',
      'if (second) return',
      'if (second && files.length > 99) return',
      'a second report beside',
    ],
  ]),
  ...within('gates/checks/report-disagreement.ts', forged, [
    [
      'counts of two reports',
      'if (report.passed === other.passed && report.failed === other.failed) return undefined;',
      'if (report.passed >= 0) return undefined;',
      'a report written by hand',
    ],
  ]),
  ...within('gates/checks/report-disagreement.ts', suite, [
    [
      '`not ok` beside a report without failures',
      'if (!said || said.failed <= report.failed) return [];',
      'if (said !== undefined || !said) return [];',
      'a report in a file does not outvote',
    ],
  ]),
  ...within('gates/checks/exit-disagreement.ts', suite, [
    [
      'exit code and report',
      'if (!disagrees) return [];',
      'if (disagrees || !disagrees) return [];',
      'a good report does not make up',
    ],
  ]),
  ...within('gates/reports/tap.ts', 'test/gates/reports/tap.test.ts', [
    ['totals of the runner', 'this.#checkTotals(top.tally);', '', 'totals of the runner'],
  ]),
  ...within('gates/secrets/standing-marks.ts', 'test/gates/rules/secrets.test.ts', [
    [
      'the very value',
      'return values.has(value);',
      'return values.size > 0;',
      'an old marker never covers another value',
    ],
    [
      'taken from its place',
      'if (line?.removed && line.marked)',
      'if (line?.marked)',
      'a value that stood there without a marker',
    ],
    [
      'marked at base',
      'if (line?.removed && line.marked)',
      'if (line?.removed)',
      'a value that stood there without a marker',
    ],
  ]),
  ...within('engine/run/seal/abandon.ts', stored, [
    ['a refused patch is masked', 'masked?.bytes', 'undefined', 'a patch that is refused for a token'],
  ]),
  ...within('engine/run/decide/wait-for-people.ts', stored, [
    [
      'no candidate with a secret is anchored',
      '...(masked ? [] : [await anchorCandidate(attempt, shown.nowMs)]),',
      '...[await anchorCandidate(attempt, shown.nowMs)],',
      'a run that waits for its budget',
    ],
    ['nor its patch kept', 'masked?.bytes ?? patch.diff', 'patch.diff', 'a run that waits for its budget'],
  ]),
  ...within('engine/vcs/import-objects.ts', stored, [
    [
      'objects of the candidate alone',
      'const ids = reached ? own.filter((id) => reached.has(id)) : own;',
      'const ids = reached ? own : own;',
      'what a later attempt repaired',
    ],
  ]),
  ...within('engine/run/record/mask-patch.ts', stored, [
    [
      'binary content',
      'if (headEnd < file.end) parts.push(',
      'parts.push(diff.subarray(headEnd, file.end),',
      'nor does a key over several lines',
    ],
    ['names', '.map((line) => maskPath(line))', '', 'nor does a key over several lines'],
  ]),
  ...within('engine/run/open/mask-stated.ts', stored, [
    [
      'people are masked',
      'authorship: maskAuthorship(authorship, values),',
      'authorship,',
      'nor do the people and words',
    ],
    [
      'words are masked',
      'const masked = maskWording(wording, values);',
      'const masked = wording;',
      'nor do the people and words',
    ],
  ]),
  ...within('engine/run/record/keep-masked.ts', stored, [
    [
      'a patch that nobody judged',
      'const named = wasJudged ? refusedFiles(patch, findings) : suspectFiles(patch);',
      'const named = refusedFiles(patch, findings);',
      'a run that is cancelled before',
    ],
  ]),
  ...within('engine/run/open/hold-run.ts', stored, [
    ['recordings go', ", 'scratch', workerFile]", ", 'scratch']", 'the recording that a worker played'],
  ]),
  ...within('engine/upkeep/check-record.ts', stored, [
    [
      'digest of the original',
      "    compare(maskedPath, 'originalSha256', 'patchset.json', files.get('patchset.json')?.claims?.digest);\n",
      '',
      'what is kept masked is held',
    ],
  ]),
  ...within('engine/upkeep/push-refs.ts', 'test/attack/secrets-stored/held-back.test.ts', [
    [
      'refused runs stay',
      'const run = held.refs.get(mine.ref);',
      'const run = held.refs.get(remote.shown);',
      'a refused run does not leave',
    ],
  ]),
  ...within('engine/run/record/list-runs.ts', hostile, [
    [
      'runs are listed whatever one of them holds',
      'const objects = await readSmall(repository, names, maxObjectBytes);',
      "const objects = new Map((await (await import('../vcs/blobs.ts')).readObjects(repository, names)).flatMap((one, at) => one ? [[names[at] ?? '', one.bytes] as const] : []));",
      'hostile refs spoil themselves alone',
    ],
  ]),
  ...within('engine/upkeep/file-theirs.ts', travelling, [
    [
      'our record holds',
      "if (status === 'updated' && !(await isJournalBegun(journalPath(repository, id)))) return undefined;",
      "if (status === 'updated') return undefined;",
      'a record that changed elsewhere',
    ],
  ]),
];
