import type { SessionGround } from './fact.ts';

/** What a session offers whose turns are the engine's own (document 2, Session snapshot). */
export const allCapabilities: SessionGround['capabilities'] = {
  messageInput: true,
  streamingText: true,
  planUpdates: true,
  toolCalls: true,
  patchsets: true,
  interactiveApprovals: true,
  structuredQuestions: true,
  providerSessionResume: true,
};
