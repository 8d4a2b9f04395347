import { sha256Hex } from '../../../core/base/canonical.ts';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import type { Rule } from '../../../core/interfaces/rule.ts';
import type { ArtifactRecord, CheckRecord, StageName } from '../../../core/interfaces/stage.ts';
import { rules } from '../../../gates/rules.ts';

/** A registered rule by its id. */
export function ruleOf(id: string): Rule {
  const rule = rules.find((one) => one.id === id);
  if (!rule) throw new Error(`no rule ${id}`);
  return rule;
}

/** A check of a contract with every default. */
export function check(changes: Partial<EffectiveCheck> = {}): EffectiveCheck {
  return {
    id: 'unit',
    kind: 'command',
    command: 'true',
    timeoutSeconds: 900,
    expectedExitCode: 0,
    required: true,
    artifactsProduced: [],
    ...changes,
  };
}

/** The record of a check that passed. */
export function checkRecord(changes: Partial<CheckRecord> = {}): CheckRecord {
  return {
    id: 'unit',
    kind: 'command',
    stage: 'fast',
    status: 'passed',
    required: true,
    command: 'true',
    expectedExitCode: 0,
    exitCode: 0,
    timedOut: false,
    durationMs: 1,
    startedAt: '2026-01-02T03:04:05Z',
    artifacts: [],
    findings: [],
    ...changes,
  };
}

/** A record of an artifact and its content, as a run keeps them. */
export function artifact(
  name: string,
  content: unknown = 'content',
  changes: Partial<ArtifactRecord> = {},
): { readonly record: ArtifactRecord; readonly bytes: Uint8Array } {
  const bytes = new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content));
  const record: ArtifactRecord = {
    name,
    stage: 'fast',
    checkId: 'unit',
    path: `artifacts/fast/unit/${name}.txt`,
    sha256: sha256Hex(bytes),
    sizeBytes: bytes.length,
    contentType: 'text/plain',
    ...changes,
  };
  return { record, bytes };
}

/** Both halves of artifacts for a case. */
export function withArtifacts(...made: readonly ReturnType<typeof artifact>[]) {
  return {
    artifacts: made.map(({ record }) => record),
    artifactBytes: Object.fromEntries(made.map(({ record, bytes }) => [record.sha256, bytes])),
  };
}

/** A stage that ran these checks. */
export function stageOf(name: StageName, ...checks: readonly CheckRecord[]) {
  return { stage: { name, checks } };
}
