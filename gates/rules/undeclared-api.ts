/* The rule `undeclared-api`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { readTokens, type Token } from '../../readers/source/tokens/lex.ts';
import { type TokenView, viewTokens } from '../direct-eval/hits.ts';
import {
  baseSource,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';

/** One HTTP call with a literal endpoint. */
interface ApiCall {
  /** The endpoint as the source spells it, without the server placeholder before the path. */
  readonly endpoint: string;
  readonly callee: string;
  /** Offsets of the endpoint. */
  readonly start: number;
  readonly end: number;
}

const verbs = 'get|post|put|patch|delete|del|head|options|request|getJSON|ajax|query|fetch|stream|open';
/** What makes HTTP requests by its name: an absolute address or a path among its arguments is an endpoint. */
const clients = new RegExp(
  `(?:^|\\.)(?:${String.raw`fetch ofetch axios got ky urlopen curl_init EventSource WebSocket sendBeacon HttpRequestMessage
  UriComponentsBuilder\.fromHttpUrl Http(?:Get|Post|Put|Patch|Delete)
  (?:get|post|put|patch|delete)(?:For(?:Object|Entity)|Async|FromJsonAsync|AsJsonAsync)
  Get(?:String|Stream|ByteArray)?Async (?:Post|Put|Patch|Delete)(?:AsJson)?Async
  http\.(?:Get|Head|Post|PostForm|NewRequest|NewRequestWithContext)
  (?:axios|got|ky|superagent|needle|https?|jQuery|\$|requests|httpx|aiohttp|HTTParty|Faraday|RestClient|HTTP|Http|reqwest|httpClient|HttpClient)\.(?:${verbs})
  Net\.HTTP\.(?:get|post|get_response|post_form|start) URI\.(?:open|create) HttpRequest\.newBuilder Request`
    .split(/\s+/)
    .join('|')})$`,
);
/** Of whatever client: an absolute address makes it one. */
const anyVerb = new RegExp(`\\.(?:${verbs}|uri|url)$`, 'i');
const absolute = /^(?:https?|wss?):\/\/[^\s]+/i;
const rooted = /^\/(?!\/)[^\s]*$/;
/** What a text begins with in place of the server: `${base}/v1`, `{base}/v1`, `%s/v1`. */
const serverOfText = /^(?:[$#]?\{[^{}]*\}|%[sv])(?=\/)/;
/** Maximum number of brackets between an endpoint and its call: `fetch(new Request('…'))`, `axios({ url: '…' })`. */
const maxDepth = 2;
const maxCallee = 6;

/** The HTTP calls of a source, comments aside. */
function readApiCalls(source: ChangedSource): readonly ApiCall[] {
  if (!/https?:\/\/|wss?:\/\/|["'`]?\//.test(source.text)) return [];
  // What a shell calls is a word of a command, not a string.
  if (source.language === 'shell') return [];
  const tokens = readTokens(source.text, source.language, source.whole);
  const view = viewTokens(tokens);
  const openers = openersOf(tokens);
  return tokens.flatMap(({ kind, text, start, end, dynamic }, index): readonly ApiCall[] => {
    if (kind !== 'string') return [];
    const endpoint = dynamic || text.startsWith('%') ? text.replace(serverOfText, '') : text;
    const isAbsolute = absolute.test(endpoint);
    if (!isAbsolute && !rooted.test(endpoint)) return [];
    const callee = callerOf(view, openers, index, isAbsolute);
    return callee === undefined ? [] : [{ endpoint, callee, start, end }];
  });
}

/** For each token the innermost bracket that is open there; -1 where none is. */
function openersOf(tokens: readonly Token[]): Int32Array {
  const open: number[] = [];
  return Int32Array.from(tokens, ({ kind, text }, index) => {
    const mark = kind === 'punct' ? text : '';
    if (/^[)\]}]$/.test(mark)) open.pop();
    const opener = open.at(-1) ?? -1;
    if (/^[([{]$/.test(mark)) open.push(index);
    return opener;
  });
}

/** Returns the name of the HTTP call that has a token among its arguments, or `undefined`. */
function callerOf(
  view: TokenView,
  openers: Int32Array,
  index: number,
  isAbsolute: boolean,
): string | undefined {
  let opener = openers[index] ?? -1;
  for (let depth = 0; opener !== -1 && depth < maxDepth; depth += 1) {
    const callee = view.isPunct(opener, '(') ? calleeBefore(view, opener) : '';
    if (clients.test(callee) || (isAbsolute && anyVerb.test(callee))) return callee;
    opener = openers[opener] ?? -1;
  }
  return undefined;
}

/**
 * Returns `a.b.c` before a bracket, with dots for every member operator of the language. A part that is not a name
 * ends the path; the result then starts with a dot.
 */
function calleeBefore(view: TokenView, open: number): string {
  const parts: string[] = [];
  let at = view.previous(open);
  for (; parts.length < maxCallee && view.at(at).kind === 'word'; at = view.previous(at)) {
    parts.unshift(view.text(at).replace(/^\$/, parts.length === 0 ? '$' : ''));
    const dot = view.previous(at);
    if (!view.isPunct(dot, '.', '?.', '::', '->', '?->', '&.')) return parts.join('.');
    at = dot;
  }
  return `.${parts.join('.')}`;
}

const method = /^(?:get|put|post|delete|options|head|patch|trace)\s+/i;
/** What a string or a declaration leaves open: `{id}`, `${id}`, `:id`, `%s`, `*`. */
const open = /\{|^:|%[sdv]|^\*$/;

/**
 * Whether the spec declares the called endpoint. The paths must match segment by segment; a placeholder segment on
 * either side matches any segment. If both have an origin, the origins must be equal. A declared path may follow the
 * base path of a server.
 */
function isDeclared(endpoint: string, apis: readonly string[]): boolean {
  const called = readEndpoint(endpoint);
  return apis.some((api) => {
    const declared = readEndpoint(api.trim().replace(method, ''));
    if (declared.origin !== undefined && called.origin !== undefined && declared.origin !== called.origin)
      return false;
    const extra = called.segments.length - declared.segments.length;
    if (extra < 0 || (extra > 0 && (called.origin === undefined || declared.origin !== undefined)))
      return false;
    return declared.segments.every((segment, index) => {
      const given = called.segments[index + extra] ?? '';
      return segment === given || (given !== '' && (open.test(segment) || open.test(given)));
    });
  });
}

function readEndpoint(text: string): { readonly origin?: string; readonly segments: readonly string[] } {
  const [, scheme, host, path = ''] = /^(?:(https?|wss?):\/\/([^/?#]*))?(.*)$/is.exec(text) ?? [];
  const segments = path
    .replace(/[?#].*$/s, '')
    .split('/')
    .filter((segment) => segment !== '');
  return host === undefined
    ? { segments }
    : { origin: `${scheme?.toLowerCase().replace('ws', 'http')}://${host.toLowerCase()}`, segments };
}

const rule = 'undeclared-api';
const maxFindings = 100;

/**
 * Reports HTTP calls on added lines with an endpoint that `touchHints.apis` does not list: the trigger `unknown-api`.
 * Endpoints that the file called before are not reported. The rule cannot see an endpoint that only a variable holds
 * (docs/reference/static-analysis.md).
 */
export const judge: RuleFunction = (input) => {
  const { apis } = input.spec.intent.touchHints;
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
    const source = language && candidateSource(input, file, language);
    if (!source) continue;
    const calls = readApiCalls(source).filter(
      ({ start, end }) => source.isAdded(start) || source.isAdded(end),
    );
    const unknown = calls.filter(({ endpoint }) => !isDeclared(endpoint, apis));
    if (unknown.length === 0) continue;
    const before = baseSource(input, file, source.language);
    const known = new Set((before ? readApiCalls(before) : []).map(({ endpoint }) => endpoint));
    for (const { endpoint, callee, start } of unknown) {
      if (known.has(endpoint)) continue;
      const shown = Buffer.from(endpoint, 'latin1').toString('utf8');
      findings.push({
        rule,
        severity: 'error',
        message: `\`${callee}\` calls \`${shown}\`, which \`intent.touchHints.apis\` does not name`,
        path: source.path,
        ...source.positionOf(start),
        detail: { endpoint: shown },
      });
      if (findings.length >= maxFindings) return findings;
    }
  }
  return findings;
};
