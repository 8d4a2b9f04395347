/* Collects artifacts outside the record until the run is sealed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { ArtifactBytes } from '../../core/interfaces/hook-payload.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { type ArtifactRecord, stageNames } from '../../core/interfaces/stage.ts';
import type { Hooks } from '../../core/kernel/hooks.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';

const dayMs = 86_400_000;

/** How long artifact content is kept: the lower of the spec's two limits. */
interface Retention {
  /** False: content is dropped at the decision and only digests stay. */
  readonly keepsContent: boolean;
  /** Expiry as RFC 3339, counted from an artifact's creation; `undefined` if content is not kept. */
  expiresAt(createdAtMs: number): string | undefined;
}

/** Days that artifact content is kept at most: the lower of the two limits. */
export function retentionDaysOf(spec: EffectiveIntentSpec): number {
  return Math.min(spec.artifacts.retention.days, spec.constraints.privacy.retentionDays);
}

/** The lower of `artifacts.retention.days` and `constraints.privacy.retentionDays`. 0 keeps no content. */
function retentionOf(spec: EffectiveIntentSpec): Retention {
  const days = retentionDaysOf(spec);
  return {
    keepsContent: days > 0,
    expiresAt: (createdAtMs) => (days > 0 ? toRfc3339(createdAtMs + days * dayMs) : undefined),
  };
}

/** An artifact on its way in: raw bytes that have been written nowhere yet. */
export interface ArriveRequest {
  readonly name: string;
  readonly stage: string;
  readonly checkId?: string;
  /** Of others, which made it. */
  readonly plugin?: string;
  readonly bytes: Uint8Array;
  /** Media type used if the spec declares no format. */
  readonly contentType: string;
  /** File ending without the dot. */
  readonly extension: string;
}

/** What producers did at one point of a stage. */
export interface Production {
  readonly records: readonly ArtifactRecord[];
  readonly unmade: Readonly<Record<string, string>>;
  readonly madeFrom: readonly DigestedThing[];
}

/** What was put in a box, and how to read it back before the run is sealed. */
export interface ArtifactCollector {
  /**
   * Redacts, hashes and writes, in this order: what the policy removes never reaches a disk
   * (`constraints.privacy.redactionRequired`).
   */
  add(request: ArriveRequest): Promise<ArtifactRecord>;
  /**
   * Adopts records of an earlier process, with content that is already on disk. No effect for records that the box
   * has.
   */
  keep(records: readonly ArtifactRecord[]): void;
  /** By stage, then by path: the same list whatever came first. */
  list(): readonly ArtifactRecord[];
  /** Adopts producers' notes: artifacts that could not be made and why, and the inputs of those that were made. */
  note(production: Pick<Production, 'unmade' | 'madeFrom'>): void;
  /** By artifact name, of those that are still missing. */
  unmade(): Readonly<Record<string, string>>;
  madeFrom(): readonly DigestedThing[];
  /** Removes every record, because the checks run again. */
  empty(): void;
  /** Content, read back from disk one at a time: a run with many logs does not hold them all. */
  read(record: ArtifactRecord): Promise<Uint8Array>;
  /** Whether content outlives the decision. */
  readonly keepsContent: boolean;
  discard(): Promise<void>;
}

/**
 * The patchset is never redacted: a secret in added lines is a gate failure, and its digest is a subject of the
 * provenance.
 */
const neverRedacted = new Set(['patchset', 'provenance-attestation', 'transparency-proof']);

/** A box that keeps content in `directory` (0700, removed by `discard`) so that evidence outlives a killed run. */
export function createArtifactCollector(options: {
  readonly directory: string;
  readonly spec: EffectiveIntentSpec;
  readonly hooks: Pick<Hooks, 'artifact'>;
  readonly policy: PrivacyPolicy;
  readonly nowMs: () => number;
}): ArtifactCollector {
  const { directory, spec, hooks, policy, nowMs } = options;
  const records = new Map<string, ArtifactRecord>();
  const unmade = new Map<string, string>();
  const madeFrom = new Map<string, DigestedThing>();
  let listed: readonly ArtifactRecord[] | undefined;
  const retention = retentionOf(spec);
  const declared = new Map(
    spec.artifacts.required.map((requirement) => [requirement.name as string, requirement.format]),
  );

  function put(record: ArtifactRecord): void {
    records.set(record.path, record);
    listed = undefined;
  }

  return {
    async add(request) {
      const contentType = declared.get(request.name) || request.contentType;
      const raw = { name: request.name, contentType, bytes: request.bytes, policy };
      const { bytes, redactions, receipt, unscanned } = neverRedacted.has(request.name)
        ? { ...raw, redactions: 0, receipt: [], unscanned: undefined }
        : await redactArtifact(hooks, raw);
      const sha256 = sha256Hex(bytes);
      const path = `artifacts/${request.stage}/${folderOf(request)}/${encodeId(request.name)}.${request.extension}`;
      const expiresAt = retention.expiresAt(nowMs());
      const record: ArtifactRecord = {
        name: request.name,
        stage: request.stage,
        ...(request.checkId === undefined ? {} : { checkId: request.checkId }),
        ...(request.plugin === undefined ? {} : { plugin: request.plugin }),
        path,
        sha256,
        sizeBytes: bytes.byteLength,
        contentType,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(redactions > 0 ? { redactions, receipt } : {}),
        ...(unscanned === undefined ? {} : { unscanned }),
      };
      writeEvidence(join(directory, path), bytes);
      put(record);
      return record;
    },
    keep(found) {
      for (const record of found) if (!records.has(record.path)) put(record);
    },
    note(production) {
      for (const [name, reason] of Object.entries(production.unmade)) unmade.set(name, reason);
      for (const thing of production.madeFrom) madeFrom.set(JSON.stringify(thing), thing);
    },
    unmade() {
      const have = new Set([...records.values()].map(({ name }) => name));
      return Object.fromEntries([...unmade].filter(([name]) => !have.has(name)));
    },
    madeFrom: () => [...madeFrom.values()],
    list() {
      listed ??= [...records.values()].sort(byStageAndPath);
      return listed;
    },
    empty() {
      records.clear();
      unmade.clear();
      madeFrom.clear();
      listed = undefined;
    },
    read: (record) => readEvidence(directory, record),
    keepsContent: retention.keepsContent,
    discard: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Redacts bytes on their way into the record, or to a plugin that may send them out. */
export async function redactArtifact(
  hooks: Pick<Hooks, 'artifact'>,
  raw: Pick<ArtifactBytes, 'name' | 'contentType' | 'bytes' | 'policy'>,
): Promise<ArtifactBytes> {
  const whole = { ...raw, redactions: 0, receipt: [] };
  return raw.policy.remove.length > 0 ? hooks.artifact.redact.call(whole) : whole;
}

/** Who made it: a plugin of others, a check, or the engine. */
function folderOf({ checkId, plugin }: ArriveRequest): string {
  if (plugin !== undefined) return `plugins/${encodeId(plugin)}`;
  return checkId === undefined ? 'engine' : encodeId(checkId);
}

function byStageAndPath(a: ArtifactRecord, b: ArtifactRecord): number {
  const order: readonly string[] = stageNames;
  return order.indexOf(a.stage) - order.indexOf(b.stage) || (a.path < b.path ? -1 : 1);
}

/** Verifies content on its way into the record: bytes with another digest are refused. */
async function readEvidence(directory: string, { path, sha256 }: ArtifactRecord): Promise<Uint8Array> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, path));
  } catch (cause) {
    throw new WritError('OBJECT_CORRUPT', {
      message: `the artifact \`${path}\` of a run cannot be read: ${messageOf(cause)}`,
      detail: { path },
      cause,
    });
  }
  const found = sha256Hex(bytes);
  if (found === sha256) return bytes;
  throw new WritError('OBJECT_CORRUPT', {
    message: `the artifact \`${path}\` was changed after it was evaluated`,
    detail: { path, expected: sha256, found },
  });
}

/** Synchronous: a check has one small file as a rule, and waiting for each call costs more than the call. */
function writeEvidence(path: string, bytes: Uint8Array): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, bytes, { mode: 0o600 });
  } catch (cause) {
    throw new WritError('EVIDENCE_WRITE_FAILED', {
      message: `evidence could not be written: ${messageOf(cause)}`,
      detail: { bytes: bytes.byteLength },
      hints: ['free disk space, then run again; your files were not changed'],
      cause,
    });
  }
}
