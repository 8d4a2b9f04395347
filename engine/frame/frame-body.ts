import { sha256Hex } from '../../core/base/digest.ts';
import type { ObjectBody } from '../store/object-shapes.ts';
import type { ContextFrame } from './frame-window.ts';

/** The body of the `context_frame` object for a frame that a run still sees, or `evicted`, no longer. */
export function frameBody(
  runId: string,
  { kind, sequence, text, trustTier, tags, protected: isProtected }: ContextFrame,
  evicted: boolean,
): ObjectBody<'context_frame'> {
  return {
    run: runId,
    kind,
    seq: sequence,
    protected: isProtected,
    summary: text,
    evicted,
    trust_tier: trustTier,
    digest: sha256Hex(text),
    ...(tags.trust === 'untrusted' ? { trust: 'untrusted' as const } : {}),
  };
}
