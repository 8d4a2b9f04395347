import t from 'tap';
import type { EffectiveArtifacts } from '../../../core/interfaces/intentspec.gen.ts';
import { gateTester } from '../../../testing.ts';
import { artifact, check, checkRecord, ruleOf, stageOf } from './stage-case.ts';

type Entry = EffectiveArtifacts['required'][number];

const entry = (name: Entry['name'], stage: Entry['stage'] = 'per-task', required = true): Entry => ({
  name,
  stage,
  required,
  format: '',
});
const error = { rule: 'artifact-present', severity: 'error' } as const;
const warning = { rule: 'artifact-present', severity: 'warning' } as const;
const required = (...entries: Entry[]) => ({ artifacts: { required: entries } });
const made = (...records: ReturnType<typeof artifact>[]) => ({
  artifacts: records.map(({ record }) => record),
});
const byEngine = (name: string) => {
  const { checkId: _, ...record } = artifact(name).record;
  return { ...artifact(name), record };
};

await gateTester(t, ruleOf('artifact-present'), {
  valid: [
    {
      name: 'what is required at this stage is there',
      ...stageOf('fast'),
      spec: required(entry('patchset'), entry('test-log')),
      ...made(artifact('patchset'), artifact('test-log')),
      expect: [],
    },
    {
      name: 'what a later stage requires may be missing',
      ...stageOf('fast'),
      spec: required(entry('sbom', 'security'), entry('release-notes', 'release')),
      expect: [],
    },
    {
      name: 'what sealing makes may be missing at the release stage',
      ...stageOf('release'),
      spec: required(entry('provenance-attestation', 'release'), entry('transparency-proof', 'release')),
      expect: [],
    },
    {
      name: 'what is listed and not required is reported',
      ...stageOf('fast'),
      spec: required(entry('build-log', 'per-task', false)),
      expect: [warning],
    },
    {
      name: 'a check delivered what it says it produces',
      ...stageOf('fast', checkRecord()),
      spec: {
        ...required(entry('test-log')),
        acceptance: { verificationPlan: { fastChecks: [check({ artifactsProduced: ['test-log'] })] } },
      },
      ...made(artifact('test-log')),
      expect: [],
    },
    {
      name: 'the engine made what a policy check says it produces',
      ...stageOf('fast', checkRecord()),
      spec: {
        ...required(entry('sbom')),
        acceptance: {
          verificationPlan: {
            fastChecks: [check({ kind: 'policy', command: 'sbom', artifactsProduced: ['sbom'] })],
          },
        },
      },
      ...made(byEngine('sbom')),
      expect: [],
    },
    {
      name: 'a check that is not required did not deliver',
      ...stageOf('fast', checkRecord({ required: false })),
      spec: {
        ...required(entry('build-log', 'release')),
        acceptance: {
          verificationPlan: { fastChecks: [check({ required: false, artifactsProduced: ['build-log'] })] },
        },
      },
      expect: [warning],
    },
    {
      name: 'it is not expected before the stage of the check that produces it',
      ...stageOf('fast', checkRecord()),
      spec: {
        ...required(entry('build-log')),
        acceptance: { verificationPlan: { releaseChecks: [check({ artifactsProduced: ['build-log'] })] } },
      },
      expect: [],
    },
    {
      name: 'a test-log that no check claims is not expected before a check runs',
      ...stageOf('fast'),
      spec: {
        ...required(entry('test-log')),
        acceptance: { verificationPlan: { fastChecks: [], integrationChecks: [check({})] } },
      },
      expect: [],
    },
    {
      name: 'a check that waits has not delivered yet',
      ...stageOf('fast', checkRecord({ status: 'waiting' })),
      spec: {
        ...required(entry('build-log', 'release')),
        acceptance: { verificationPlan: { fastChecks: [check({ artifactsProduced: ['build-log'] })] } },
      },
      expect: [],
    },
  ],
  invalid: [
    {
      name: 'what is required is an empty file, also a log',
      ...stageOf('security'),
      spec: required(entry('build-log', 'security'), entry('sbom', 'security')),
      ...made(artifact('build-log', ''), artifact('sbom', '')),
      expect: ['build-log', 'sbom'].map((name) => ({
        ...error,
        message: `expected artifact \`${name}\` at stage \`security\`, found an empty file`,
      })),
    },
    {
      name: 'a program wrote no report, and the engine has made one',
      ...stageOf('fast', checkRecord()),
      spec: {
        ...required(entry('sbom')),
        acceptance: { verificationPlan: { fastChecks: [check({ artifactsProduced: ['sbom'] })] } },
      },
      ...made(byEngine('sbom')),
      expect: [{ detail: { artifact: 'sbom', check: 'unit', required: true } }],
    },
    {
      name: 'a required artifact is missing at its stage',
      ...stageOf('fast'),
      spec: required(entry('patchset'), entry('build-log')),
      ...made(artifact('patchset')),
      expect: [{ ...error, detail: { artifact: 'build-log', stage: 'fast', required: true } }],
    },
    {
      name: 'it is missing in the stage of the check that produces it',
      ...stageOf('release', checkRecord({ status: 'waiting' })),
      spec: {
        ...required(entry('build-log')),
        acceptance: { verificationPlan: { releaseChecks: [check({ artifactsProduced: ['build-log'] })] } },
      },
      expect: [{ ...error, detail: { artifact: 'build-log', stage: 'release', required: true } }],
    },
    {
      name: 'a policy check produces nothing itself: what it claims is looked for where the contract says',
      ...stageOf('fast'),
      spec: {
        ...required(entry('sbom')),
        acceptance: {
          verificationPlan: {
            releaseChecks: [check({ kind: 'policy', command: 'sbom', artifactsProduced: ['sbom'] })],
          },
        },
      },
      expect: [{ ...error, detail: { artifact: 'sbom', stage: 'fast', required: true } }],
    },
    {
      name: 'a test-log that no check claims is missing in the first stage with checks',
      ...stageOf('integration'),
      spec: {
        ...required(entry('test-log')),
        acceptance: { verificationPlan: { fastChecks: [], integrationChecks: [check({})] } },
      },
      expect: [{ ...error, detail: { artifact: 'test-log', stage: 'integration', required: true } }],
    },
    {
      name: 'at each stage its own',
      ...stageOf('security'),
      spec: required(entry('build-log'), entry('sbom', 'security')),
      expect: [{ ...error, detail: { artifact: 'sbom', stage: 'security', required: true } }],
    },
    {
      name: 'a check did not deliver, although another check did',
      ...stageOf('fast', checkRecord(), checkRecord({ id: 'lint' })),
      spec: {
        ...required(entry('build-log', 'release')),
        acceptance: {
          verificationPlan: {
            fastChecks: [
              check({ artifactsProduced: ['build-log'] }),
              check({ id: 'lint', artifactsProduced: ['build-log'] }),
            ],
          },
        },
      },
      ...made(artifact('build-log')),
      expect: [{ ...error, detail: { artifact: 'build-log', check: 'lint', required: true } }],
    },
  ],
});
