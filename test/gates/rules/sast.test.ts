import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { sarif } from '../formats/sample-documents.ts';
import { artifact, ruleOf, stageOf, withArtifacts } from './stage-case.ts';

const error = { rule: 'sast', severity: 'error' } as const;
const [run] = sarif.runs;
const message = { text: 'user input reaches a query' };
const report = (document: unknown) => ({
  ...stageOf('security'),
  ...withArtifacts(artifact('sast-report', document, { stage: 'security' })),
});
const results = (...list: unknown[]) => report({ ...sarif, runs: [{ ...run, results: list }] });
const ruleSet = (rule: unknown, result: unknown) =>
  report({
    ...sarif,
    runs: [{ tool: { driver: { name: 'scanner', rules: [rule] } }, results: [result] }],
  });
const severe = { id: 'sql', defaultConfiguration: { level: 'error' } };
const locations = [
  { physicalLocation: { artifactLocation: { uri: 'src/store.js' }, region: { startLine: 7 } } },
];

const unsafe = { 'a.py': { candidate: 'import pickle\npickle.loads(body)\n' } };
const safe = { 'a.py': { candidate: 'import json\njson.loads(body)\n' } };
/** A report that no check delivered: the engine made it. */
const made = (document: unknown) => {
  const { record, bytes } = artifact('sast-report', document, { stage: 'security' });
  const { checkId: _, ...ours } = record;
  return { artifacts: [ours], artifactBytes: { [record.sha256]: bytes } };
};
const found = { ...error, path: 'a.py', line: 2 };
const wantedAt = (stage: 'security' | 'release') => ({
  spec: {
    artifacts: { required: [{ name: 'sast-report' as const, stage, required: true, format: 'sarif' }] },
  },
});

await gateTester(t, ruleOf('sast'), {
  valid: [
    { name: 'a change alone, without a stage', files: safe, expect: [] },
    { name: 'a clean change and a clean report', files: safe, ...results(), expect: [] },
    {
      name: 'a report that the contract wants later',
      files: safe,
      ...stageOf('security'),
      ...wantedAt('release'),
      expect: [],
    },
    { name: 'an earlier stage without a report', files: safe, ...stageOf('fast'), expect: [] },
    { name: 'no results', ...results(), expect: [] },
    {
      name: 'results below error',
      ...results({ level: 'warning', message }, { level: 'note', message }),
      expect: [],
    },
    { name: 'a result without a level is a warning', ...results({ ruleId: 'x', message }), expect: [] },
    {
      name: 'a result that is no failure has no level',
      ...ruleSet(severe, { ruleId: 'sql', kind: 'informational', message }),
      expect: [],
    },
    {
      name: 'the level of a result counts before the level of its rule',
      ...ruleSet(severe, { ruleId: 'sql', level: 'note', message }),
      expect: [],
    },
    {
      name: 'a report of an earlier stage',
      ...stageOf('release'),
      ...withArtifacts(artifact('sast-report', sarif)),
      expect: [],
    },
  ],
  invalid: [
    { name: 'our rows on a change alone', files: unsafe, expect: [found] },
    { name: 'our rows beside a clean report of others', files: unsafe, ...results(), expect: [found] },
    {
      name: 'our rows and the report of others',
      files: unsafe,
      ...results({ ruleId: 'sql', level: 'error', message, locations }),
      expect: [found, { ...error, path: 'src/store.js' }],
    },
    {
      name: 'a report of ours says nothing twice',
      files: unsafe,
      ...stageOf('security'),
      ...made({ ...sarif, runs: [{ ...run, results: [{ level: 'error', message, locations }] }] }),
      expect: [found],
    },
    {
      name: 'a report of ours that was not finished',
      files: safe,
      ...stageOf('security'),
      ...made({ ...sarif, runs: [{ ...run, invocations: [{ executionSuccessful: false }] }] }),
      expect: [error],
    },
    {
      name: 'a check that calls itself writ is not believed',
      files: safe,
      ...report({
        ...sarif,
        runs: [{ tool: { driver: { name: 'writ' } }, results: [{ level: 'error', message }] }],
      }),
      expect: [error],
    },
    { name: 'no report where it is due', ...stageOf('security'), ...wantedAt('security'), expect: [error] },
    { name: 'no report', ...stageOf('security'), expect: [error] },
    { name: 'an empty report', ...report(''), expect: [error] },
    { name: 'another format', ...report({ results: [] }), expect: [error] },
    { name: 'another version of the format', ...report({ ...sarif, version: '2.0.0' }), expect: [error] },
    { name: 'no run', ...report({ ...sarif, runs: [] }), expect: [error] },
    {
      name: 'a run that did not scan',
      ...report({ ...sarif, runs: [{ tool: run?.tool }] }),
      expect: [error],
    },
    {
      name: 'a run that did not end well',
      ...report({ ...sarif, runs: [{ ...run, invocations: [{ executionSuccessful: false }] }] }),
      expect: [error],
    },
    {
      name: 'results in other files',
      ...report({ ...sarif, runs: [{ ...run, externalPropertyFileReferences: { results: [{}] } }] }),
      expect: [error],
    },
    {
      name: 'a result of level error with its place',
      ...results({ ruleId: 'sql', level: 'error', message, locations }),
      expect: [{ ...error, path: 'src/store.js', line: 7, message: 'sql: user input reaches a query' }],
    },
    {
      name: 'a location is the path to which its address resolves',
      ...results({
        level: 'error',
        message,
        locations: [{ physicalLocation: { artifactLocation: { uri: 'src/a%20b.js' } } }],
      }),
      expect: [{ ...error, path: 'src/a b.js' }],
    },
    { name: 'the level of its rule by id', ...ruleSet(severe, { ruleId: 'sql', message }), expect: [error] },
    {
      name: 'the level of its rule by index',
      ...ruleSet(severe, { ruleIndex: 0, message }),
      expect: [error],
    },
    {
      name: 'the level of its rule by reference',
      ...ruleSet(severe, { rule: { index: 0 }, message }),
      expect: [error],
    },
    {
      name: 'the level of a rule of an extension',
      ...report({
        ...sarif,
        runs: [
          {
            tool: { driver: { name: 'scanner' }, extensions: [{ name: 'pack', rules: [severe] }] },
            results: [{ rule: { index: 0, toolComponent: { index: 0 } }, message }],
          },
        ],
      }),
      expect: [error],
    },
    {
      name: 'a suppression does not count: it may have come with the change',
      ...results({ level: 'error', message, suppressions: [{ kind: 'inSource' }] }),
      expect: [error],
    },
    {
      name: 'the second of two runs',
      ...report({ ...sarif, runs: [run, { ...run, results: [{ level: 'error', message }] }] }),
      expect: [error],
    },
    {
      name: 'the second of two reports',
      ...stageOf('security'),
      ...withArtifacts(artifact('sast-report', sarif), artifact('sast-report', 'no')),
      expect: [error],
    },
    {
      name: 'content of another digest',
      ...stageOf('security'),
      artifacts: [artifact('sast-report', sarif).record],
      artifactBytes: { [artifact('sast-report', sarif).record.sha256]: Buffer.from('{}') },
      expect: [error],
    },
    {
      name: 'a hundred are listed and all are counted',
      ...results(...Array.from({ length: 150 }, () => ({ level: 'error', message }))),
      expect: Array.from({ length: 101 }, () => error),
    },
  ],
});
