import type { FrameKind, TrustTier } from '../../core/contract/context.ts';

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
export interface FrameWindow {
  push(frame: Omit<ContextFrame, 'sequence' | 'protected'>): ContextFrame;
  /** Oldest first. */
  frames(): readonly ContextFrame[];
  readonly size: number;
  /** Those that were evicted so far, oldest first. */
  evicted(): readonly ContextFrame[];
}

const protectedKinds: ReadonlySet<FrameKind> = new Set(['IntentAnalysis', 'Checkpoint']);

/**
 * At most `maxFrames` frames (0 = no limit): the oldest unprotected one goes when there are more; protected ones never
 * go, even where nothing else is left (document 1, contextPipeline.maxFrames). The first frame is protected whatever
 * its kind. A push is amortised O(1).
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
