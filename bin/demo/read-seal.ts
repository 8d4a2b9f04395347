import { parseBundle } from '../../attest/bundle/bundle.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../../attest/encoding/expect-json.ts';
import { systemClock } from '../../core/base/clock.ts';
import { findRun } from '../../store/record/find-run.ts';
import type { Stores } from '../../store/stores.ts';
import { openRepository } from '../../workspace/git/repository.ts';

/** Content of a sealed run, from its own statements. */
export interface Seal {
  /** Signed statements: file and predicate type. */
  readonly statements: readonly { readonly path: string; readonly type: string }[];
  /** Files that the manifest lists. */
  readonly listed: number;
  readonly levels: readonly string[];
  readonly approvals: readonly {
    readonly principal: string;
    readonly keyId: string;
    readonly inProcess: boolean;
  }[];
}

const maxPayloadBytes = 16 * 1024 * 1024;

/** Reads the seal of a run from its ref for display. Does not verify it. */
export async function readSeal(stores: Stores, repositoryPath: string, runId: string): Promise<Seal> {
  const { store } = await findRun(stores, await openRepository(repositoryPath), systemClock, runId);
  const ref = store.refs.run(runId);
  const listed = (await store.objects.list(ref)).map(({ path }) => path);
  const files = await store.objects.readMany(
    ref,
    listed.filter((path) => path.endsWith('.sigstore.json')),
  );
  const statements = [...files].map(([path, bytes]) => {
    const { predicateType, predicate } = parseJsonObject(
      parseBundle(bytes).envelope.payload,
      maxPayloadBytes,
    );
    return { path, type: expectText(predicateType, '/predicateType'), predicate };
  });
  const predicateAt = (wanted: string): JsonObject =>
    expectObject(statements.find(({ path }) => path === wanted)?.predicate ?? {}, '/predicate');
  const { approvals = [] } = predicateAt('statements/decision.sigstore.json');
  const { files: manifest = [] } = predicateAt('evidence-manifest.sigstore.json');
  const { verifiedLevels = [] } = predicateAt('statements/vsa.sigstore.json');
  return {
    statements: statements.map(({ path, type }) => ({ path, type })),
    listed: expectArray(manifest, '/predicate/files', 100_000).length,
    levels: expectArray(verifiedLevels, '/predicate/verifiedLevels', 100).map((level) =>
      expectText(level, '/predicate/verifiedLevels'),
    ),
    approvals: expectArray(approvals, '/predicate/approvals', 1000).map((approval) => {
      const { principal, keyId, inProcess } = expectObject(approval, '/predicate/approvals');
      return {
        principal: expectText(principal, '/principal'),
        keyId: expectText(keyId, '/keyId'),
        inProcess: inProcess === true,
      };
    }),
  };
}
