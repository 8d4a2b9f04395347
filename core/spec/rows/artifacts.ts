import { always, inSection } from '../contract-row.ts';
import type { ArtifactName, EffectiveIntentSpec } from '../intentspec.gen.ts';

export const artifactRows = inSection('Artifacts', [
  {
    id: 'artifacts.required#minimum',
    path: '/artifacts/required',
    rule: '`patchset` and `test-log` are always required',
    asks: always,
    enforcedBy: 'core',
    test: 'test/core/spec/rules.test.ts',
  },
  {
    id: 'artifacts.required.stage',
    path: '/artifacts/required/*/stage',
    rule: 'existence is checked when its stage has run',
    asks: always,
    enforcedBy: 'gates',
    test: 'fixtures/runs/a-required-artifact-that-nobody-makes-refuses',
  },
  {
    id: 'artifacts.required.required',
    path: '/artifacts/required/*/required',
    rule: 'a missing required artifact fails its stage',
    asks: always,
    enforcedBy: 'gates',
    test: 'fixtures/runs/a-required-artifact-that-nobody-makes-refuses',
  },
  {
    id: 'artifacts.required.format',
    path: '/artifacts/required/*/format',
    rule: 'an artifact of another known format fails its stage; content type of the reference',
    asks: ({ artifacts }) => artifacts.required.some(({ format }) => format !== ''),
    enforcedBy: 'gates',
    test: 'fixtures/runs/an-artifact-in-another-format-than-declared-refuses',
  },
  {
    id: 'artifacts.required.name=patchset',
    path: '/artifacts/required/*/name',
    rule: 'the diff that was judged',
    asks: requires('patchset'),
    enforcedBy: 'artifacts',
  },
  {
    id: 'artifacts.required.name=test-log',
    path: '/artifacts/required/*/name',
    rule: 'report or captured output of the checks',
    asks: requires('test-log'),
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.name=build-log',
    path: '/artifacts/required/*/name',
    rule: 'report or captured output of the check that produces it',
    asks: requires('build-log'),
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.name=sast-report',
    path: '/artifacts/required/*/name',
    rule: 'delivered by a check and judged',
    asks: requires('sast-report'),
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.name=sca-report',
    path: '/artifacts/required/*/name',
    rule: 'delivered by a check and judged',
    asks: requires('sca-report'),
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.name=sbom',
    path: '/artifacts/required/*/name',
    rule: 'CycloneDX of the candidate, where no check delivers one',
    asks: requires('sbom'),
    enforcedBy: 'artifacts',
    test: 'fixtures/runs/an-sbom-is-made-for-the-release',
  },
  {
    id: 'artifacts.required.name=release-notes',
    path: '/artifacts/required/*/name',
    rule: 'Markdown made of intent and change',
    asks: requires('release-notes'),
    enforcedBy: 'artifacts',
  },
  {
    id: 'artifacts.required.name=provenance-attestation',
    path: '/artifacts/required/*/name',
    rule: 'the signed statement about the commit',
    asks: requires('provenance-attestation'),
    enforcedBy: 'attest',
  },
  {
    id: 'artifacts.required.name=transparency-proof',
    path: '/artifacts/required/*/name',
    rule: 'inclusion proof of the log',
    asks: requires('transparency-proof'),
    enforcedBy: 'attest',
    test: 'fixtures/runs/a-required-log-proof-without-a-log-refuses',
  },
  {
    id: 'artifacts.retention.days',
    path: '/artifacts/retention/days',
    rule: '`expiresAt` of every artifact, written at creation; 0 keeps no content',
    asks: always,
    enforcedBy: 'core',
  },
]);

function requires(name: ArtifactName): (spec: EffectiveIntentSpec) => boolean {
  return ({ artifacts }) => artifacts.required.some((entry) => entry.name === name && entry.required);
}
