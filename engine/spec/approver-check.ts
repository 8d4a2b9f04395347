import type { EffectiveCheck } from '../../core/contract/intentspec.gen.ts';

/** Whether a check is the one that waits for people and does nothing else (document 1, Risk). */
export function isApproverCheck({
  kind,
  command,
}: { readonly [Key in 'kind' | 'command']?: EffectiveCheck[Key] | undefined }): boolean {
  return kind === 'policy' && command?.trim().split(/\s+/, 1)[0] === 'require-approvers';
}
