/* Collects the artifacts that checks delivered, and produces those that no check delivered. */
import { WritError } from '../../core/base/errors.ts';
import type { ArtifactRequest } from '../../core/interfaces/artifact.ts';
import type { CheckOutcome, ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { ArtifactRecord, StageName, StageRecord } from '../../core/interfaces/stage.ts';
import type { Hooks } from '../../core/kernel/hooks.ts';
import type { Rules } from '../../core/kernel/rules.ts';
import type { ThirdPartyArtifact } from '../../plugins/third-party/parts/outside-checks.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { checksOf, type ListedCheck, lookedForAt, producedAt } from '../../spec/checks-of.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { listTree } from '../../workspace/git/tree.ts';
import { type ArtifactCollector, type Production, redactArtifact } from '../state/evidence.ts';
import { environmentFault } from '../state/machine.ts';
import { type Attempt, policyOf } from '../state/open-run.ts';
import { askRule, ruleQuestion } from './evaluate-rules.ts';

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
interface Collected {
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

/** Sealing makes these, after the decision. */
const sealed: ReadonlySet<string> = new Set(['provenance-attestation', 'transparency-proof']);

/**
 * Produces artifacts that a stage lacks: those that its checks claim or evaluate, and those that the spec or policy
 * requires at this stage. The source is a scanner's report, or else a producer of the `artifact` slot or of a plugin.
 * The gate reports artifacts that no producer can make.
 */
export async function produceArtifacts(
  attempt: Attempt,
  stage: StageRecord,
  before: readonly StageRecord[],
): Promise<Production> {
  const {
    identity: { contract },
    services: { engine },
    box,
  } = attempt;
  const have = new Set(box.list().map((record) => record.name));
  const missing = wantedAt(contract.effective, stage.stage, attempt.environment.rules).filter(
    (name) => !have.has(name) && !sealed.has(name),
  );
  const records: ArtifactRecord[] = [];
  const unmade: Record<string, string> = {};
  const madeFrom: DigestedThing[] = [];
  for (const name of missing) {
    const supplied = suppliedBy([...before, stage], name);
    if (supplied !== undefined) {
      const { contentType, path } = supplied;
      const bytes = await box.read(supplied);
      const extension = path.slice(path.lastIndexOf('.') + 1);
      records.push(await box.add({ name, stage: stage.stage, bytes, contentType, extension }));
      continue;
    }
    const outside = outsideProducer(attempt, name);
    if (outside === undefined && !engine.slots.artifact.names.includes(name)) continue;
    const producer = outside ?? (await engine.slots.artifact.pick(name));
    const request = artifactRequest(attempt, name, [...before, stage]);
    const given = outside?.sendsOut ? await withheld(request, policyOf(attempt), engine.hooks) : request;
    const made = await producer.produce(given).catch((fault: unknown) => {
      const broken = environmentFault(fault);
      if (broken === undefined || isRequired(contract.effective, name, attempt.environment.rules))
        throw fault;
      return { unmade: [broken.message, ...broken.hints].join('; ') };
    });
    if (made === undefined) continue;
    if ('unmade' in made) {
      unmade[name] = made.unmade;
      continue;
    }
    const bytes = 'bytes' in made ? made.bytes : made;
    if ('madeFrom' in made) madeFrom.push(...made.madeFrom);
    const { contentType, extension } = producer;
    const plugin = outside === undefined ? {} : { plugin: outside.plugin };
    records.push(await box.add({ name, stage: stage.stage, bytes, contentType, extension, ...plugin }));
  }
  return { records, unmade, madeFrom };
}

/** The report of the first scanner that can serve as an artifact of that name. */
function suppliedBy(stages: readonly StageRecord[], name: string): ArtifactRecord | undefined {
  for (const { scan, artifacts } of stages.flatMap(({ checks }) => checks))
    if (scan?.supplies === name) return artifacts.find(({ sha256 }) => sha256 === scan.reports.candidate);
  return undefined;
}

/**
 * Returns the names of artifacts that a stage should have at its end. An artifact that a policy rule reads counts if
 * the spec declares it; it is then produced in the check's stage.
 */
export function wantedAt(spec: EffectiveIntentSpec, stage: StageName, rules: Rules): readonly string[] {
  const checks = spec.acceptance.verificationPlan[`${stage}Checks`];
  const declared = new Set<string>(spec.artifacts.required.map(({ name }) => name));
  const judged = checks.flatMap((check) => reportJudgedBy(check, rules)).filter((name) => declared.has(name));
  const required = spec.artifacts.required.filter((entry) => lookedForAt(spec, entry) === stage);
  const claimed = checks.flatMap((check) => check.artifactsProduced);
  return [...new Set<string>([...required.map(({ name }) => name), ...claimed, ...judged])];
}

/** The artifact that a policy check's rule reads. */
function reportJudgedBy({ kind, command = '' }: ListedCheck['check'], rules: Rules): readonly string[] {
  const rule = kind === 'policy' ? rules.get(command.trim().split(/\s/, 1)[0] ?? '') : undefined;
  return rule?.judgesArtifact === undefined ? [] : [rule.judgesArtifact];
}

/**
 * Returns whether a missing artifact refuses the candidate: the spec or one of its required checks needs it, and no
 * check claims to produce it.
 */
function isRequired(spec: EffectiveIntentSpec, name: string, rules: Rules): boolean {
  return (
    spec.artifacts.required.some(
      (entry) => entry.required && entry.name === name && producedAt(spec, entry) === undefined,
    ) ||
    checksOf(spec).some(({ check }) => check.required === true && reportJudgedBy(check, rules).includes(name))
  );
}

/** Returns the plugin producer of an artifact. Plugins never produce artifacts that a spec can name. */
function outsideProducer({ environment }: Attempt, name: string): ThirdPartyArtifact | undefined {
  const demanded = environment.config.artifacts.get(name);
  return demanded && environment.plugins.artifacts.get(demanded.plugin);
}

function artifactRequest(attempt: Attempt, name: string, stages: readonly StageRecord[]): ArtifactRequest {
  const {
    identity: { contract, scope },
    services: { scratch, settings, signal },
    patch,
    environment,
  } = attempt;
  const spec = contract.effective;
  return {
    name,
    spec,
    patch,
    stages,
    readCandidate: (path) => readBlob(scratch, patch.candidateTree, path),
    listCandidate: async () => (await listTree(scratch, patch.candidateTree)).map((entry) => entry.path),
    baseTimeMs: environment.baseTimeMs,
    ruleOptions: environment.config.rules,
    async judge(ruleId) {
      const rule = environment.rules.get(ruleId);
      if (!rule) throw new WritError('INTERNAL', { message: `no rule is called \`${ruleId}\`` });
      return askRule(ruleQuestion(attempt, { spec, patch, scope, artifacts: [] }), rule, []);
    },
    engineVersion: settings.schedulerVersion,
    signal,
  };
}

/** Returns the request without data that the spec withholds, for a producer that sends data to third parties. */
async function withheld(
  request: ArtifactRequest,
  policy: PrivacyPolicy,
  hooks: Pick<Hooks, 'artifact'>,
): Promise<ArtifactRequest> {
  if (policy.remove.length === 0) return request;
  const { patch, spec, stages, readCandidate } = request;
  const contentType = 'application/octet-stream';
  const redacted = async (name: string, bytes: Uint8Array): Promise<Uint8Array> =>
    (await redactArtifact(hooks, { name, contentType, bytes, policy })).bytes;
  const diff = await redacted('patchset', patch.diff);
  const shared = new Uint8Array(new SharedArrayBuffer(diff.byteLength));
  shared.set(diff);
  return {
    ...request,
    spec: redactTexts(spec, policy),
    stages: redactTexts(stages, policy),
    patch: { ...patch, files: redactTexts(patch.files, policy), diff: shared },
    async readCandidate(path) {
      const bytes = await readCandidate(path);
      return bytes && redacted(path, bytes);
    },
  };
}
