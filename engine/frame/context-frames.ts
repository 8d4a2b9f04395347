import { WritError } from '../../core/base/errors.ts';
import type { FrameKind, TrustTier } from '../../core/contract/context.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { Admission, NotAdmitted } from './admission.ts';
import { type ContextFrame, type FrameWindow, openFrameWindow } from './frame-window.ts';

/** What a frame is made of. */
export interface FrameToPush {
  readonly kind: FrameKind;
  readonly name: string;
  readonly text: string;
  /** Default `repo`: what this run saw or did in its own repository. */
  readonly trustTier?: TrustTier;
  /** Where the text was retrieved from; checked against the domain rules, and tagged untrusted. */
  readonly url?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** The context pipeline of a run (document 1, Object-model binding, contextPipeline). */
export interface ContextFrames extends Pick<FrameWindow, 'frames' | 'size' | 'evicted'> {
  /** The frame as it entered, or why it did not. */
  push(frame: FrameToPush): Promise<ContextFrame | NotAdmitted>;
  /** Before a revision of the Plan: a protected Checkpoint frame, where `checkpointOnReplan` asks for one. */
  checkpoint(reason: string): Promise<ContextFrame | NotAdmitted | undefined>;
}

/**
 * Opens the pipeline with its seed frame: the contract's summary, objectives and scope, as `seedFrameKind`.
 * CONTEXT_SEED_REFUSED where a plugin refuses that frame: a run without it would not know what it is for.
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
