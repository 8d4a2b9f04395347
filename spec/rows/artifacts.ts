/* Ledger rows of the section `artifacts`. */
import type { ArtifactName, EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { always, inSection } from '../contract-row.ts';

export const artifactRows = inSection('Artifacts', [
  {
    id: 'artifacts.required#minimum',
    path: '/artifacts/required',
    rule: '`patchset` and `test-log` are always required',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.stage',
    path: '/artifacts/required/*/stage',
    rule: 'existence is checked when its stage has run',
    asks: always,
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.stage#producer',
    path: '/artifacts/required/*/stage',
    rule: 'or when the stage has run in which the check that produces it is listed',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.required',
    path: '/artifacts/required/*/required',
    rule: 'a missing required artifact fails its stage',
    asks: always,
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.required=false',
    path: '/artifacts/required/*/required',
    rule: 'that it is missing is a warning',
    asks: ({ artifacts }) => artifacts.required.some(({ required }) => !required),
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.format',
    path: '/artifacts/required/*/format',
    rule: 'an artifact of another known format fails its stage',
    asks: ({ artifacts }) => artifacts.required.some(({ format }) => format !== ''),
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.format#content-type',
    path: '/artifacts/required/*/format',
    rule: 'content type of the reference',
    asks: ({ artifacts }) => artifacts.required.some(({ format }) => format !== ''),
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.name=patchset',
    path: '/artifacts/required/*/name',
    rule: 'the diff that was evaluated',
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
    rule: 'delivered by a check, or ours if none does, and evaluated',
    asks: requires('sast-report'),
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.name=sca-report',
    path: '/artifacts/required/*/name',
    rule: 'every package looked up in the imported advisories, if no check delivers one; evaluated',
    asks: requires('sca-report'),
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.name=sca-report#judged',
    path: '/artifacts/required/*/name',
    rule: 'evaluated at the security stage, also if no check reads it',
    asks: requires('sca-report'),
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.required.name=sca-report#release',
    path: '/artifacts/required/*/name',
    rule: 'one that is made for the release stage alone is evaluated there',
    asks: (spec) => requires('sca-report')(spec) && !isScaJudged(spec),
    enforcedBy: 'gates',
  },
  {
    id: 'artifacts.required.name=sbom',
    path: '/artifacts/required/*/name',
    rule: 'CycloneDX or SPDX of the candidate, where no check delivers one',
    asks: requires('sbom'),
    enforcedBy: 'supply-chain',
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
  },
  {
    id: 'artifacts.retention.days',
    path: '/artifacts/retention/days',
    rule: '`expiresAt` of every artifact, written at creation, where privacy does not end it sooner',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'artifacts.retention.days=0',
    path: '/artifacts/retention/days',
    rule: 'no content is kept after the decision, every digest is',
    asks: ({ artifacts }) => artifacts.retention.days === 0,
    enforcedBy: 'core',
  },
]);

function requires(name: ArtifactName): (spec: EffectiveIntentSpec) => boolean {
  return ({ artifacts }) => artifacts.required.some((entry) => entry.name === name && entry.required);
}

/** At the security stage, where it is made by then, or by a check of the release stage. */
function isScaJudged({ artifacts, acceptance }: EffectiveIntentSpec): boolean {
  const { securityChecks, releaseChecks } = acceptance.verificationPlan;
  return (
    securityChecks.length > 0 ||
    artifacts.required.some(
      ({ name, required, stage }) => name === 'sca-report' && required && stage !== 'release',
    ) ||
    releaseChecks.some(({ kind, command = '' }) => kind === 'policy' && /^sca(?:\s|$)/.test(command.trim()))
  );
}
