import type { PublicAnswer, PublicQuestion } from '../../../tool/egress/ask-public.ts';

/** An address that may be asked, or why it may not. */
export type HopVerdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

type Followed =
  | { readonly ok: true; readonly url: URL; readonly answer: Extract<PublicAnswer, { readonly ok: true }> }
  | { readonly ok: false; readonly denied: boolean; readonly why: string };

const maxHops = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Asks, and follows where an answer leads: every address is judged before it is asked (resolutions, Domain rules). What
 * was sent along goes to the first origin alone, and never from https to http.
 */
export async function followRedirects(
  question: PublicQuestion,
  judge: (url: URL) => HopVerdict | Promise<HopVerdict>,
  ask: (question: PublicQuestion) => Promise<PublicAnswer>,
): Promise<Followed> {
  let { url } = question;
  for (let hop = 0; hop <= maxHops; hop += 1) {
    const where = hop === 0 ? '' : `it leads to \`${url.href.slice(0, 200)}\`: `;
    const verdict = await judge(url);
    if (!verdict.ok) return { ok: false, denied: true, why: where + verdict.why };
    const headers = url.origin === question.url.origin ? question.headers : {};
    const answer = await ask({ ...question, url, headers });
    if (!answer.ok)
      return { ok: false, denied: answer.refused, why: `${where}${obstacles[answer.why] ?? answer.why}` };
    const { location } = answer.headers;
    if (!redirects.has(answer.status) || location === undefined) return { ok: true, url, answer };
    const next = URL.parse(location, url.href);
    if (!next) return { ok: false, denied: false, why: 'it leads to no address' };
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      return { ok: false, denied: true, why: 'it leads from https to plain http' };
    url = next;
  }
  return { ok: false, denied: false, why: `it leads on and on, more than ${maxHops} times` };
}

const obstacles: Readonly<Partial<Record<Extract<PublicAnswer, { ok: false }>['why'], string>>> = {
  'not-listed': 'the contract opens the network to other hosts only',
  port: 'only ports 80 and 443 are open, and those that an entry of `networkHosts` names',
  address: 'it has an address that is not public',
  malformed: 'its host can be read in more than one way',
  limit: 'the attempt has made too many connections or moved too many bytes',
  unresolved: 'its host has no address',
  unreachable: 'nobody answers there',
  'no-answer': 'it gave no whole answer in time, or could not prove who it is',
};
