/* Searches and fetches pages under the spec's domain rules. */
import type { EffectiveIntentSpec, EffectiveToolAcl } from '../../core/interfaces/intentspec.gen.ts';
import type { EvidencePolicy, TrustTier } from '../../core/interfaces/privacy.ts';
import type { WebAnswer, WebUse } from '../../core/interfaces/worker.ts';
import { isAllowedHost, refuseUrl } from '../../spec/evidence-domains.ts';
import { allowRules } from '../../workspace/command-acl/constraints.ts';
import type { PublicAnswer, PublicQuestion } from '../../workspace/egress/ask-public.ts';
import { addressProblem, type EgressPolicy } from '../../workspace/egress/openings.ts';
import type { SearchAccess, SearchResult } from '../../workspace/process/workspace-file.ts';

/** What a search is done with. */
interface SearchGround {
  readonly evidence: EffectiveIntentSpec['evidence'];
  readonly access: SearchAccess;
  readonly judge: (url: string) => WebVerdict | Promise<WebVerdict>;
  readonly ask: (question: PublicQuestion) => Promise<PublicAnswer>;
  /** Until when a service is left alone, by name; milliseconds. */
  readonly rests: Map<string, number>;
  readonly nowMs: () => number;
}

const withinMs = 20_000;
const maxBytes = 2 * 1024 * 1024;
const maxResults = 10;
const [maxTitle, maxSnippet] = [200, 500];

/**
 * Queries one search service after the other until one answers, and shows only results that the spec allows, each
 * with its tier. Reports how many it left out. A service's own host needs no entry in `allowedDomains`, because a
 * tool rule names the tool. A service in `blockedDomains` is not queried.
 */
export async function searchWeb(
  { evidence, access, judge, ask, rests, nowMs }: SearchGround,
  query: string,
): Promise<WebAnswer & { readonly shown: readonly string[] }> {
  const told = [...access.notices];
  let denied = access.backends.length > 0;
  for (const backend of access.backends) {
    const { name } = backend;
    if ((rests.get(name) ?? 0) > nowMs()) {
      denied = false;
      told.push(`${name}: is left alone for a while`);
      continue;
    }
    const { url, headers } = backend.toQuestion(query);
    const first = new URL(url);
    const judgeHop = (hop: URL): HopVerdict | Promise<HopVerdict> => {
      if (hop.host !== first.host) return judge(hop.href);
      const blocked = refuseUrl(evidence, hop.href) === 'blocked-domain';
      return blocked
        ? ({ ok: false, why: '`blockedDomains` names its host' } as const)
        : ({ ok: true } as const);
    };
    const followed = await followRedirects({ url: first, headers, withinMs, maxBytes }, judgeHop, ask);
    if (!followed.ok) {
      denied &&= followed.denied;
      told.push(`${name}: ${followed.why}`);
      continue;
    }
    denied = false;
    const { status, body } = followed.answer;
    const reading = backend.read({ status, body });
    if (reading.kind === 'results') {
      const listed = await listResults(reading.results, judge, evidence);
      const notes = told.map((one) => `[${one}]\n`).join('');
      return { outcome: 'done', text: `${notes}[${name}] ${listed.text}`, shown: listed.shown };
    }
    if (reading.restSeconds !== undefined) rests.set(name, nowMs() + reading.restSeconds * 1000);
    told.push(`${name}: ${reading.found}`);
  }
  const why = told.length === 0 ? 'there is no service to ask' : told.join('; ');
  return denied
    ? { outcome: 'denied', text: `denied: ${why}`, shown: [] }
    : { outcome: 'failed', text: `failed: ${why}`, shown: [] };
}

async function listResults(
  results: readonly SearchResult[],
  judge: SearchGround['judge'],
  evidence: SearchGround['evidence'],
): Promise<{ readonly text: string; readonly shown: readonly string[] }> {
  const left = { domain: 0, address: 0, strategy: 0, tier: 0 };
  let unlisted = 0;
  const seen = new Map<string, string>();
  for (const { title, url, snippet } of results.slice(0, 100)) {
    const verdict = await judge(url);
    if (!verdict.ok) {
      left[verdict.reason] += 1;
      if (refuseUrl(evidence, url) === 'not-allowed-domain') unlisted += 1;
      continue;
    }
    const { href } = verdict.url;
    if (seen.size >= maxResults || seen.has(href)) continue;
    seen.set(
      href,
      `[${verdict.trustTier}] ${line(title, maxTitle)}\n   ${href}\n   ${line(snippet, maxSnippet)}`,
    );
  }
  const reasons = Object.entries(left).flatMap(([reason, count]) =>
    count > 0 ? [`${count} by ${reason}`] : [],
  );
  const head = `${seen.size === 1 ? '1 result' : `${seen.size} results`}${reasons.length === 0 ? '' : `; left out: ${reasons.join(', ')}`}`;
  const items = [...seen.values()].map((text, index) => `${index + 1}. ${text}`);
  const way = unlisted === 0 ? [] : [wayOf(unlisted, evidence)];
  return { text: [head, ...way, ...items].join('\n'), shown: [...seen.keys()] };
}

/**
 * Explains why results are missing and how a person can change that: otherwise a model reads an empty list as "no
 * results exist".
 */
function wayOf(unlisted: number, { allowedDomains }: SearchGround['evidence']): string {
  const count = unlisted === 1 ? '1 result is' : `${unlisted} results are`;
  const list = allowedDomains.length === 0 ? 'which is empty' : 'which does not list them';
  return `[${count} not shown: \`domainAllowlistMode\` is \`allowlist-only\`, so only hosts of \`evidence.allowedDomains\` of the spec are let in, ${list}. To allow a domain, a person adds it there (\`"docs.example.org"\` or \`"*.example.org"\`), or sets the mode to \`disabled\`. Report to the person which domain is needed.]`;
}

function line(text: string, maxLength: number): string {
  const flat = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return flat.length > maxLength ? `${flat.slice(0, maxLength).toWellFormed()}…` : flat;
}

/** Whether an address may be requested, or why not. */
type HopVerdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

type Followed =
  | { readonly ok: true; readonly url: URL; readonly answer: Extract<PublicAnswer, { readonly ok: true }> }
  | { readonly ok: false; readonly denied: boolean; readonly why: string };

const maxHops = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a request and follows redirects: every address is checked by `judge` before it is requested. Custom headers
 * go only to the first origin. A redirect from https to http is refused.
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
  unreachable: 'there is no answer from there',
  'no-answer': 'it gave no whole answer in time, or could not prove who it is',
};

/** Whether an address may be read or shown, with its trust tier, or why not. */
export type WebVerdict =
  | { readonly ok: true; readonly url: URL; readonly trustTier: TrustTier }
  | { readonly ok: false; readonly reason: 'domain' | 'address' | 'strategy' | 'tier'; readonly why: string };

const maxUrl = 2048;

/**
 * Checks one address before it is requested or shown: the spec's domain rules, non-public addresses, its strategy,
 * its tiers. The address that a name resolves to is checked when it resolves.
 */
export async function authorizeUrl(
  evidence: EffectiveIntentSpec['evidence'],
  strategy: EvidencePolicy,
  given: string,
): Promise<WebVerdict> {
  const url = given.length > maxUrl ? null : URL.parse(given);
  if (!url) return refused('domain', `expected an absolute URL of at most ${maxUrl} characters`);
  const domain = refuseUrl(evidence, url.href);
  if (domain !== undefined) return refused('domain', `the domain rules of the contract refuse it: ${domain}`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAddress = host.includes(':') || /^[0-9.]+$/.test(host);
  const problem = isAddress ? addressProblem(host) : localName(host);
  if (problem !== undefined) return refused('address', `its address is not public: ${problem}`);
  const isAllowed = isAllowedHost(evidence, url.href);
  const trustTier = isAllowed ? 'vendor-doc' : 'web';
  const source = { name: url.href, url: url.href, trustTier, isAllowedHost: isAllowed } as const;
  const unwanted = await strategy.refuse(source);
  if (unwanted !== undefined) return refused('strategy', unwanted);
  if (!evidence.trustTiers.includes(trustTier))
    return refused('tier', `\`evidence.trustTiers\` does not list \`${trustTier}\``);
  url.hash = '';
  return { ok: true, url, trustTier };
}

/** Names that mean something near this machine only (RFC 6761, RFC 6762, RFC 9476). */
function localName(host: string): string | undefined {
  const name = host.replace(/\.$/, '');
  const isLocal = !name.includes('.') || /\.(?:localhost|local|internal|home\.arpa|lan)$/.test(name);
  return isLocal ? 'a name of this machine or its network' : undefined;
}

function refused(reason: Exclude<WebVerdict, { ok: true }>['reason'], why: string): WebVerdict {
  return { ok: false, reason, why };
}

/** Its name in tool rules; the actions are the kinds of a use. */
export const webTool = 'web.search';

const kinds = ['search', 'read'] as const satisfies readonly WebUse['kind'][];

/** Web actions that the spec's rules allow. */
export function webActions({ allow }: EffectiveToolAcl): readonly WebUse['kind'][] {
  return kinds.filter((kind) => allowRules(allow, webTool, kind).length > 0);
}

/**
 * Network access of an action: every public host under `networkPolicy: allow`, otherwise the hosts that its rules
 * list with a reason, otherwise none.
 */
export function networkOf(
  { constraints, security }: EffectiveIntentSpec,
  action: WebUse['kind'],
): EgressPolicy | undefined {
  const all = constraints.security.networkPolicy === 'allow';
  const openings = allowRules(security.toolAcl.allow, webTool, action).flatMap(({ constraints: given }) =>
    given?.networkHosts && given.networkReason
      ? [{ hosts: given.networkHosts, reason: given.networkReason }]
      : [],
  );
  if (!all && openings.length === 0) return undefined;
  return { all, openings: openings.length === 0 ? [] : [openings] };
}
