import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { cyclonedx, spdx } from '../formats/sample-documents.ts';
import { artifact, ruleOf, stageOf, withArtifacts } from './stage-case.ts';

const error = { rule: 'sbom', severity: 'error' } as const;
const bom = (document: unknown) => ({
  ...stageOf('security'),
  ...withArtifacts(artifact('sbom', document, { stage: 'security' })),
});

await gateTester(t, ruleOf('sbom'), {
  valid: [
    { name: 'CycloneDX', ...bom(cyclonedx), expect: [] },
    { name: 'SPDX', ...bom(spdx), expect: [] },
  ],
  invalid: [
    { name: 'none', ...stageOf('security'), expect: [error] },
    { name: 'an empty file', ...bom(''), expect: [error] },
    { name: 'an empty object', ...bom({}), expect: [error] },
    { name: 'a list', ...bom([]), expect: [error] },
    { name: 'CycloneDX by name only', ...bom({ bomFormat: 'CycloneDX' }), expect: [error] },
    { name: 'SPDX by name only', ...bom({ spdxVersion: 'SPDX-2.3' }), expect: [error] },
    {
      name: 'the second of two',
      ...stageOf('security'),
      ...withArtifacts(artifact('sbom', spdx), artifact('sbom', '{}')),
      expect: [error],
    },
  ],
});
