/* Verifies the stored evidence, the tree and the replay of a run. */
import { sha256Hex } from '../../core/base/canonical.ts';
import type { ReplayRecord } from '../../core/interfaces/sealing.ts';
import type { HashedTree } from '../../core/interfaces/store.ts';
import { expectObject, type JsonObject, parseJsonObject } from '../encoding/expect-json.ts';
import { isSampled, openJobResult, readWorkers, workersPath } from '../statement/job-result.ts';
import {
  type EvidenceSource,
  isContentPath,
  patchFile,
  requiredEvidence,
  runFiles,
} from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { type CheckList, refuted, unavailable } from './report.ts';
import type { RunFacts } from './sealed-run.ts';

const dayMs = 86_400_000;

/** True for content that the signed record allows to be gone: its retention, from the start of the run, is over. */
export function isExpired(path: string, { claims, spec, nowMs }: Omit<RunFacts, 'later'>): boolean {
  if (!isContentPath(path) || spec === undefined) return false;
  return nowMs >= claims.startedAtMs + spec.demands.retentionDays * dayMs;
}

/**
 * Recomputes every listed digest from the stored files, and refuses stored files that are not listed. If the spec is
 * not verified against the statement, evidence is required and never counts as expired.
 */
export async function verifyEvidence(run: RunFacts): Promise<void> {
  const { list, source, claims, spec, later } = run;
  list.expect(...claims.byproducts.map(({ name }) => `evidence:${name}`));
  const names = new Set(claims.byproducts.map(({ name }) => name));
  if (spec?.demands.embedsEvidence === false && names.size === 0) {
    // The signature does not cover the evidence, and the spec does not require it to.
    list.waive('evidence', 'not-required');
    list.waive('evidence-stored', 'not-required');
    return;
  }
  await list.run('evidence', () => {
    const absent: string[] = requiredEvidence.filter((path) => !names.has(path));
    if (![...names].some((name) => name.startsWith('evidence/'))) absent.push('evidence/…');
    if (absent.length > 0) throw unavailable('missing', { not_listed: absent });
  });
  for (const { name, sha256 } of claims.byproducts) await verifyFile(run, `evidence:${name}`, name, sha256);
  await list.run('evidence-stored', async () => {
    const { bundle, proof, summary, manifest, revocation } = runFiles;
    // Made after the statement was signed: the manifest lists the first ones, `not-revoked` covers the revocation.
    const exempt: readonly string[] = [runFiles.spec, bundle, proof, summary, manifest, revocation, ...later];
    const run = (await source.listRun()).filter(
      (path) => !exempt.includes(path) && (isContentPath(path) || !names.has(path)),
    );
    const content = (await source.listContent()).filter(
      (path) => path !== patchFile && (!isContentPath(path) || !names.has(path)),
    );
    const unlisted = [...run, ...content].sort();
    if (unlisted.length > 0)
      throw refuted('unlisted', { found: unlisted.slice(0, 20), count: unlisted.length });
  });
}

const jobResult = /^workers\/([0-9a-f]{64})\.json$/;
const maxEvidenceBytes = 16 * 1024 * 1024;
const workersCheck = 'workers';

/**
 * Verifies that each check which names a signer has a result signed by that key: one that `.writ/workers` at the policy
 * commit lists, or the key of the seal. A verifier without that commit relies on the signer of the run for it. A
 * result of an earlier run is a check of its own (`reused:ID`): its signer has to name that run and allow reuse, and by
 * the seed of this run it is no sample.
 */
export async function verifyWorkers({ list, source, claims, signer }: RunFacts): Promise<void> {
  const paths = claims.byproducts.map(({ name }) => name);
  if (!paths.some((path) => jobResult.test(path))) return;
  const ran: { readonly path: string; readonly id: string; readonly on: JsonObject }[] = [];
  for (const path of paths.filter((one) => one.startsWith('evidence/'))) {
    const bytes = (await source.readRun(path)) ?? Buffer.from('{}');
    const { check_id: id, ran_on: on } = parseJsonObject(bytes, maxEvidenceBytes);
    const found = on === undefined ? {} : expectObject(on, '/ran_on');
    if (found.action !== undefined) ran.push({ path, id: String(id), on: found });
  }
  const reused = ran.filter(({ on }) => on.reused !== undefined);
  list.expect(workersCheck, ...reused.map(({ id }) => `reused:${id}`));
  const file = claims.policy === undefined ? undefined : await source.readAt?.(claims.policy, workersPath);
  if (file === undefined)
    for (const id of [workersCheck, ...reused.map((one) => `reused:${one.id}`)])
      list.waive(id, 'per-repository', { path: workersPath });
  else {
    const own = { name: 'own', keyId: signer.keyId, key: signer.key, labels: [] };
    const signers = [...readWorkers(file.bytes), own];
    const open = async (action: string) => {
      const path = `workers/${action}.json`;
      const bytes = paths.includes(path) ? await source.readRun(path) : undefined;
      if (bytes === undefined) throw unavailable('missing', { path });
      return openJobResult(bytes, action, signers);
    };
    await list.run(
      workersCheck,
      async () => {
        const names = new Set<string>();
        const actions = paths.flatMap((path) => jobResult.exec(path)?.[1] ?? []);
        for (const action of actions) names.add((await open(action)).worker.name);
        for (const { path, on } of ran) {
          const { worker } = await open(String(on.action));
          if (worker.keyId !== on.keyId)
            throw refuted('mismatch', { path, expected: String(on.keyId), found: worker.keyId });
        }
        return { signed: actions.length, names: [...names].sort() };
      },
      ({ signed, names }) => ({ signed, workers: names.slice(0, 20) }),
    );
    for (const { id, on } of reused)
      await list.run(
        `reused:${id}`,
        async () => {
          const { run, seed, percent } = expectObject(on.reused, '/ran_on/reused');
          const { worker, predicate } = await open(String(on.action));
          const { verdict } = expectObject(predicate, '/predicate');
          if (verdict === undefined) throw refuted('policy-deny', { expected: 'a result that allows reuse' });
          const signed = expectObject(verdict, '/predicate/verdict');
          if (signed.run !== run)
            throw refuted('wrong-run', { expected: String(signed.run), found: String(run) });
          if (isSampled(String(seed), String(signed.conditions), Number(percent)))
            throw refuted('policy-deny', { expected: 'that this sample runs again' });
          return { run: String(run), signer: worker.name, key: worker.keyId };
        },
        (found) => found,
      );
  }
}

/** Settles a check by the digest of a stored file; content that cannot be read refuses this check alone. */
export async function verifyFile(
  run: Omit<RunFacts, 'later'>,
  id: string,
  path: string,
  sha256: string,
): Promise<void> {
  const { list, source } = run;
  let bytes: Uint8Array | undefined;
  try {
    bytes = isContentPath(path) ? await source.readContent(path) : await source.readRun(path);
  } catch (thrown) {
    return list.refuse(id, thrown);
  }
  if (bytes === undefined && isExpired(path, run)) list.settle(id, 'expired');
  else await list.run(id, () => requireDigest(bytes, sha256));
}

/** `missing` for absent bytes, `mismatch` for others than those of the digest. */
export function requireDigest(bytes: Uint8Array | undefined, sha256: string): void {
  if (bytes === undefined) throw unavailable('missing', { expected: sha256 });
  const found = sha256Hex(bytes);
  if (found !== sha256) throw refuted('mismatch', { expected: sha256, found });
}

/** This check is expected only if the repository is available: an exported file contains no tree. */
export function treeChecks({ hashTree }: EvidenceSource): readonly string[] {
  return hashTree ? ['tree-objects'] : [];
}

/**
 * The files below the sealed tree are those that its id names, by their bytes: `mismatch` for others, `missing` where
 * they should be here and are not, `unsupported` for more than is looked at. What a partial clone left behind is
 * counted (`promised`).
 */
export async function verifyTree(list: CheckList, source: EvidenceSource, tree: string): Promise<void> {
  const { hashTree } = source;
  if (!hashTree) return;
  await list.run(
    'tree-objects',
    async () => {
      const found = await hashTree(tree);
      requireOwnBytes(found);
      return found;
    },
    ({ trees, files, promised, borrowed }) => ({
      trees,
      files,
      ...(promised === 0 ? {} : { promised }),
      ...(borrowed.length === 0 ? {} : { borrowed }),
    }),
  );
}

/** Refuses a tree if an object is missing or does not match its id. */
export function requireOwnBytes({ wrong, absent, isCut }: HashedTree): void {
  if (wrong.length > 0) throw refuted('mismatch', { found: wrong });
  if (absent.length > 0) throw unavailable('missing', { found: absent });
  if (isCut) throw unavailable('unsupported', { found: 'a tree that is too large to be hashed' });
}

const inputFile = 'decision-input.json';

/**
 * Computes the decision again from the stored inputs, as `writ replay` does. Throws `replay-mismatch` with the first
 * difference if the record is not byte-identical to the result, and `missing` if there are no inputs.
 */
export async function verifyReplay(
  source: EvidenceSource,
  claims: ProvenanceClaims,
  replay: ReplayRecord,
): Promise<void> {
  const files = new Map<string, Uint8Array>();
  for (const path of await source.listRun()) {
    const bytes = await source.readRun(path);
    if (bytes !== undefined) files.set(path, bytes);
  }
  if (!files.has(inputFile)) throw unavailable('missing', { path: inputFile });
  const listed = new Map(claims.byproducts.map(({ name, sha256 }) => [name, sha256]));
  const difference = await replay(files, listed);
  if (difference === undefined) return;
  const { file, field, expected, found } = difference;
  throw refuted('replay-mismatch', { file, field, expected, found });
}
