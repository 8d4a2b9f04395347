/* Opens policy files and engines, and adds policy checks and artifacts to a spec. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { nearestName, printable } from '../../core/base/printable.ts';
import { warning } from '../../core/interfaces/finding.ts';
import type {
  ArtifactName,
  ArtifactStage,
  EffectiveIntentSpec,
} from '../../core/interfaces/intentspec.gen.ts';
import type { PolicyEngine, PolicyText } from '../../core/interfaces/rule.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { StageName } from '../../core/interfaces/stage.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { readRef } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Base, resolveCommit } from '../../workspace/git/resolve-commit.ts';
import {
  defaultBranch,
  namedBranch,
  type PolicyCommit,
  shortBranch,
  type Target,
} from '../../workspace/git/target.ts';
import type { PolicyConfig, WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { factorsWithoutChecks, factorWithoutChecks, withFactorChecks, withPolicyChecks } from './checks.ts';

/** `[policy.<name>]` with its files, and the engines that they name. */
export interface OpenPolicies {
  /** Every registered engine's name, whether a policy names it or not. */
  readonly engineNames: readonly string[];
  /** Those that a policy names. */
  readonly engines: ReadonlyMap<string, PolicyEngine>;
  readonly byName: ReadonlyMap<string, PolicyText & { readonly engine: string }>;
  readonly dependencies: readonly DigestedThing[];
}

const maxPolicyBytes = 4 * 1024 * 1024;

/**
 * Reads policy files from the policy commit's tree. Throws CONFIG_INVALID for an unregistered engine or a missing
 * file.
 */
export async function openPolicies(
  engine: Pick<WritEngine, 'slots'>,
  repository: GitDirectory,
  baseTree: string,
  configured: ReadonlyMap<string, PolicyConfig>,
): Promise<OpenPolicies> {
  const { policy } = engine.slots;
  const wanted = [...configured.values()].flatMap(({ files }) => files);
  const blobs = await readBlobs(repository, baseTree, wanted, maxPolicyBytes);
  const engines = new Map<string, PolicyEngine>();
  const byName = new Map<string, PolicyText & { readonly engine: string }>();
  const dependencies: DigestedThing[] = [];
  for (const [name, { engine: engineName, files }] of configured) {
    if (!policy.names.includes(engineName)) {
      const meant = nearestName(engineName, policy.names);
      throw invalid(
        `policy.${name}.engine`,
        `no policy engine \`${engineName}\`${meant === undefined ? '' : `, did you mean \`${meant}\`?`}`,
      );
    }
    engines.set(engineName, await policy.pick(engineName));
    const read = files.map((path, index) => {
      const bytes = blobs.get(path);
      if (bytes === undefined)
        throw invalid(`policy.${name}.files[${index}]`, `\`${path}\` is no file of the policy commit`);
      dependencies.push({ name: path, uri: `urn:writ:policy:${name}`, digest: { sha256: sha256Hex(bytes) } });
      return { path, bytes };
    });
    byName.set(name, { name, engine: engineName, files: read });
  }
  return { engineNames: policy.names, engines, byName, dependencies };
}

function invalid(path: string, message: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` at the policy commit is not valid at \`${path}\`: ${message}`,
    detail: { issues: [{ path, message }] },
  });
}

/**
 * Adds the config of the policy commit to a spec: checks for its risk factors, and checks and artifacts for every
 * change. A factor without checks is a warning. Throws CONFIG_INVALID.
 */
export function withConfig(
  contract: AdmittedContract,
  config: Pick<WritConfig, 'artifacts' | 'checks' | 'commit' | 'factors' | 'policies' | 'scanners'>,
): AdmittedContract {
  const { spec, ids } = withPolicyChecks(withFactorChecks(contract.effective, config), config);
  const untold = factorsWithoutChecks(contract.effective, config).map((factor) =>
    warning(
      'SEMANTIC_RISK_FACTOR_UNKNOWN',
      `/risk/factors/${contract.effective.risk.factors.indexOf(factor)}`,
      factorWithoutChecks(factor),
    ),
  );
  const effective = withPolicyArtifacts(spec, config);
  return { ...contract, effective, mandatory: ids, warnings: [...contract.warnings, ...untold] };
}

const artifactStage: Readonly<Record<StageName, ArtifactStage>> = {
  fast: 'per-task',
  integration: 'integration',
  security: 'security',
  release: 'release',
};

/**
 * Adds `[artifacts]` of the policy commit to a spec's required artifacts. The spec schema does not allow these names,
 * so they cannot collide. Pure.
 */
export function withPolicyArtifacts(
  spec: EffectiveIntentSpec,
  { artifacts }: Pick<WritConfig, 'artifacts'>,
): EffectiveIntentSpec {
  if (artifacts.size === 0) return spec;
  const added = [...artifacts].map(([name, { stage, format }]) => ({
    name: name as ArtifactName,
    stage: artifactStage[stage],
    required: true,
    format,
  }));
  return { ...spec, artifacts: { ...spec.artifacts, required: [...spec.artifacts.required, ...added] } };
}

/** The policy comes from the branch that the spec names, which is neither the target nor the default branch. */
export interface ForeignPolicy {
  /** The default branch as a full ref; `null` where this clone knows none. */
  readonly defaultRef: string | null;
}

/**
 * Detects a policy that is neither the target's nor the default branch's: the author of the spec's `baseRef` chose it
 * (`docs/reference/landing.md`). A branch at the default branch's commit counts as the default branch.
 */
export async function findForeignPolicy(
  repository: Repository,
  target: Pick<Target, 'ref'>,
  policy: PolicyCommit,
): Promise<ForeignPolicy | undefined> {
  if (policy.commit === undefined || policy.ref === target.ref) return undefined;
  const ref = await defaultBranch(repository);
  if (ref === undefined) return { defaultRef: null };
  if (policy.ref !== undefined && shortBranch(policy.ref) === shortBranch(ref)) return undefined;
  return (await readRef(repository, ref)) === policy.commit ? undefined : { defaultRef: ref };
}

/** Code of the warning. */
export const foreignPolicyCode = 'POLICY_FOREIGN';

/** Text of the warning, after its code. */
export function foreignPolicyWords(
  { defaultRef }: ForeignPolicy,
  { ref, commit = '' }: PolicyCommit,
  target: Pick<Target, 'ref'>,
): string {
  const whose = ref === undefined ? `the base ${commit.slice(0, 12)}` : `\`${printable(ref)}\``;
  const known =
    defaultRef === null
      ? ', and no default branch is known here'
      : ` nor of the default branch \`${printable(defaultRef)}\``;
  const lead = defaultRef === null ? 'not' : 'neither';
  return `the policy of ${whose} applies, because baseRef of the spec names it, ${lead} that of the target \`${printable(target.ref)}\`${known}; \`--onto BRANCH\` or \`--policy BRANCH\` holds a run to a branch of yours`;
}

/**
 * Throws POLICY_MISMATCH if the policy is not that of the branch demanded with `--policy`; REF_NOT_FOUND if that
 * branch does not exist.
 */
export async function requirePolicyOf(
  repository: Repository,
  demanded: string,
  policy: PolicyCommit,
): Promise<void> {
  const ref = await namedBranch(repository, demanded);
  if (ref === undefined)
    throw new WritError('REF_NOT_FOUND', {
      message: `\`--policy\` expected a branch, found \`${printable(demanded)}\``,
      detail: { ref: printable(demanded) },
    });
  const wanted = await resolveCommit(repository, ref);
  if (wanted === policy.commit) return;
  const found = policy.ref === undefined ? 'the base' : `\`${printable(policy.ref)}\``;
  throw new WritError('POLICY_MISMATCH', {
    message: `expected the policy of \`${printable(ref)}\` at ${wanted.slice(0, 12)}, found that of ${found} at ${policy.commit?.slice(0, 12) ?? 'no commit'}`,
    detail: { expected: wanted, found: policy.commit ?? null, ref: policy.ref ?? null },
  });
}

/** Code of the warning that a change landed without the provenance that its spec requires. */
export const provenanceMissingCode = 'PROVENANCE_MISSING';

/** Where a run lands and which policy applies. Fixed at the start, independent of later commands and directories. */
export interface Landing {
  /** The base of comparison and parent of the sealed commit: the target's tip if the target exists. */
  readonly base: Base;
  readonly target: Target;
  readonly policy: PolicyCommit;
  /** The change is the commit at the tip of the target, which the sealed commit replaces: the base is its parent. */
  readonly replaces?: boolean;
  /** Where the change started, if that is behind the policy commit. */
  readonly lag?: Lag;
  /** Present where the policy is neither the target's nor the default branch's. */
  readonly foreign?: ForeignPolicy;
}

/** How far a change's start is behind the policy commit. */
export interface Lag {
  /** Where the change started. */
  readonly from: string;
  /** Commits of the policy commit that it does not have. */
  readonly commits: number;
}
