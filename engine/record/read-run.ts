/* Reads a run as stored. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type AttestedPlugin, pluginDependency } from '../../core/interfaces/sealing.ts';
import type { ArtifactRecord } from '../../core/interfaces/stage.ts';
import { type ObjectBody, patchFile } from '../../store/object-shapes.ts';
import { type JournalRecord, readJournal } from '../../store/parse-journal.ts';
import { modelWorkFault } from '../../store/record/model-work.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { decisionPaths, type StoredDecision, storedDecision } from '../../store/record/sealed-commit.ts';
import {
  citationsPath,
  maskedPath,
  type PartRecord,
  parseCitations,
  parseMaskedRecord,
  parseParts,
  parseRetries,
  parseToolUses,
  partContentPath,
  partsPath,
  retriesPath,
  toolUsesPath,
} from '../../store/record/summaries.ts';
import { isRunHeld, journalPath, runDirectory } from '../../store/run-directory.ts';
import { toStored } from '../../store/shape.ts';
import type { RunStore } from '../../store/stores.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { parentTree, treeOf } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { setAsideNoticeOf } from '../../workspace/git/set-aside.ts';
import { patchFromBytes } from '../../workspace/patch/read-patch.ts';
import { lostCallNotices, lostIfStopped } from '../state/calls.ts';
import { provenanceMissingCode } from '../state/policies.ts';
import { followNotices, viewJournal } from './journal-view.ts';
import { startedRun } from './started-run.ts';

const names = [
  ...decisionPaths,
  sealPaths.bundle,
  sealPaths.proof,
  maskedPath,
  retriesPath,
  citationsPath,
  toolUsesPath,
];

/** One run as stored: from its ref where it was decided, else from its journal. RUN_NOT_FOUND. */
export async function readRun(repository: Repository, store: RunStore, runId: string): Promise<RunView> {
  const view = await readOurs(repository, store, runId);
  const [others, setAside] = await Promise.all([
    otherRecords(store, runId),
    setAsideNoticeOf(repository, runId),
  ]);
  const told = [...others, ...(setAside === undefined ? [] : [setAside])];
  return told.length === 0 ? view : { ...view, notices: [...told, ...(view.notices ?? [])] };
}

/** Records of the run that came from elsewhere; ours is shown and gone on with. */
async function otherRecords({ objects, refs }: RunStore, runId: string): Promise<readonly string[]> {
  const others = (await objects.refs(refs.fetched(runId))).filter(({ ref }) => /\/from-[^/]*-run$/.test(ref));
  return others.map(
    ({ ref }) =>
      `another record of this run came from a remote and is kept as \`${ref}\`; this one holds: \`writ fetch --theirs ${runId}\` takes the other, \`--ours ${runId}\` keeps this one`,
  );
}

async function readOurs(repository: Repository, store: RunStore, runId: string): Promise<RunView> {
  const files = await store.objects.readMany(store.refs.run(runId), names);
  const stored = storedDecision(files);
  if (stored?.isWaiting === false)
    return decidedRun(store, runId, stored.read(), files, await localRecords(repository, runId));
  const { records } = await readJournal(journalPath(repository, runId));
  if (stored && (records.length === 0 || viewJournal(records).isWaiting)) {
    const signed = (await store.objects.refs(store.refs.approvals(runId))).length;
    return { ...waitingRun(stored.read(), signed), ...summariesOf(files) };
  }
  return undecidedRun(repository, runId, records);
}

/**
 * Notice that the kept patch of a run refused for a secret is masked, so it differs from the patch that was checked.
 */
function maskedNotice(files: ReadonlyMap<string, Buffer>): readonly string[] {
  const bytes = files.get(maskedPath);
  if (!bytes) return [];
  const { files: count, lines, originalSha256 } = parseMaskedRecord(bytes);
  return [
    `the patch is kept masked (${lines} added lines of ${count} files are left out): it was refused by \`secrets\`; SHA-256 of what was evaluated ${originalSha256}`,
  ];
}

/** Summaries of the run's work, if its record has them. */
function summariesOf(
  files: ReadonlyMap<string, Buffer>,
): Pick<RunView, 'retries' | 'citations' | 'toolUses'> {
  const read = <T>(path: string, parse: (bytes: Uint8Array) => T): T | undefined => {
    const bytes = files.get(path);
    return bytes && parse(bytes);
  };
  const retries = read(retriesPath, parseRetries);
  const citations = read(citationsPath, parseCitations);
  const toolUses = read(toolUsesPath, parseToolUses);
  return {
    ...(retries && { retries: { count: retries.count, first: retries.first } }),
    ...(citations && {
      citations: { needed: citations.needed, count: citations.count, first: citations.first },
    }),
    ...(toolUses && { toolUses: { count: toolUses.count, tools: toolUses.tools } }),
  };
}

/** Notice that the spec allowed the change to land without provenance. */
function unprovenNotice({ unproven }: { readonly unproven?: string | undefined }): readonly string[] {
  if (unproven === undefined) return [];
  return [
    `${provenanceMissingCode}: the change was made without its provenance, as the spec allows (\`rollbackOnProvenanceFail\` is \`false\`): ${unproven}`,
  ];
}

/** A run that people have to speak about; complete in its refs, here or fetched from elsewhere. */
function waitingRun(
  { report: { schema: _, ...report }, decision }: ReturnType<StoredDecision['read']>,
  signed: number,
): RunView {
  const { type, rationale, decision_digest: decisionDigest } = decision;
  const notice = `this is the state when it began to wait; \`writ resume\` counts what was signed since then (${signed})`;
  return {
    ...report,
    state: 'waiting',
    decision: { type, rationale, decisionDigest },
    ...(signed === 0 ? {} : { notices: [...(report.notices ?? []), notice] }),
  };
}

function decidedRun(
  store: RunStore,
  runId: string,
  { report: { schema: _, ...report }, decision }: ReturnType<StoredDecision['read']>,
  files: ReadonlyMap<string, Buffer>,
  records: readonly JournalRecord[],
): RunView {
  const ref = store.refs.run(runId);
  const seals = [
    sealedArtifact(
      'provenance-attestation',
      sealPaths.bundle,
      'application/vnd.dev.sigstore.bundle.v0.3+json',
      files,
    ),
    sealedArtifact('transparency-proof', sealPaths.proof, 'text/plain', files),
  ].flat();
  const plugins = sealedPlugins(files.get(sealPaths.bundle));
  const models = sealedModels(files.get(sealPaths.bundle));
  const { state, notices } = afterDecision(decision.type, records);
  const told = [
    ...(notices ?? []),
    ...unprovenNotice(decision),
    ...maskedNotice(files),
    ...(report.notices ?? []),
  ];
  return {
    ...report,
    state,
    ...(told.length === 0 ? {} : { notices: told }),
    ...summariesOf(files),
    finishedAt: decision.created_at,
    decision: {
      type: decision.type,
      rationale: decision.rationale,
      ...(decision.commit_sha === undefined ? {} : { commitSha: decision.commit_sha }),
      decisionDigest: decision.decision_digest,
    },
    artifacts: [...report.artifacts, ...seals],
    provenance: {
      ...viewJournal(records).sealedBy,
      ...(files.has(sealPaths.bundle) ? { bundle: `${ref}:${sealPaths.bundle}` } : {}),
      ...(files.has(sealPaths.proof) ? { proof: `${ref}:${sealPaths.proof}` } : {}),
      ...(plugins.length === 0 ? {} : { plugins }),
      ...(models.length === 0 ? {} : { models }),
    },
  };
}

/**
 * Records of this machine's journal, for a run with a record in refs. The journal only adds details, so a damaged or
 * missing one gives no records.
 */
async function localRecords(repository: Repository, runId: string): Promise<readonly JournalRecord[]> {
  try {
    return (await readJournal(journalPath(repository, runId))).records;
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return [];
    throw fault;
  }
}

/** True for a decided run whose last steps are left to `writ resume`, and that no process works on. */
export async function isUnfinished(repository: Repository, runId: string): Promise<boolean> {
  const { state } = afterDecision('commit', await localRecords(repository, runId));
  return state === 'interrupted' && !(await isRunHeld(runDirectory(repository, runId)));
}

/** Whether the branch was moved and the working tree followed, as far as this machine's journal knows. */
function afterDecision(type: string, records: readonly JournalRecord[]): Pick<RunView, 'state' | 'notices'> {
  if (records.length === 0) return { state: 'decided' };
  const journal = viewJournal(records);
  const followed = journal.follow === undefined ? [] : followNotices(journal.follow);
  const told = followed.length === 0 ? {} : { notices: followed };
  if (journal.isFinished || journal.follow?.state === 'failed') return { state: 'decided', ...told };
  const what = type === 'commit' && !journal.swapped ? 'before the branch was moved' : 'before its last step';
  const stopped = `the run was stopped ${what}: \`writ resume\` finishes it`;
  return { state: 'interrupted', notices: [...followed, stopped] };
}

function sealedArtifact(
  name: string,
  path: string,
  contentType: string,
  files: ReadonlyMap<string, Buffer>,
): readonly ArtifactRecord[] {
  const bytes = files.get(path);
  return bytes
    ? [{ name, stage: 'release', path, sha256: sha256Hex(bytes), sizeBytes: bytes.length, contentType }]
    : [];
}

async function undecidedRun(
  repository: Repository,
  runId: string,
  records: readonly JournalRecord[],
): Promise<RunView> {
  const started = startedRun(records);
  if (!started)
    throw new WritError('RUN_NOT_FOUND', {
      message: `no run \`${runId}\` is stored here`,
      detail: { run_id: runId },
    });
  const { schema: _, ...report } = started.report;
  const { stages, sandbox = report.sandbox } = viewJournal(records);
  const working = await isRunHeld(runDirectory(repository, runId));
  const notices = [...(report.notices ?? []), ...(working ? [] : lostNotices(runId, records))];
  const state = working ? 'running' : 'interrupted';
  return { ...report, sandbox, stages, state, ...(notices.length === 0 ? {} : { notices }) };
}

/** What the process that was stopped had begun is lost from here on. */
function lostNotices(runId: string, records: readonly JournalRecord[]): readonly string[] {
  const { calls, held } = lostIfStopped(records);
  const hint = `\`writ resume ${runId}\` makes none of them again; with \`--repeat-calls\` a model may`;
  return [...lostCallNotices(calls), ...(held.length === 0 ? [] : [hint])];
}

const maxPlugins = 32;
const maxWords = 1000;

/**
 * Returns the third-party plugins that a stored bundle lists, unverified, for display. Empty if the bundle cannot be
 * read. `writ verify` checks the signature.
 */
export function sealedPlugins(bundle: Uint8Array | undefined): readonly AttestedPlugin[] {
  const dependencies = at(statementIn(bundle), 'predicate', 'buildDefinition', 'resolvedDependencies');
  return (Array.isArray(dependencies) ? dependencies : []).flatMap(toPlugin).slice(0, maxPlugins);
}

/** The same of calls of models; empty if a stored bundle names them in another form. */
export function sealedModels(bundle: Uint8Array | undefined): readonly ModelWork[] {
  const named = ['internalParameters', 'writ_model_work'];
  const block = at(statementIn(bundle), 'predicate', 'buildDefinition', ...named);
  return modelWorkFault(block) === undefined ? (block as readonly ModelWork[]) : [];
}

function statementIn(bundle: Uint8Array | undefined): unknown {
  if (bundle === undefined) return undefined;
  try {
    const payload = at(JSON.parse(Buffer.from(bundle).toString('utf8')), 'dsseEnvelope', 'payload');
    return JSON.parse(Buffer.from(String(payload), 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}

function toPlugin(dependency: unknown): readonly AttestedPlugin[] {
  const [name, uri, sha256] = [
    at(dependency, 'name'),
    at(dependency, 'uri'),
    at(dependency, 'digest', 'sha256'),
  ];
  if (typeof name !== 'string' || typeof uri !== 'string' || typeof sha256 !== 'string') return [];
  if (!name.startsWith(pluginDependency.name) || !uri.startsWith(pluginDependency.uri)) return [];
  const words = (key: string): readonly string[] => {
    const given = at(dependency, 'annotations', key);
    return Array.isArray(given) ? given.filter((word) => typeof word === 'string').slice(0, maxWords) : [];
  };
  return [
    {
      name: name.slice(pluginDependency.name.length),
      uri,
      sha256,
      brings: words('brings'),
      given: words('given'),
    },
  ];
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(
    (found, key) => (Object.hasOwn(Object(found), key) ? Object(found)[key] : undefined),
    value,
  );
}

/** A part with its trees written to a scratch repository. */
export interface PlacedPart {
  readonly part: PartRecord;
  readonly before: string;
  readonly after: string;
}

/** The parts of a sealed run, or why they are not believed or not there. */
type LaidParts =
  | { readonly kind: 'laid'; readonly parts: readonly PlacedPart[] }
  /** `untold`: the record names none; `gone`: their content is not kept any more. */
  | { readonly kind: 'untold' | 'gone' }
  | { readonly kind: 'refuted'; readonly why: string };

/**
 * Rebuilds each Task's change in a scratch repository, diff by diff, from the parent of the commit to its tree. The
 * record's refs are writable by others, so only parts that reproduce the commit's tree are believed.
 */
export async function placeParts(
  scratch: Scratch,
  { objects, refs }: RunStore,
  runId: string,
  commit: string,
): Promise<LaidParts> {
  const bytes = await objects.read(refs.run(runId), partsPath);
  if (bytes === undefined) return { kind: 'untold' };
  try {
    const { parts } = parseParts(bytes);
    let tree = await parentTree(scratch, commit);
    const laid: PlacedPart[] = [];
    for (const part of parts) {
      const path = partContentPath(part);
      const diff = await objects.read(refs.content(runId), path);
      if (diff === undefined) return { kind: 'gone' };
      if (sha256Hex(diff) !== part.digest) return refuted(`\`${path}\` is not what it says`);
      const { candidateTree } = await patchFromBytes(scratch, { commit, tree }, diff);
      if (candidateTree !== part.candidate_tree)
        return refuted(`\`${path}\` leads to other files than it says`);
      laid.push({ part, before: tree, after: candidateTree });
      tree = candidateTree;
    }
    if (tree !== (await treeOf(scratch, commit)))
      return refuted('what its tasks changed does not add up to its commit');
    return { kind: 'laid', parts: laid };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    if (fault.code !== 'OBJECT_CORRUPT' && !fault.code.startsWith('PATCH_')) throw fault;
    return refuted(fault.message);
  }
}

function refuted(why: string): LaidParts {
  return { kind: 'refuted', why };
}

/** A changed file as the record stores it, with its paths mapped by `pathOf`. */
export function recordedFile(
  file: PatchFile,
  pathOf: (path: string) => string = (path) => path,
): ObjectBody<'patchset'>['files'][number] {
  const { path, oldPath } = file;
  const old = oldPath === undefined ? {} : { oldPath: pathOf(oldPath) };
  return toStored(patchFile, { ...file, path: pathOf(path), ...old });
}
