/* Keeps the frames of a run's context within `maxFrames`. */
import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { FrameKind, TrustTier } from '../../core/interfaces/privacy.ts';
import type { Admission, NotAdmitted } from './admission.ts';

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
