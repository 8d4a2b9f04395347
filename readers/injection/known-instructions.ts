/**
 * Patterns of text that tries to instruct a model. Every gap is bounded, so matching is linear. Only the tools' own
 * refusals catch an instruction that is not listed here.
 */
const knownInstructions: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|your|system)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|directions?|guidelines?|context)\b/giu,
  /\b(?:do not|don't|never)\b[^.\n]{0,20}\b(?:follow|obey|listen to)\b[^.\n]{0,40}\b(?:instructions?|rules?|system|contract|user)\b/giu,
  /\byou are (?:now|no longer)\b[^.\n]{0,80}/giu,
  /\b(?:new|updated|real|actual|hidden) (?:system )?(?:instructions?|prompts?|orders?|task)\s*:/giu,
  /\b(?:system|developer|assistant) (?:prompt|message|note|override)\s*:/giu,
  /^[ \t]*(?:#{1,6}[ \t]*)?(?:system|assistant|developer)[ \t]*:/gimu,
  /<\|?(?:im_start|im_end|system|assistant|user|endoftext|start_header_id|end_header_id|eot_id)\|?>/giu,
  /<\/?(?:system|assistant|instructions?|untrusted)>/giu,
  /\[\/?(?:INST|SYSTEM|SYS)\]/gu,
  /\b(?:reveal|print|show|repeat|leak|output|send)\b[^.\n]{0,40}\b(?:system prompt|hidden prompt|initial instructions|api[ _-]?keys?|credentials|secrets)\b/giu,
  /\b(?:as an ai|dear (?:ai|assistant|model|llm)|attention (?:ai|assistant|model|llm)|(?:ai|llm) (?:agents?|assistants?) (?:must|should|shall))\b[^.\n]{0,80}/giu,
  /\bpretend (?:to be|that you)\b[^.\n]{0,80}/giu,
];

/** Replaces a removed instruction. */
const removedInstruction = '[instruction removed]';

/** Removes text that tries to instruct a model; other text is unchanged. */
export function withoutInstructions(text: string): string {
  return knownInstructions.reduce((left, pattern) => left.replace(pattern, removedInstruction), text);
}
