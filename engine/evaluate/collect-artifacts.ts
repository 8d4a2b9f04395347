/* Collects the artifacts that a check delivered. */
import { type CheckOutcome, producedAt, type ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { ArtifactRecord, StageName } from '../../core/interfaces/stage.ts';
import type { ArtifactCollector } from '../state/evidence.ts';

const contentTypes: Readonly<Record<string, string>> = {
  xml: 'application/xml',
  json: 'application/json',
  md: 'text/markdown',
  tap: 'text/plain',
  txt: 'text/plain',
  log: 'text/plain',
};

/** Artifacts that use the check's captured output as content if the check wrote no file. */
const fromOutput: ReadonlySet<string> = new Set(['test-log', 'build-log']);

/** The engine alone makes these: a check that could would choose what is signed, and would not be redacted. */
const byEngine: ReadonlySet<string> = new Set(['patchset', 'provenance-attestation', 'transparency-proof']);

/** What a check delivered, and why it failed by what it delivered. */
export interface Collected {
  readonly records: readonly ArtifactRecord[];
  readonly findings: readonly Finding[];
}

/**
 * Puts what a check delivered for its `artifactsProduced` into the box: `$REPORTS_DIR/<name>.*`, else for logs its
 * output. What is neither is left to the engine's producers, and then to the gate. Errors: a file of what the engine
 * alone makes, two files of one name and one ending, of which one would hide the other.
 */
export async function collectArtifacts(
  box: ArtifactCollector,
  stage: StageName,
  check: EffectiveCheck,
  outcome: CheckOutcome,
  implied: readonly string[] = [],
): Promise<Collected> {
  const records: ArtifactRecord[] = [];
  const findings: Finding[] = [];
  for (const name of new Set([...check.artifactsProduced, ...implied])) {
    const files = outcome.reports.filter((report) => stemOf(report) === name);
    const [first] = files;
    if (byEngine.has(name)) {
      if (first) findings.push(refusal('ARTIFACT_RESERVED', name, [first], 'the engine alone makes it'));
      continue;
    }
    const endings = new Set<string>();
    for (const file of files) {
      const extension = extensionOf(file);
      if (endings.has(extension)) {
        const same = files.filter((one) => extensionOf(one) === extension);
        findings.push(refusal('ARTIFACT_AMBIGUOUS', name, same, 'their endings are one'));
        break;
      }
      endings.add(extension);
      const contentType = contentTypes[extension] ?? 'application/octet-stream';
      records.push(
        await box.add({ name, stage, checkId: check.id, bytes: file.bytes, contentType, extension }),
      );
    }
    if (files.length === 0 && fromOutput.has(name) && outcome.result) {
      const bytes = Buffer.concat([
        Buffer.from(logHeader(check, outcome.result)),
        outcome.result.combined.bytes,
      ]);
      records.push(
        await box.add({ name, stage, checkId: check.id, bytes, contentType: 'text/plain', extension: 'log' }),
      );
    }
  }
  return { records, findings };
}

/** First line of a log: the command in one line, and how it ended. So a log of a silent command is not empty. */
function logHeader(
  { command = '' }: EffectiveCheck,
  { exitCode, signal, timedOut }: NonNullable<CheckOutcome['result']>,
): string {
  const end = exitCode === undefined ? `ended by ${signal ?? 'the sandbox'}` : `exit code ${exitCode}`;
  return `# ${command.replace(/\s+/g, ' ')} (${timedOut ? 'timed out, ' : ''}${end})\n`;
}

function refusal(code: string, artifact: string, files: readonly ReportFile[], why: string): Finding {
  const named = files.slice(0, 5).map(({ name }) => JSON.stringify(name.slice(0, 100)));
  return {
    rule: 'check-outcome',
    severity: 'error',
    message: `artifact \`${artifact}\` cannot be taken from ${named.join(', ')}: ${why}`,
    detail: { code, artifact },
  };
}

/**
 * A `test-log` that the spec requires and no check claims: it contains the output of every check of one stage. The
 * spec always requires one (semantic rule), and `artifactsProduced` is empty by default.
 */
export function impliedArtifacts(spec: EffectiveIntentSpec, stage: StageName): readonly string[] {
  const { fastChecks, integrationChecks, securityChecks, releaseChecks } = spec.acceptance.verificationPlan;
  const all = [fastChecks, integrationChecks, securityChecks, releaseChecks].flat();
  if (all.some((check) => check.artifactsProduced.includes('test-log'))) return [];
  const wanted = spec.artifacts.required.some(
    (entry) => entry.name === 'test-log' && producedAt(spec, entry) === stage,
  );
  return wanted ? ['test-log'] : [];
}

function stemOf({ name }: ReportFile): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}

function extensionOf({ name }: ReportFile): string {
  const extension = /\.([A-Za-z0-9]{1,16})$/.exec(name)?.[1];
  return extension?.toLowerCase() ?? 'bin';
}
