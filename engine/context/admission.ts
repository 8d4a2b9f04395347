/* Decides what enters the context of a model, and keeps its frames within `maxFrames`. */
import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type {
  ClassWords,
  ContextItemKind,
  EvidencePolicy,
  EvidenceSource,
  FrameKind,
  TrustTier,
} from '../../core/interfaces/privacy.ts';
import type { Hooks } from '../../core/kernel/hooks.ts';
import { type DomainRefusal, isAllowedHost, refuseUrl } from '../../spec/evidence-domains.ts';
import { privacyPolicyOf } from '../../spec/facts.ts';

/** Something that wants into the context. */
export interface Candidate {
  readonly form: 'item' | 'frame';
  readonly kind: ContextItemKind | FrameKind;
  readonly name: string;
  readonly trustTier: TrustTier;
  readonly tags?: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** Where it was, or would be, retrieved from: it is external then. */
  readonly url?: string;
}

/**
 * Why a candidate was not admitted: a domain rule, the strategy, a tier that the spec does not list, or a plugin's
 * refusal.
 */
export interface NotAdmitted {
  readonly admitted: false;
  readonly reason: DomainRefusal | 'strategy' | 'unlisted-tier' | 'refused';
  readonly message: string;
}

interface Admitted {
  readonly admitted: true;
  readonly tags: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

export type Admission = (candidate: Candidate) => Promise<Admitted | NotAdmitted>;

interface AdmissionSetting {
  readonly spec: EffectiveIntentSpec;
  /** The strategy that the spec names. */
  readonly strategy: EvidencePolicy;
  readonly hooks: Pick<Hooks, 'frame'>;
  readonly runId: string;
  /** `[redaction]` of the config at the policy commit. */
  readonly words?: ClassWords;
}

const externalTiers: ReadonlySet<TrustTier> = new Set(['vendor-doc', 'standards', 'web']);

/**
 * The one way into the context of a run: domain rules, strategy, trust tier, `frame.admit`, then `frame.tag` and
 * `frame.redact`. What is refused is answered and goes nowhere. Frames in the engine's own words are not ranked by
 * tier; items and external content are.
 */
export function openAdmission({ spec, strategy, hooks, runId, words }: AdmissionSetting): Admission {
  const { evidence, security } = spec;
  const listed = new Set(evidence.trustTiers);
  const policy = privacyPolicyOf(spec, words);
  return async (candidate) => {
    const { form, kind, name, trustTier, bytes, url } = candidate;
    const isExternal = url !== undefined || externalTiers.has(trustTier);
    const domain = url === undefined ? undefined : refuseUrl(evidence, url);
    if (domain !== undefined) return refused(domain, `the domain rules of the spec refuse \`${url}\``);
    const unwanted =
      form === 'item' || isExternal ? await strategy.refuse(toSource(evidence, candidate)) : undefined;
    if (unwanted !== undefined) return refused('strategy', unwanted);
    if ((form === 'item' || isExternal) && !listed.has(trustTier))
      return refused('unlisted-tier', `expected a tier of \`evidence.trustTiers\`, found \`${trustTier}\``);
    const own = {
      ...candidate.tags,
      trust_tier: trustTier,
      ...(isExternal && security.promptInjection.treatRetrievedContentAsUntrusted
        ? { trust: 'untrusted' }
        : {}),
    };
    const entry = { runId, form, kind, name, trustTier, tags: own, bytes, policy };
    const refusal = await hooks.frame.admit.call(entry);
    if (refusal) return refused('refused', `${refusal.rule}: ${refusal.message}`);
    const tagged = await hooks.frame.tag.call(entry);
    const tags = { ...tagged.tags, ...own };
    if (kind === 'File') return { admitted: true, tags, bytes };
    return { admitted: true, tags, bytes: (await hooks.frame.redact.call({ ...entry, tags })).bytes };
  };
}

/** Converts a candidate to the form that a strategy evaluates. */
export function toSource(
  evidence: EffectiveIntentSpec['evidence'],
  { name, url, trustTier }: Pick<Candidate, 'name' | 'url' | 'trustTier'>,
): EvidenceSource {
  const isAllowed = url !== undefined && isAllowedHost(evidence, url);
  return { name, trustTier, isAllowedHost: isAllowed, ...(url === undefined ? {} : { url }) };
}

function refused(reason: NotAdmitted['reason'], message: string): NotAdmitted {
  return { admitted: false, reason, message };
}

/** One frame of the context of a run. */
export interface ContextFrame {
  /** Place in the pipeline, from 1; never given twice. */
  readonly sequence: number;
  readonly kind: FrameKind;
  /** Never evicted. */
  readonly protected: boolean;
  readonly name: string;
  readonly text: string;
  readonly trustTier: TrustTier;
  readonly tags: Readonly<Record<string, string>>;
}

/** The frames that a run still sees. Pure state; who may enter is decided before. */
interface FrameWindow {
  push(frame: Omit<ContextFrame, 'sequence' | 'protected'>): ContextFrame;
  /** Oldest first. */
  frames(): readonly ContextFrame[];
  readonly size: number;
  /** Those that were evicted so far, oldest first. */
  evicted(): readonly ContextFrame[];
}

const protectedKinds: ReadonlySet<FrameKind> = new Set(['IntentAnalysis', 'Checkpoint']);

/**
 * Keeps at most `maxFrames` frames (`contextPipeline.maxFrames`; 0 = no limit). Above the limit the oldest
 * unprotected frame is evicted. Protected frames are never evicted, even if only they are left. The first frame is
 * protected, whatever its kind. A push is amortised O(1).
 */
export function openFrameWindow(maxFrames: number): FrameWindow {
  const kept = new Map<number, ContextFrame>();
  let evictable: number[] = [];
  let head = 0;
  let last = 0;
  const gone: ContextFrame[] = [];
  return {
    push(frame) {
      last += 1;
      const pushed = { ...frame, sequence: last, protected: last === 1 || protectedKinds.has(frame.kind) };
      kept.set(last, pushed);
      if (!pushed.protected) evictable.push(last);
      while (maxFrames > 0 && kept.size > maxFrames && head < evictable.length) {
        const oldest = evictable[head] ?? 0;
        const evicted = kept.get(oldest);
        if (evicted) gone.push(evicted);
        kept.delete(oldest);
        head += 1;
      }
      if (head > 1024 && head * 2 > evictable.length) {
        evictable = evictable.slice(head);
        head = 0;
      }
      return pushed;
    },
    frames: () => [...kept.values()],
    get size() {
      return kept.size;
    },
    evicted: () => gone,
  };
}

/** What a frame is made of. */
interface FrameToPush {
  readonly kind: FrameKind;
  readonly name: string;
  readonly text: string;
  /** Default `repo`: what this run saw or did in its own repository. */
  readonly trustTier?: TrustTier;
  /** Where the text was retrieved from; checked against the domain rules, and tagged untrusted. */
  readonly url?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** The context pipeline of a run (`objmodel.contextPipeline`). */
export interface ContextFrames extends Pick<FrameWindow, 'frames' | 'size' | 'evicted'> {
  /** The frame as it entered, or why it did not. */
  push(frame: FrameToPush): Promise<ContextFrame | NotAdmitted>;
  /** Called before a revision of the Plan: pushes a protected Checkpoint frame if `checkpointOnReplan` is set. */
  checkpoint(reason: string): Promise<ContextFrame | NotAdmitted | undefined>;
}

/**
 * Opens the pipeline with its seed frame: the spec's summary, objectives and scope, as `seedFrameKind`. Throws
 * CONTEXT_SEED_REFUSED if a plugin refuses that frame, because without it a run would not know its purpose.
 */
export async function openContextFrames(spec: EffectiveIntentSpec, admit: Admission): Promise<ContextFrames> {
  const { maxFrames, seedFrameKind, checkpointOnReplan } = spec.objmodel.contextPipeline;
  const window = openFrameWindow(maxFrames);
  const push: ContextFrames['push'] = async ({ kind, name, text, trustTier = 'repo', url, tags = {} }) => {
    const outcome = await admit({
      form: 'frame',
      kind,
      name,
      trustTier,
      tags,
      bytes: Buffer.from(text),
      ...(url === undefined ? {} : { url }),
    });
    if (!outcome.admitted) return outcome;
    // Stored objects hold no NUL.
    const admitted = Buffer.from(outcome.bytes).toString('utf8').replaceAll('\0', '\uFFFD');
    return window.push({ kind, name, text: admitted, trustTier, tags: outcome.tags });
  };
  const seed = await push({
    kind: seedFrameKind,
    name: 'seed',
    text: seedText(spec),
    trustTier: 'user-provided',
  });
  if ('admitted' in seed) {
    throw new WritError('CONTEXT_SEED_REFUSED', {
      message: `the first frame of the context was refused: ${seed.message}`,
      detail: { kind: seedFrameKind, reason: seed.reason },
    });
  }
  return {
    push,
    checkpoint: async (reason) =>
      checkpointOnReplan ? push({ kind: 'Checkpoint', name: 'replan', text: reason }) : undefined,
    frames: () => window.frames(),
    get size() {
      return window.size;
    },
    evicted: () => window.evicted(),
  };
}

function seedText({ intent }: EffectiveIntentSpec): string {
  const list = (title: string, entries: readonly string[]): string =>
    entries.length === 0 ? '' : `\n${title}:\n${entries.map((entry) => `- ${entry}\n`).join('')}`;
  const parts = [
    list('objectives', intent.objectives),
    list('in scope', intent.inScope),
    list('out of scope', intent.outOfScope),
  ];
  return `${intent.summary}\n${parts.join('')}`;
}
