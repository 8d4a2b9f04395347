import type { SaidFailure } from './wire-format.ts';

/** How servers say that a prompt is longer than their model holds. Linear expressions. */
const words: readonly RegExp[] = [
  /\bmaximum (?:context|model|prompt|input) length\b/i,
  /\bcontext[ _](?:length|size|window|limit)[ _]?(?:has been |is |was )?exceed/i,
  /\bexceeds? (?:the )?(?:available |maximum |model'?s? |allowed )?(?:context|max(?:imum)? (?:length|number of tokens|allowed))/i,
  /\b(?:prompt|input|request) (?:is )?(?:too long|longer than)/i,
  /\b(?:greater|longer) than the (?:model'?s? )?context length\b/i,
  /\btoken count of \d+ exceeds\b/i,
  /\brange of input length should be\b/i,
  /\breduce the length of the messages\b/i,
  /`max_new_tokens` must be <=/i,
  /\btoo many tokens\b/i,
  /\bexceeded model token limit\b/i,
  // LM Studio, TabbyAPI, TGI.
  /\bmodel is loaded with context length of only\b/i,
  /\breached context length of \d+/i,
  /\bgreater than max_seq_len\b/i,
  /\bmust have less than \d+ tokens\b/i,
];

/** A request that is larger than the limit of a minute: waiting does not help. OpenAI, Groq. */
const overMinute = /\brequest too large\b.{0,300}\btokens per min/i;

/** The same failure; one whose words say that the prompt is too long is `too-large`, whatever the vendor calls it. */
export function withTooLarge(said: SaidFailure): SaidFailure {
  const found = said.found.slice(0, 2000);
  if (said.kind === 'rate-limited' && overMinute.test(found)) return { ...said, kind: 'too-large' };
  if (said.kind !== 'bad-request' && said.kind !== 'server') return said;
  return words.some((one) => one.test(found)) ? { ...said, kind: 'too-large' } : said;
}
