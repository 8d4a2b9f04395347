import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { artifact, ruleOf, stageOf, withArtifacts } from './stage-case.ts';

const error = { rule: 'sca', severity: 'error' } as const;
const note = { rule: 'sca', severity: 'note' } as const;
const report = (document: unknown) => ({
  ...stageOf('security'),
  ...withArtifacts(artifact('sca-report', document, { stage: 'security' })),
});

await gateTester(t, ruleOf('sca'), {
  valid: [
    {
      name: 'an object, and that its content is not judged',
      ...report({ vulnerabilities: {} }),
      expect: [note],
    },
    { name: 'a list', ...report([]), expect: [note] },
  ],
  invalid: [
    { name: 'no report', ...stageOf('security'), expect: [error] },
    { name: 'an empty report', ...report(''), expect: [error] },
    { name: 'text', ...report('no vulnerabilities found'), expect: [error] },
    { name: 'null', ...report('null'), expect: [error] },
    { name: 'a number', ...report('0'), expect: [error] },
    {
      name: 'no content',
      ...stageOf('security'),
      artifacts: [artifact('sca-report').record],
      expect: [error],
    },
  ],
});
