import type { CheckOutcome, ReportFile } from '../contract/check-runner.ts';
import type { ArtifactRecord, StageName } from '../contract/stage.ts';
import type { ArtifactStage, EffectiveCheck, EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import type { ArtifactBox } from './artifact-box.ts';

const contentTypes: Readonly<Record<string, string>> = {
  xml: 'application/xml',
  json: 'application/json',
  md: 'text/markdown',
  tap: 'text/plain',
  txt: 'text/plain',
  log: 'text/plain',
};

/** Names whose content is the check's captured output where the check wrote no file (resolutions, Where artifacts come from). */
const fromOutput: ReadonlySet<string> = new Set(['test-log', 'build-log']);

/**
 * Puts what a check delivered for its `artifactsProduced` into the box: `$REPORTS_DIR/<name>.*`, else for logs its
 * output. What is neither is left to the engine's producers, and then to the gate.
 */
export async function collectArtifacts(
  box: ArtifactBox,
  stage: StageName,
  check: EffectiveCheck,
  outcome: CheckOutcome,
  implied: readonly string[] = [],
): Promise<readonly ArtifactRecord[]> {
  const records: ArtifactRecord[] = [];
  for (const name of new Set([...check.artifactsProduced, ...implied])) {
    const files = outcome.reports.filter((report) => stemOf(report) === name);
    for (const file of files) {
      const extension = extensionOf(file);
      const contentType = contentTypes[extension] ?? 'application/octet-stream';
      records.push(
        await box.add({ name, stage, checkId: check.id, bytes: file.bytes, contentType, extension }),
      );
    }
    if (files.length === 0 && fromOutput.has(name) && outcome.result) {
      const bytes = outcome.result.combined.bytes;
      records.push(
        await box.add({ name, stage, checkId: check.id, bytes, contentType: 'text/plain', extension: 'log' }),
      );
    }
  }
  return records;
}

/**
 * A `test-log` that the contract requires at this stage and that no check claims: every check's output is part of it.
 * The contract always requires one (semantic rule), and `artifactsProduced` defaults to nothing.
 */
export function impliedArtifacts(spec: EffectiveIntentSpec, stage: StageName): readonly string[] {
  const { fastChecks, integrationChecks, securityChecks, releaseChecks } = spec.acceptance.verificationPlan;
  const all = [fastChecks, integrationChecks, securityChecks, releaseChecks].flat();
  if (all.some((check) => check.artifactsProduced.includes('test-log'))) return [];
  const wanted = spec.artifacts.required.some(
    ({ name, stage: at }) => name === 'test-log' && gateOf[at] === stage,
  );
  return wanted ? ['test-log'] : [];
}

/** Which gate stage checks an artifact's existence (document 1, `required[].stage`). */
export const gateOf: Readonly<Record<ArtifactStage, StageName>> = {
  'per-task': 'fast',
  integration: 'integration',
  security: 'security',
  release: 'release',
};

function stemOf({ name }: ReportFile): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}

function extensionOf({ name }: ReportFile): string {
  const extension = /\.([A-Za-z0-9]{1,16})$/.exec(name)?.[1];
  return extension?.toLowerCase() ?? 'bin';
}
