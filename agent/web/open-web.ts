/* The web tool of an attempt: fetch and search. */
import type { Clock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { EvidencePolicy, PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { Web, WebAnswer, WebUse } from '../../core/interfaces/worker.ts';
import { htmlText } from '../../readers/documents/html/html-text.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { guardTool } from '../../workspace/command-acl/acl.ts';
import type { PublicClient } from '../../workspace/egress/ask-public.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import type { FindSearch, SearchAccess } from '../../workspace/process/workspace-file.ts';
import type { ToolPlace } from '../tool-calls/tool-entry.ts';
import { type AuthorizedTool, openToolEntry, type ToolSetting } from '../tool-calls/tool-entry.ts';
import { authorizeUrl, followRedirects, networkOf, searchWeb, webActions, webTool } from './search-web.ts';

/** The web of one attempt, and what came of it. */
export interface OpenWeb extends Web {
  /** Addresses with content that the worker was shown, as they were checked. */
  readonly shown: ReadonlySet<string>;
  network(): CheckNetwork | undefined;
}

/** The run that opens the web, and its spec. */
export interface WebEnvironment {
  readonly runId: string;
  readonly effective: EffectiveIntentSpec;
  /** What may not leave this machine. */
  readonly policy: PrivacyPolicy;
  readonly signal: AbortSignal;
  readonly settings: { readonly clock: Clock; readonly search?: FindSearch; readonly outside?: Outside };
  /** Secrets used in calls to the model's provider. */
  readonly secrets: readonly string[];
}

export interface WebSetting {
  readonly strategy: EvidencePolicy;
  readonly place: Pick<ToolPlace, 'workspace'>;
  readonly tools: ToolSetting;
  /** Files read and searches of the repository so far. */
  readonly repositoryUses: () => number;
}

const maxUses = 200;
const webBound = { most: maxUses, told: `an attempt may ask the web ${maxUses} times` };
const maxQuery = 400;
const pageWithinMs = 30_000;
const maxPageBytes = 4 * 1024 * 1024;
/** Shared by attempts, because they call the same services. */
const restsOf = new WeakMap<object, Map<string, number>>();

/** Opens the web as the spec allows; `undefined` if no rule names the tool. */
export function openWeb(environment: WebEnvironment, setting: WebSetting): OpenWeb | undefined {
  const { runId, effective, policy, signal, settings } = environment;
  const { security, evidence } = effective;
  const actions = webActions(security.toolAcl);
  if (actions.length === 0) return undefined;
  const door = openToolEntry(setting.tools, webBound);
  const shown = new Set<string>();
  const judge = (url: string) => authorizeUrl(evidence, setting.strategy, url);
  let access: SearchAccess | undefined;
  let asker: PublicClient | undefined;

  const ruled = (use: WebUse) =>
    guardTool(security.toolAcl, {
      tool: webTool,
      action: use.kind,
      workspace: setting.place.workspace,
      text: [aboutOf(use)],
    });
  const refusalOf = async (
    use: WebUse,
    byRule: Finding | undefined,
  ): Promise<Finding | string | undefined> => {
    const about = aboutOf(use);
    if (byRule) return byRule;
    if (networkOf(effective, use.kind) === undefined)
      return '`networkPolicy` is `deny`, and no rule of `web.search` opens a host with a reason';
    const early = await setting.strategy.refuseRetrieval({ repositoryUses: setting.repositoryUses() });
    if (early !== undefined) return early;
    const verdict = use.kind === 'read' ? await judge(about) : undefined;
    if (verdict?.ok === false) return verdict.why;
    if (use.kind === 'search' && about.length > maxQuery) return `a query has at most ${maxQuery} characters`;
    // A question is the way out for whatever a model has read.
    const leaves = verdict?.ok ? unescaped(verdict.url) : about;
    return isSecret(leaves) ? 'it holds what may not leave this machine' : undefined;
  };
  const isSecret = (text: string): boolean =>
    redactTexts(text, policy) !== text ||
    [...environment.secrets, ...(access?.secrets ?? [])].some((one) => text.includes(one));

  const act = async (use: WebUse): Promise<WebAnswer> => {
    const network = networkOf(effective, use.kind);
    if (network === undefined) throw new TypeError('the web is closed');
    const { openPublicClient: openAsker } = await import('../../workspace/egress/ask-public.ts');
    asker ??= openAsker(signal, settings.outside);
    const open = asker;
    const ask = (question: Parameters<PublicClient['ask']>[0]) => open.ask(question, network);
    if (use.kind === 'search') {
      if (settings.search === undefined)
        return { outcome: 'failed', text: 'failed: no search back end is configured here' };
      access ??= await settings.search();
      const rests = restsOf.get(settings.search) ?? new Map<string, number>();
      restsOf.set(settings.search, rests);
      const nowMs = (): number => settings.clock.now();
      const found = await searchWeb({ evidence, access, judge, ask, rests, nowMs }, use.query);
      for (const url of found.shown) shown.add(url);
      return found;
    }
    const verdict = await judge(use.url);
    if (!verdict.ok) return { outcome: 'denied', text: `denied: ${verdict.why}` };
    const question = { url: verdict.url, headers: {}, withinMs: pageWithinMs, maxBytes: maxPageBytes };
    const followed = await followRedirects(question, (hop) => judge(hop.href), ask);
    if (!followed.ok) {
      const outcome = followed.denied ? 'denied' : 'failed';
      return { outcome, text: `${outcome}: ${followed.why}` };
    }
    const { status, headers, body, isCut } = followed.answer;
    if (status !== 200) return { outcome: 'failed', text: `failed: HTTP ${status}` };
    const page = pageText(headers['content-type'] ?? '', body);
    if ('found' in page) return { outcome: 'failed', text: `failed: ${page.found}` };
    const last = await judge(followed.url.href);
    const tier = last.ok ? last.trustTier : verdict.trustTier;
    for (const url of [verdict.url, followed.url]) shown.add(url.href);
    return {
      outcome: 'done',
      text: `[${tier}] ${followed.url.href}\n${page.text}${isCut ? `\n[cut: the first ${maxPageBytes} bytes]` : ''}`,
    };
  };

  const judgeUse = async (use: WebUse): Promise<AuthorizedTool> => {
    const verdict = ruled(use);
    const why = await refusalOf(use, verdict.refusal);
    const refusal =
      typeof why === 'string' ? ({ rule: 'web', severity: 'error', message: why } as const) : why;
    return {
      request: {
        runId,
        tool: webTool,
        action: use.kind,
        query: redactTexts(aboutOf(use).slice(0, 500), policy),
      },
      given: { ...use },
      ...(refusal === undefined ? {} : { refusal }),
      ...(verdict.maxResultBytes === undefined ? {} : { maxResultBytes: verdict.maxResultBytes }),
    };
  };
  const tryIt = async (use: WebUse): Promise<WebAnswer> => {
    let answer: WebAnswer;
    try {
      answer = await act(use);
    } catch (fault) {
      signal.throwIfAborted();
      answer = { outcome: 'failed', text: `failed: ${messageOf(fault)}` };
    }
    const secrets = access?.secrets ?? [];
    const text = secrets.reduce((said, secret) => said.replaceAll(secret, '[key]'), answer.text);
    return { outcome: answer.outcome, text };
  };
  return {
    actions,
    shown,
    network() {
      const uses = asker?.uses() ?? [];
      if (uses.length === 0) return undefined;
      const opened = actions.flatMap((action) => networkOf(effective, action)?.openings.flat() ?? []);
      const all = networkOf(effective, actions[0] ?? 'search')?.all === true;
      const everything = all ? [{ hosts: ['*'], reason: 'networkPolicy: allow' }] : [];
      return { opened: [...everything, ...opened], uses };
    },
    use: (wanted) =>
      door.use(
        () => judgeUse(wanted),
        () => tryIt(wanted),
      ),
  };
}

function aboutOf(use: WebUse): string {
  return use.kind === 'search' ? use.query : use.url;
}

/** Path and query of an address, raw and percent-decoded. */
function unescaped({ pathname, search }: URL): string {
  const text = pathname + search;
  try {
    return `${text}\n${decodeURIComponent(text.replaceAll('+', ' '))}`;
  } catch {
    return text;
  }
}

/** Characters of a page that a model gets. */
const maxText = 48_000;

/** Text of a page, or why it has none. */
function pageText(type: string, body: Uint8Array): { readonly text: string } | { readonly found: string } {
  const [media = '', ...parameters] = type.toLowerCase().split(';');
  const kind = media.trim();
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([\w-]{1,40})/.exec(one)?.[1]).find(Boolean);
  const isHtml = kind === 'text/html' || kind === 'application/xhtml+xml';
  if (
    isHtml ||
    kind.startsWith('text/') ||
    /^application\/(?:[\w.+-]{0,60}\+)?(?:json|xml|yaml)$/.test(kind)
  ) {
    const text = decoded(body, charset ?? 'utf-8');
    if (text === undefined) return { found: `text in \`${charset}\`` };
    return { text: isHtml ? htmlText(text, maxText) : text.slice(0, maxText).toWellFormed() };
  }
  return { found: kind === '' ? 'content of no stated type' : `no text but \`${kind.slice(0, 80)}\`` };
}

function decoded(body: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return undefined;
  }
}
