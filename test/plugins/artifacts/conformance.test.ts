import { AssertionError } from 'node:assert';
import t from 'tap';
import type { ArtifactProducer } from '../../../core/interfaces/artifact.ts';
import { openEngine } from '../../../plugins/preset/open-engine.ts';
import { type ArtifactCase, artifactTester } from '../../../testing.ts';

const lock = JSON.stringify({
  name: 'sample',
  lockfileVersion: 3,
  packages: {
    '': { name: 'sample', dependencies: { left: '1.0.0' } },
    'node_modules/left': { version: '1.0.0', license: 'MIT' },
  },
});
const files = {
  'src/a.js': { base: 'one();\n', candidate: 'two();\n' },
  'package-lock.json': { base: lock, candidate: lock },
};

const expected: Readonly<Record<string, ArtifactCase['expect']>> = {
  patchset: { includes: ['+two();'] },
  'release-notes': { includes: ['src/a.js', '## Objectives'] },
  'sast-report': { includes: ['"version": "2.1.0"'] },
  sbom: { includes: ['pkg:npm/left@1.0.0'] },
};

t.test('the built-in artifact producers pass the artifact tester', async (t) => {
  const env = { ...process.env, HOME: t.testdir(), XDG_CONFIG_HOME: t.testdir() };
  await using engine = await openEngine({
    env,
    ephemeralKey: true,
    report: (fault) => t.comment(String(fault)),
  });
  const { artifact } = engine.slots;
  // `sca-report` is made of what was imported here, and nothing is.
  t.strictSame([...artifact.names].sort(), [...Object.keys(expected), 'sca-report'].sort());
  for (const [name, expect] of Object.entries(expected))
    await artifactTester(t, {
      name,
      open: () => artifact.pick(name),
      cases: [{ name: 'a change of one file', files, expect }],
    });
});

const sound: ArtifactProducer = {
  contentType: 'application/json',
  extension: 'json',
  produce: async ({ patch }) => Buffer.from(JSON.stringify(patch.files.map(({ path }) => path))),
};
let calls = 0;
const broken: Readonly<Record<string, Partial<ArtifactProducer>>> = {
  'says no media type': { contentType: 'json' },
  'says no file ending': { extension: '.json' },
  'makes something else each time': {
    produce: async () => {
      calls += 1;
      return Buffer.from(`[${calls}]`);
    },
  },
  'makes what is no JSON': { produce: async () => Buffer.from('{') },
  'changes what it is handed': {
    produce: async (request) => {
      Object.assign(request.spec.intent, { summary: 'mine' });
      return sound.produce(request);
    },
  },
  'writes names as they come': {
    produce: async ({ patch }) => Buffer.from(`["${patch.files.map(({ path }) => path).join('","')}"]`),
  },
  'makes nothing': { produce: async () => undefined },
};

t.test('the artifact tester rejects a producer that breaks a promise', async (t) => {
  const subject = (producer: ArtifactProducer) => ({
    name: 'sample',
    open: async () => producer,
    cases: [{ name: 'a change', files, expect: { json: ['src/a.js'] } }],
  });
  await artifactTester(undefined, subject(sound));
  for (const [how, change] of Object.entries(broken))
    await t.rejects(artifactTester(undefined, subject({ ...sound, ...change })), AssertionError, how);
});
