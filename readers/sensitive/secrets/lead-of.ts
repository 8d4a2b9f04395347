import type { SecretPattern } from './secret-patterns.ts';

const leads: Readonly<Record<string, number>> = {
  'zhipu-key': 29,
  'terraform-token': 14,
  'azure-client-secret': 3,
  'mailchimp-key': 32,
  'azure-devops-token': 76,
};

/** How far before its anchor a match starts: the digits of a bot id, the first half of a two-part key. */
export function leadOf(text: string, at: number, { rule }: SecretPattern): number {
  if (rule !== 'telegram-token') return leads[rule] ?? 0;
  let lead = 0;
  while (lead < 10 && isDigit(text.charCodeAt(at - lead - 1))) lead += 1;
  return lead;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
