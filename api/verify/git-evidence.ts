import { join } from 'node:path';
import { parseCheckpoint, parseTlogProof } from '../../attest/log/checkpoint.ts';
import { readMirror } from '../../attest/log/git-mirror.ts';
import { ledgerPath } from '../../attest/log/ledger-files.ts';
import { readFrom } from '../../attest/log/tiles.ts';
import { type EvidenceSource, readLogProof } from '../../attest/verify/evidence-source.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { CarryReader } from '../../core/interfaces/approval.ts';
import type { RunStore } from '../../store/stores.ts';
import { effectsOn, evidenceReader, readReplacements } from '../../workspace/git/hash-tree.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';

/**
 * Returns a run's evidence from git. `target` is the name that the caller used for the commit. `undefined` if the
 * commit object does not exist.
 */
export async function gitEvidence(
  repository: Repository,
  store: RunStore,
  runId: string,
  commitId: string,
  target = commitId,
): Promise<EvidenceSource | undefined> {
  const [commit] = await readObjects(repository, [commitId]);
  if (commit?.type !== 'commit') return undefined;
  const run = await loadTree(store, store.refs.run(runId));
  const content = await loadContent(store, store.refs.content(runId));
  const readRun = async (path: string): Promise<Uint8Array | undefined> => run.files.get(path);
  return {
    commit: { id: commit.id, raw: commit.bytes },
    listRun: async () => run.paths,
    readRun,
    listContent: async () => content.paths,
    readContent: content.read,
    ...evidenceReader(repository),
    carry: readCarry(repository),
    ...(await ledgersOf(repository, await readLogProof(readRun))),
    ...(await replacedIn(repository, { target, commit: commit.id, raw: commit.bytes })),
  };
}

/** Loaded when approvals are verified: few runs have any. */
function readCarry(repository: Repository): CarryReader {
  let loaded: Promise<CarryReader> | undefined;
  const load = (): Promise<CarryReader> => {
    loaded ??= import('../../workspace/patch/carry-reader.ts').then(({ carryReader }) =>
      carryReader(repository),
    );
    return loaded;
  };
  return {
    ownedPaths: async (policy, base, tree) => (await load()).ownedPaths(policy, base, tree),
    carriesApprovals: async (commit) => (await load()).carriesApprovals(commit),
    isAncestor: async (ancestor, commit) => (await load()).isAncestor(ancestor, commit),
    patchDigest: async (baseCommit, tree) => (await load()).patchDigest(baseCommit, tree),
    editedPaths: async (baseCommit, tree, other) => (await load()).editedPaths(baseCommit, tree, other),
  };
}

/** What plain git shows otherwise of a commit, where anything is replaced in the repository at all. */
async function replacedIn(
  repository: Repository,
  about: Parameters<typeof effectsOn>[2],
): Promise<Pick<EvidenceSource, 'replaced'>> {
  const replacements = await readReplacements(repository);
  if (replacements.objects.size + replacements.grafts.size === 0) return {};
  return { replaced: await effectsOn(repository, replacements, about) };
}

/** A run's tree at once: one git process instead of one for every file. */
async function loadTree(
  { objects }: RunStore,
  ref: string,
): Promise<{ readonly paths: readonly string[]; readonly files: ReadonlyMap<string, Buffer> }> {
  const paths = (await objects.list(ref)).map(({ path }) => path);
  return { paths, files: paths.length === 0 ? new Map() : await objects.readMany(ref, paths) };
}

/** Why content that a store keeps elsewhere cannot be read now, as opposed to being wrong. */
const unreadable = ['NETWORK_FAILED', 'STORE_REFUSED', 'STORE_CREDENTIALS', 'CONFIG_INVALID', 'KEY_INSECURE'];

/**
 * The content of a run at once. Where some of it cannot be read, each path is answered for itself: a refusal says why
 * it is not there, or that it is other content.
 */
async function loadContent(
  { objects }: RunStore,
  ref: string,
): Promise<{ readonly paths: readonly string[]; read(path: string): Promise<Buffer | undefined> }> {
  const paths = (await objects.list(ref)).map(({ path }) => path);
  const refuse = (fault: unknown, path: string): WritError => {
    if (!isWritError(fault)) throw fault;
    const isWrong = fault.code === 'OBJECT_CORRUPT';
    if (!isWrong && !unreadable.includes(fault.code)) throw fault;
    const detail = { path, found: fault.message, reason: isWrong ? 'mismatch' : 'missing' };
    return new WritError(isWrong ? 'VERIFY_REFUTED' : 'VERIFY_NOTHING', { message: fault.message, detail });
  };
  try {
    const files = paths.length === 0 ? new Map<string, Buffer>() : await objects.readMany(ref, paths);
    return { paths, read: async (path) => files.get(path) };
  } catch (fault) {
    const first = refuse(fault, ref);
    return {
      paths,
      async read(path) {
        if (!paths.includes(path)) return undefined;
        if (first.code === 'VERIFY_NOTHING') throw refuse(fault, path);
        return objects.read(ref, path).catch((own: unknown) => {
          // It may have expired, and another clone have removed it.
          if (isWritError(own, 'OBJECT_CORRUPT') && own.detail.found === 'nothing') return undefined;
          throw refuse(own, path);
        });
      },
    };
  }
}

/**
 * Returns the repository's own ledger and its copy in git if that ledger is the log of the proof. Otherwise returns
 * git's copy of the proof's log. Without a copy, returns the own ledger, which then proves nothing about the proof.
 */
async function ledgersOf(
  repository: Repository,
  proof: Uint8Array | undefined,
): Promise<Pick<EvidenceSource, 'readLedger' | 'readMirror'>> {
  const own = readFrom(join(repository.commonDir, ledgerPath));
  const origin = proof === undefined ? undefined : originOf(() => parseTlogProof(proof).checkpoint);
  if (origin === undefined) return { readLedger: own };
  const checkpoint = await own('checkpoint');
  const isOwn = checkpoint && originOf(() => Buffer.from(checkpoint).toString('utf8')) === origin;
  const copy = await readMirror(repository, origin);
  if (!isOwn) return { readLedger: copy ?? own };
  return { readLedger: own, ...(copy === undefined ? {} : { readMirror: copy }) };
}

/**
 * Returns the log origin that a checkpoint names; `undefined` if the checkpoint is invalid, which the verifier
 * reports.
 */
function originOf(checkpoint: () => string): string | undefined {
  try {
    return parseCheckpoint(checkpoint()).origin;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
