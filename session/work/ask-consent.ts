import type { ToolRequest } from '../../core/contract/hook-payload.ts';
import type { Interaction } from '../state/interaction.ts';
import type { Answered } from './answered.ts';

/** What is said of a tool call before it is made. */
export type UseVerdict =
  | { readonly kind: 'go' }
  /** Never made, whoever would approve it. */
  | { readonly kind: 'refuse'; readonly why: string }
  | {
      readonly kind: 'ask';
      readonly question: Pick<Interaction, 'title' | 'description' | 'metadata'> & {
        readonly kind: 'approval' | 'sandbox_approval';
      };
    };

/** Judges tool calls by the approval policy of a session and by what was approved before. */
export interface ConsentJudge {
  judge(use: ToolRequest): UseVerdict;
  /** Told what a person answered to a question of this judge, before the call is made or refused. */
  answered(use: ToolRequest, answer: Answered): void;
}
