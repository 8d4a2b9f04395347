import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { sarif } from '../formats/sample-documents.ts';
import { artifact, ruleOf, stageOf, withArtifacts } from './stage-case.ts';

const error = { rule: 'sast', severity: 'error' } as const;
const message = { text: 'user input reaches a query' };
const report = (run: object) => ({
  ...stageOf('security'),
  ...withArtifacts(artifact('sast-report', { ...sarif, runs: [run] }, { stage: 'security' })),
});
const driver = (...rules: unknown[]) => ({ tool: { driver: { name: 'scanner', rules } } });
const severe = { id: 'sql', defaultConfiguration: { level: 'error' } };
const override = (level: string, descriptor: object = { id: 'sql' }) => ({
  ruleConfigurationOverrides: [{ descriptor, configuration: { level } }],
});
const withSeverity = (severity: unknown) => ({ id: 'sql', properties: { 'security-severity': severity } });
const at = (artifactLocation: object, region?: object) => ({
  results: [{ level: 'error', message, locations: [{ physicalLocation: { artifactLocation, region } }] }],
});
const notified = (one: object, more: object = {}) => ({
  ...driver(),
  results: [],
  invocations: [{ executionSuccessful: true, toolExecutionNotifications: [one], ...more }],
});
const unread = { message: { text: 'a.js: cannot be parsed' } };
const bases = {
  SRCROOT: { uri: 'file:///ci/checkout/app/' },
  CORE: { uri: 'core/', uriBaseId: 'SRCROOT' },
  SELF: { uri: 'x/', uriBaseId: 'SELF' },
};

const paths: readonly (readonly [name: string, location: object, path: string])[] = [
  ['an absolute URI in the sandbox', { uri: 'file:///workspace/src/a%20b.js' }, 'src/a b.js'],
  ['an absolute path in the sandbox', { uri: '/workspace/src/./x/../a.js' }, 'src/a.js'],
  ['a path below a declared base', { uri: 'file:///ci/checkout/app/src/a.js' }, 'src/a.js'],
  ['a path relative to a declared base', { uri: 'src/a.js', uriBaseId: 'SRCROOT' }, 'src/a.js'],
  ['a path relative to a base in another base', { uri: 'a.js', uriBaseId: 'CORE' }, 'a.js'],
  ['a path relative to a base that names itself', { uri: 'a.js', uriBaseId: 'NONE' }, 'a.js'],
  ['a path below the working directory', { uri: 'file:///build/7/src/a.js' }, 'src/a.js'],
  ['an absolute path elsewhere', { uri: 'file:///usr/lib/a.js' }, 'file:///usr/lib/a.js'],
  ['another scheme', { uri: 'https://example.com/a.js' }, 'https://example.com/a.js'],
];

await gateTester(t, ruleOf('sast'), {
  valid: [
    {
      name: 'an override lowers the level of a rule',
      ...report({
        ...driver(severe),
        invocations: [override('note')],
        results: [{ ruleId: 'sql', message }],
      }),
      expect: [],
    },
    {
      name: 'an override of another invocation does not count',
      ...report({
        ...driver({ id: 'sql' }),
        invocations: [{}, override('error')],
        results: [{ ruleId: 'sql', provenance: { invocationIndex: 0 }, message }],
      }),
      expect: [],
    },
    ...['6.9', '', 'high', null].map((severity) => ({
      name: `a warning of security-severity ${severity}`,
      ...report({ ...driver(withSeverity(severity)), results: [{ ruleId: 'sql', message }] }),
      expect: [],
    })),
    {
      name: 'a note of high security-severity',
      ...report({ ...driver(withSeverity('9.8')), results: [{ ruleId: 'sql', level: 'note', message }] }),
      expect: [],
    },
    { name: 'a notification without a level is a warning', ...report(notified(unread)), expect: [] },
    {
      name: 'an id that only begins with the same letters',
      ...report({ ...driver(severe), results: [{ ruleId: 'sql-2', message }] }),
      expect: [],
    },
  ],
  invalid: [
    {
      name: 'a hierarchical id has the level of the descriptor that it extends',
      ...report({ ...driver(severe), results: [{ ruleId: 'sql/query/2', message }] }),
      expect: [{ ...error, message: 'sql/query/2: user input reaches a query' }],
    },
    {
      name: 'an id is found in an extension that the result does not name',
      ...report({
        tool: { driver: { name: 'scanner' }, extensions: [{ name: 'pack', rules: [severe] }] },
        results: [{ ruleId: 'sql/2', message }],
      }),
      expect: [error],
    },
    {
      name: 'an override raises the level of a rule',
      ...report({
        ...driver({ id: 'sql' }),
        invocations: [override('error', { index: 0 })],
        results: [{ ruleId: 'sql/1', message }],
      }),
      expect: [error],
    },
    ...['7.0', '9.8', 8.1].map((severity) => ({
      name: `a warning of security-severity ${severity}`,
      ...report({
        ...driver(withSeverity(severity)),
        results: [{ ruleIndex: 0, level: 'warning', message }],
      }),
      expect: [error],
    })),
    {
      name: 'a notification of level error, though the run says that it was successful',
      ...report(notified({ ...unread, level: 'error' })),
      expect: [error],
    },
    {
      name: 'a notification whose descriptor has the level error',
      ...report({
        ...notified({ ...unread, descriptor: { id: 'parse/1' } }),
        tool: {
          driver: {
            name: 'scanner',
            notifications: [{ id: 'parse', defaultConfiguration: { level: 'error' } }],
          },
        },
      }),
      expect: [error],
    },
    {
      name: 'a notification that an override makes an error',
      ...report({
        ...notified(
          { ...unread, descriptor: { id: 'parse' } },
          {
            notificationConfigurationOverrides: [
              { descriptor: { id: 'parse' }, configuration: { level: 'error' } },
            ],
          },
        ),
        tool: { driver: { name: 'scanner', notifications: [{ id: 'parse' }] } },
      }),
      expect: [error],
    },
    {
      name: 'a tool that a signal ended',
      ...report(notified(unread, { exitSignalName: 'SIGKILL' })),
      expect: [error],
    },
    ...[0, -1, '7', 1.5].map((startLine) => ({
      name: `startLine ${startLine}`,
      ...report({ ...driver(), ...at({ uri: 'a.js' }, { startLine }) }),
      expect: [
        {
          ...error,
          message:
            'expected `sast-report` to be SARIF 2.1.0 in which a tool ran and reports no result of level `error`, found `startLine` that is no number from 1 in `results[0]` in `runs[0]`',
        },
      ],
    })),
    ...paths.map(([name, location, path]) => ({
      name,
      ...report({
        ...driver(),
        originalUriBaseIds: bases,
        invocations: [{ executionSuccessful: true, workingDirectory: { uri: 'file:///build/7' } }],
        ...at(location, { startLine: 1 }),
      }),
      expect: [{ ...error, path }],
    })),
  ],
});
