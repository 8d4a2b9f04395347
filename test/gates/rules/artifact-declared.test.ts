import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { check, ruleOf, stageOf } from './stage-case.ts';

const plan = (changes: object) => ({ spec: { acceptance: { verificationPlan: changes } } });

await gateTester(t, ruleOf('artifact-declared'), {
  valid: [
    { name: 'no artifacts', ...stageOf('fast'), ...plan({ fastChecks: [check()] }), expect: [] },
    {
      name: 'a name that the contract lists',
      ...stageOf('fast'),
      ...plan({ fastChecks: [check({ artifactsProduced: ['test-log'] })] }),
      expect: [],
    },
    {
      name: 'a name that another stage produces is evaluated there',
      ...stageOf('fast'),
      ...plan({ securityChecks: [check({ artifactsProduced: ['sast-report'] })] }),
      expect: [],
    },
  ],
  invalid: [
    {
      name: 'a name that the contract does not list, once',
      ...stageOf('security'),
      ...plan({ securityChecks: [check({ artifactsProduced: ['sast-report', 'test-log', 'sast-report'] })] }),
      expect: [
        { rule: 'artifact-declared', severity: 'error', detail: { check: 'unit', artifact: 'sast-report' } },
      ],
    },
    {
      name: 'a check that is not required',
      ...stageOf('fast'),
      ...plan({ fastChecks: [check({ required: false, artifactsProduced: ['build-log'] })] }),
    },
    {
      name: 'a name that objects have by themselves',
      ...stageOf('fast'),
      ...plan({ fastChecks: [check({ artifactsProduced: ['constructor'] })] }),
    },
  ],
});
