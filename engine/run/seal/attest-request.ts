import { toRfc3339 } from '../../../core/base/clock.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { AttestRequest, DigestedThing } from '../../../core/contract/attestor.ts';
import { joinNetworks } from '../record/join-networks.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import type { Attempt } from '../state/attempt.ts';

export interface SealedFacts {
  readonly commit: string;
  /** Every file of the run record, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What plugins add to `resolvedDependencies`. */
  readonly filled: readonly DigestedThing[];
  readonly engine: DigestedThing;
  /** Artifacts of attempts at Tasks, by path and SHA-256. */
  readonly attempts: readonly (readonly [path: string, sha256: string])[];
  /** RFC 3339. */
  readonly finishedOn: string;
}

/** Everything that the provenance of a sealed change says. */
export function attestRequest(attempt: Attempt, judged: JudgedRun, facts: SealedFacts): AttestRequest {
  const {
    identity: { contract, runId },
    means: { settings },
    patch,
    ground,
    box,
  } = attempt;
  const spec = contract.effective;
  const network = [...judged.workNetworks, ...networksOf(judged.stages)];
  return {
    runId,
    spec,
    specDigest: contract.digest,
    schedulerVersion: settings.schedulerVersion,
    engine: facts.engine,
    sandbox: attempt.identity.sandboxName,
    repositoryUri: ground.repositoryUri,
    baseCommit: patch.baseCommit,
    policyCommit: ground.policy.commit,
    ...(ground.policy.ref === undefined ? {} : { policyRef: ground.policy.ref }),
    ...(ground.foreign === undefined ? {} : { defaultRef: ground.foreign.defaultRef }),
    commit: facts.commit,
    tree: patch.candidateTree,
    patchDigest: patch.digest,
    resolvedDependencies: [
      ...(ground.configBytes
        ? [{ name: '.writ/config.toml', digest: { sha256: sha256Hex(ground.configBytes) } }]
        : []),
      ...ground.dependencies,
      ...judged.dependencies,
      ...facts.filled,
    ],
    byproducts: [
      ...[...facts.files].map(([path, bytes]) => ({
        name: path,
        digest: { sha256: sha256Hex(bytes) },
        mediaType: 'application/json',
      })),
      ...box
        .list()
        .map(({ path, sha256, contentType }) => ({ name: path, digest: { sha256 }, mediaType: contentType })),
      ...facts.attempts.map(([name, sha256]) => ({ name, digest: { sha256 } })),
    ],
    stages: judged.stages,
    approvals: attempt.approvals,
    ...(network.length === 0 ? {} : { network }),
    startedOn: toRfc3339(attempt.identity.startedAtMs),
    finishedOn: facts.finishedOn,
  };
}

function networksOf(stages: JudgedRun['stages']): NonNullable<AttestRequest['network']> {
  return stages.flatMap(({ stage, checks }) =>
    checks.flatMap(({ id, network, baseline }) => {
      const whole = joinNetworks([network, baseline?.network].filter((one) => one !== undefined));
      return whole ? [{ stage, check: id, ...whole }] : [];
    }),
  );
}
