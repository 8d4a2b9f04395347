import type { ArtifactRequest } from '../contract/artifact-producer.ts';
import type { ArtifactRecord, StageRecord } from '../contract/stage.ts';
import { readBlob } from '../vcs/blobs.ts';
import { listTree } from '../vcs/tree.ts';
import type { Attempt } from './attempt.ts';
import { gateOf } from './collect-artifacts.ts';

/** Sealing makes these, after the decision. */
const sealed: ReadonlySet<string> = new Set(['provenance-attestation', 'transparency-proof']);

/**
 * Makes what a stage still lacks and the engine knows how to make: artifacts that its checks claim or that the
 * contract requires at this stage, by the producers of the `artifact` slot. What nobody makes is left to the gate.
 */
export async function produceArtifacts(
  attempt: Attempt,
  stage: StageRecord,
  before: readonly StageRecord[],
): Promise<readonly ArtifactRecord[]> {
  const { engine, contract, box } = attempt;
  const spec = contract.effective;
  const claimed = spec.acceptance.verificationPlan[`${stage.stage}Checks`].flatMap(
    (check) => check.artifactsProduced,
  );
  const required = spec.artifacts.required
    .filter(({ stage: at }) => gateOf[at] === stage.stage)
    .map(({ name }) => name);
  const have = new Set(box.list().map((record) => record.name));
  const missing = [...new Set<string>([...required, ...claimed])].filter(
    (name) => !have.has(name) && !sealed.has(name),
  );
  const made: ArtifactRecord[] = [];
  for (const name of missing) {
    if (!engine.slots.artifact.names.includes(name)) continue;
    const producer = await engine.slots.artifact.pick(name);
    const bytes = await producer.produce(artifactRequest(attempt, [...before, stage]));
    if (!bytes) continue;
    const { contentType, extension } = producer;
    made.push(await box.add({ name, stage: stage.stage, bytes, contentType, extension }));
  }
  return made;
}

function artifactRequest(
  { contract, patch, scratch, ground }: Attempt,
  stages: readonly StageRecord[],
): ArtifactRequest {
  return {
    spec: contract.effective,
    patch,
    stages,
    readCandidate: (path) => readBlob(scratch, patch.candidateTree, path),
    listCandidate: async () => (await listTree(scratch, patch.candidateTree)).map((entry) => entry.path),
    baseTimeMs: ground.baseTimeMs,
  };
}
