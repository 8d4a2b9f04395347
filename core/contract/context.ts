import type { EffectiveIntentSpec } from './intentspec.gen.ts';

/** Where something in the context comes from (document 1, Evidence policy). */
export type TrustTier = EffectiveIntentSpec['evidence']['trustTiers'][number];

/** What a frame of the context pipeline holds (document 1, Object-model binding). */
export const frameKinds = [
  'IntentAnalysis',
  'Checkpoint',
  'StepSummary',
  'ToolResult',
  'Evidence',
  'CodeChange',
  'ErrorRecovery',
  'Note',
] as const;
export type FrameKind = (typeof frameKinds)[number];

/** What an item of a context snapshot is (document 1, Intent, touchHints). */
export const contextItemKinds = ['File', 'Snippet', 'Url'] as const;
export type ContextItemKind = (typeof contextItemKinds)[number];
