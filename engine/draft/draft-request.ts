/* The request of a person, and the target of the draft. */
import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec, IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { mayHoldSecret } from '../../spec/own-secrets.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type Base, resolveBase } from '../../workspace/git/resolve-commit.ts';
import { findPolicy, planTarget } from '../../workspace/git/target.ts';
import { listNames } from '../../workspace/git/tree.ts';
import { parseConfig, type WritConfig } from '../config/config.ts';
import { sealingFormsOf } from '../config/sections.ts';
import { type Admission, openAdmission } from '../context/admission.ts';
import { type InstructionFiles, readInstructions } from '../context/instruction-files.ts';
import type { DraftFrame } from '../intent/draft/drafted-contract.ts';
import { scopeRootOf } from '../plan/scope.ts';
import type { RunRequest } from '../state/run-request.ts';

/** Characters of a request. */
interface RequestBounds {
  readonly least: number;
  readonly most: number;
}

const requestBounds: RequestBounds = { least: 3, most: 8000 };
/** Of a message in a conversation, which may be a greeting. */
export const messageBounds: RequestBounds = { least: 1, most: 8000 };

/**
 * Returns a person's request in a form that a model may read and a run may keep. It has 3 to 8000 characters by
 * default, no control characters and no secret. Throws REQUEST_INVALID before any model sees it.
 */
export async function readRequest(text: string, bounds: RequestBounds = requestBounds): Promise<string> {
  const request = boundRequest(text, bounds);
  if (!mayHoldSecret(request)) return request;
  const { ownSecretsIn } = await import('../../spec/secrets-in-text.ts');
  if (ownSecretsIn(request).length > 0)
    throw invalid('expected words without a secret, found a token or a private key');
  return request;
}

/**
 * Returns the trimmed request if its length and characters are valid. It runs only the immediate checks. Throws
 * REQUEST_INVALID.
 */
export function boundRequest(text: string, { least, most }: RequestBounds = requestBounds): string {
  const request = text.trim();
  if (request.length < least || request.length > most)
    throw invalid(
      `expected ${least} to ${most} characters, found ${request.length}`,
      request.length < least
        ? ['say in a sentence what shall change']
        : [
            'describe the change in short; put longer text in a file of the repository, or write a spec: `writ spec new`',
          ],
    );
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u.test(request))
    throw invalid('expected words, found control characters');
  return request;
}

function invalid(found: string, hints: readonly string[] = []): WritError {
  return new WritError('REQUEST_INVALID', { message: `the request is not valid: ${found}`, hints });
}

/** Key under `extensions` of a drafted spec: the request, and the model that answered it. No decision uses it. */
export const draftExtension = 'writ/request';

/** A request, and the model that drafted a spec from it, as the spec claims. */
export interface DraftPrompt {
  /** The person's messages, in order. */
  readonly said: readonly string[];
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  readonly tokens: number;
  readonly cost_units: number;
  /** What came with the request, by digest. */
  readonly attachments?: readonly {
    readonly name: string;
    readonly origin: string;
    readonly sha256: string;
  }[];
}

const maxSaid = 50;
const maxName = 256;

/** Returns the request that a spec records; `undefined` if it records none. */
export function readDraftPrompt({
  extensions = {},
}: Pick<IntentSpec, 'extensions'>): DraftPrompt | undefined {
  const told = extensions[draftExtension];
  if (typeof told !== 'object' || told === null) return undefined;
  const { said, provider, model, ...counts } = told as Readonly<Record<string, unknown>>;
  if (!Array.isArray(said) || !said.every((one) => typeof one === 'string')) return undefined;
  if (typeof provider !== 'string' || typeof model !== 'string') return undefined;
  const count = (name: string): number => (typeof counts[name] === 'number' ? counts[name] : 0);
  return {
    said: said.slice(0, maxSaid),
    provider: provider.slice(0, maxName),
    model: model.slice(0, maxName),
    turns: count('turns'),
    tokens: count('tokens'),
    cost_units: count('cost_units'),
  };
}

/** The target of a drafted spec, the person who requests it, and the run that will implement it. */
export interface DraftPlace extends Pick<RunRequest, 'repositoryPath' | 'onto'> {
  readonly runId: string;
  readonly target: Pick<DraftFrame, 'createdBy' | 'repo' | 'baseRef'>;
}

/** The base and the policy of a draft: the same that a run would use. */
export interface DraftEnvironment {
  readonly repository: Repository;
  readonly base: Base;
  readonly config: WritConfig;
  /** Where that was read. */
  readonly policyTree: string;
  /** `.writ/allowed_signers` there; `undefined` where there is none. */
  readonly signers: Uint8Array | undefined;
  /** Names at the top of the base. */
  readonly rootNames: ReadonlySet<string>;
}

/** Base and policy of a draft, found as a run finds them. REF_NOT_FOUND. */
export async function findDraftPolicy(
  repository: Repository,
  { onto, runId, target: { baseRef } }: Omit<DraftPlace, 'repositoryPath'>,
): Promise<{ readonly base: Base; readonly policy: Awaited<ReturnType<typeof findPolicy>> }> {
  const base = await resolveBase(repository, baseRef);
  const wanted = { ...(onto === undefined ? {} : { onto }), baseRef, baseCommit: base.commit, runId };
  const target = await planTarget(repository, wanted);
  return { base, policy: await findPolicy(repository, { target, baseRef, base }) };
}

/** Resolves them as a run does, and keeps no files. Throws REF_NOT_FOUND, CONFIG_INVALID and NOT_A_REPOSITORY. */
export async function readDraftEnvironment(engine: WritEngine, place: DraftPlace): Promise<DraftEnvironment> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(place.repositoryPath));
  const { base, policy } = await findDraftPolicy(repository, place);
  const configBytes = await readBlob(repository, policy.tree, '.writ/config.toml');
  const signers = await readBlob(repository, policy.tree, '.writ/allowed_signers');
  const config = parseConfig(configBytes, await sealingFormsOf(engine.slots));
  const rootNames = await listNames(repository, base.tree, scopeRootOf(place.target.repo));
  return { repository, base, config, policyTree: policy.tree, signers, rootNames };
}

/** Reads the instruction files of the base for a model that drafts, plans or answers. Without a scope: of the root. */
export async function readDraftInstructions(
  engine: WritEngine,
  { repository, base, config }: Pick<DraftEnvironment, 'repository' | 'base' | 'config'>,
  {
    runId,
    spec,
    scope,
    userDirectory,
  }: Pick<RunRequest, 'userDirectory'> & {
    readonly runId: string;
    readonly spec: EffectiveIntentSpec;
    readonly scope?: Scope;
  },
): Promise<InstructionFiles> {
  return readInstructions({
    objects: repository,
    tree: base.tree,
    spec,
    admit: await draftAdmission(engine, config, { runId, spec }),
    userDirectory,
    ...(scope === undefined ? {} : { scope }),
  });
}

/** What a model that drafts, plans or answers may get. */
export async function draftAdmission(
  engine: WritEngine,
  config: WritConfig,
  { runId, spec }: { readonly runId: string; readonly spec: EffectiveIntentSpec },
): Promise<Admission> {
  const strategy = await engine.slots.evidence.pick(spec.evidence.strategy);
  return openAdmission({ spec, strategy, hooks: engine.hooks, runId, words: config.redaction });
}
