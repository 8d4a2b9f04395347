import t from 'tap';
import type { EffectiveArtifacts } from '../../../core/interfaces/intentspec.gen.ts';
import { gateTester } from '../../../testing.ts';
import { sarif } from '../formats/sample-documents.ts';
import { artifact, ruleOf, stageOf, withArtifacts } from './stage-case.ts';

type Entry = EffectiveArtifacts['required'][number];

const error = { rule: 'artifact-format', severity: 'error' } as const;
const declare = (name: Entry['name'], format: string, changes: Partial<Entry> = {}) => ({
  spec: {
    artifacts: { required: [{ name, stage: 'per-task', required: true, format, ...changes } as const] },
  },
});
const junit = '<testsuite><testcase name="a"/></testsuite>';
const log = artifact('test-log', 'hello');

await gateTester(t, ruleOf('artifact-format'), {
  valid: [
    { name: 'no artifacts', ...stageOf('fast'), expect: [] },
    {
      name: 'no declared format',
      ...stageOf('fast'),
      ...declare('test-log', ''),
      ...withArtifacts(log),
      expect: [],
    },
    {
      name: 'the declared format',
      ...stageOf('fast'),
      ...declare('test-log', 'junit+xml'),
      ...withArtifacts(artifact('test-log', junit)),
      expect: [],
    },
    {
      name: 'an unknown format',
      ...stageOf('fast'),
      ...declare('test-log', 'x-house'),
      ...withArtifacts(log),
      expect: [],
    },
    {
      name: 'an earlier stage has evaluated its own files',
      ...stageOf('security'),
      ...declare('test-log', 'junit+xml'),
      ...withArtifacts(log),
      expect: [],
    },
    {
      name: 'another format of what is not required is reported',
      ...stageOf('fast'),
      ...declare('test-log', 'junit+xml', { required: false }),
      ...withArtifacts(log),
      expect: [{ rule: 'artifact-format', severity: 'warning' }],
    },
    {
      name: 'the entry of this stage counts where a name is listed twice',
      ...stageOf('integration'),
      spec: {
        artifacts: {
          required: [
            { name: 'test-log', stage: 'per-task', required: true, format: 'junit+xml' },
            { name: 'test-log', stage: 'integration', required: true, format: 'text' },
          ],
        },
      },
      ...withArtifacts(artifact('test-log', 'hello', { stage: 'integration' })),
      expect: [],
    },
  ],
  invalid: [
    {
      name: 'another format than the stage at which it is required declares, although it was made before',
      ...stageOf('release'),
      ...declare('sbom', 'cyclonedx-json', { stage: 'release' }),
      ...withArtifacts(artifact('sbom', '{"spdxVersion":"SPDX-2.3"}', { stage: 'security' })),
      expect: [error],
    },
    {
      name: 'content that changed before the stage at which it is required',
      ...stageOf('release'),
      ...declare('test-log', 'text', { stage: 'release' }),
      artifacts: [log.record],
      artifactBytes: { [log.record.sha256]: Buffer.from('hallo') },
      expect: [error],
    },
    {
      name: 'one of two formats that the same stage declares',
      ...stageOf('fast'),
      spec: {
        artifacts: {
          required: [
            { name: 'test-log', stage: 'per-task', required: true, format: 'text' },
            { name: 'test-log', stage: 'per-task', required: true, format: 'junit+xml' },
          ],
        },
      },
      ...withArtifacts(log),
      expect: [error],
    },
    {
      name: 'another format than declared',
      ...stageOf('fast'),
      ...declare('test-log', 'junit+xml'),
      ...withArtifacts(log),
      expect: [{ ...error, path: 'artifacts/fast/unit/test-log.txt' }],
    },
    {
      name: 'every file of a name is evaluated',
      ...stageOf('fast'),
      ...declare('sast-report', 'sarif'),
      ...withArtifacts(artifact('sast-report', sarif), artifact('sast-report', 'hello', { path: 'b' })),
      expect: [{ ...error, path: 'b' }],
    },
    {
      name: 'content of another digest, although no format is declared',
      ...stageOf('fast'),
      artifacts: [log.record],
      artifactBytes: { [log.record.sha256]: Buffer.from('hallo') },
      expect: [error],
    },
    {
      name: 'a digest in capital letters is another digest',
      ...stageOf('fast'),
      artifacts: [{ ...log.record, sha256: log.record.sha256.toUpperCase() }],
      artifactBytes: { [log.record.sha256.toUpperCase()]: log.bytes },
      expect: [error],
    },
    {
      name: 'another size',
      ...stageOf('fast'),
      artifacts: [{ ...log.record, sizeBytes: 4 }],
      artifactBytes: { [log.record.sha256]: log.bytes },
      expect: [error],
    },
    { name: 'no content', ...stageOf('fast'), artifacts: [log.record], artifactBytes: {}, expect: [error] },
    {
      name: 'content of another digest, although it is not required',
      ...stageOf('fast'),
      ...declare('test-log', 'text', { required: false }),
      artifacts: [log.record],
      artifactBytes: {},
      expect: [error],
    },
    {
      name: 'no bytes in an unknown format',
      ...stageOf('fast'),
      ...declare('test-log', 'x-house'),
      ...withArtifacts(artifact('test-log', '')),
      expect: [error],
    },
  ],
});
