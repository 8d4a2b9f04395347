import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWrit } from '../bin/start-writ.ts';
import { browserPath } from '../session/web/open-browser.ts';

/** Routes as `GET /api/health`, in the order of registration, each with the answer to a request without a token. */
export type Routes = Readonly<Record<string, Answer>>;

/** What a session serves. */
export interface ServedSession {
  readonly routes: Routes;
  /** Tools and resource templates of the MCP server, by name. */
  readonly mcp: Readonly<Record<string, unknown>>;
  /** Types of the events on the first wire, sorted. */
  readonly eventTypes: readonly string[];
  /** What the page shows before anything was said; absent where there is no browser. */
  readonly page: readonly string[] | undefined;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** Code of a refusal. */
  readonly code?: string;
}

/** What the programs print about themselves once they serve. */
export interface Started {
  readonly base_url: string;
  readonly mcp_url?: string;
  readonly mcp_token_file?: string;
  readonly token_file: string;
}

/** Milliseconds in which a served program has to answer. */
const patienceMs = 240_000;

/**
 * Starts `writ service run` in an empty repository and reads what it serves. The routes are those that reach the HTTP
 * framework: a route that is added shows up, whatever file defines it.
 */
export async function readService(): Promise<Routes> {
  return await inRepository((place) => serve(place, ['service', 'run'], routesOf));
}

/** The same for a session, `writ code`, whose model cannot be reached. */
export async function readSession(): Promise<ServedSession> {
  const served = ['code', '--web-only', '--port', '0', '--mcp-port', '0', '--control', 'write'];
  const model = ['--provider', 'ollama', '--model', 'none', '--api-base', 'http://127.0.0.1:9'];
  return await inRepository((place) =>
    serve(place, [...served, ...model], async (started, lines) => ({
      routes: await routesOf(started, lines),
      mcp: await readMcp(started),
      page: await readSessionPage(started),
      eventTypes: await readEventTypes(started),
    })),
  );
}

async function inRepository<T>(act: (place: Place) => Promise<T>): Promise<T> {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-served-')));
  try {
    return await act(makeRepository(box));
  } finally {
    rmSync(box, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>> & { readonly HOME: string };
}

function makeRepository(box: string): Place {
  const cwd = join(box, 'repository');
  const home = join(box, 'home');
  mkdirSync(cwd);
  mkdirSync(home);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Dana',
    GIT_AUTHOR_EMAIL: 'dana@example.org',
    GIT_COMMITTER_NAME: 'Dana',
    GIT_COMMITTER_EMAIL: 'dana@example.org',
    ...(process.env.NODE_COMPILE_CACHE === undefined
      ? {}
      : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd, env });
  execFileSync('git', ['commit', '-q', '--allow-empty', '-m', 'base'], { cwd, env });
  return { cwd, env };
}

/** Runs one program until `use` has settled; `routes` are lines of the recorder. */
async function serve<T>(
  { cwd, env }: Place,
  argv: readonly string[],
  use: (started: Started, routes: readonly string[]) => Promise<T>,
): Promise<T> {
  const file = join(env.HOME, 'routes');
  const recorded = { WRIT_TEST_ROUTES: file, NODE_OPTIONS: `--import=${routeRecorder()}` };
  const writ = startWrit([...argv, '--json'], { cwd, env: { ...env, ...recorded } });
  try {
    await writ.until(() => writ.out().includes('\n'));
    return await use(JSON.parse(writ.out()).data, readFileSync(file, 'utf8').trimEnd().split('\n'));
  } finally {
    writ.child.kill('SIGTERM');
    await writ.ended;
  }
}

async function routesOf(started: Started, lines: readonly string[]): Promise<Routes> {
  const routes: Record<string, Answer> = {};
  for (const line of new Set(lines)) {
    const [method = '', path = ''] = JSON.parse(line) as readonly string[];
    // What is registered for all methods is the answer to the wrong ones, 405.
    if (method === 'ALL') continue;
    const base = path === '/mcp' ? (started.mcp_url ?? '').slice(0, -path.length) : started.base_url;
    routes[`${method} ${path}`] = await answerOf(base, method, path);
  }
  return routes;
}

/** A module that writes down each route that reaches the framework, as `["GET", "/path"]` on a line. */
function routeRecorder(): string {
  const router = import.meta.resolve('hono/router/smart-router');
  const lines = [
    "import { appendFileSync } from 'node:fs';",
    `import { SmartRouter } from ${JSON.stringify(router)};`,
    'const { add } = SmartRouter.prototype;',
    'SmartRouter.prototype.add = function (method, path, handler) {',
    "  appendFileSync(process.env.WRIT_TEST_ROUTES, JSON.stringify([method, path]) + '\\n');",
    '  return add.call(this, method, path, handler);',
    '};',
  ];
  return `data:text/javascript,${encodeURIComponent(lines.join('\n')).replaceAll("'", '%27')}`;
}

async function answerOf(base: string, method: string, path: string): Promise<Answer> {
  const abort = new AbortController();
  const response = await fetch(`${base}${path.replace(/:\w+/, 'x')}`, {
    method,
    signal: abort.signal,
    ...(method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {}),
  });
  const contentType = response.headers.get('content-type') ?? '';
  const answer = { status: response.status, contentType };
  // An event stream has no end, and a page is read elsewhere.
  const isRefusal = response.status >= 400 && contentType.startsWith('application/json');
  const { error } = isRefusal ? ((await response.json()) as { error: { code: string } }) : {};
  abort.abort();
  return error === undefined ? answer : { ...answer, code: error.code };
}

async function readMcp(started: Started): Promise<ServedSession['mcp']> {
  const token = readFileSync(started.mcp_token_file ?? '', 'utf8');
  const call = async (method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(started.mcp_url ?? '', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const [, data = ''] = /^data: (.*)$/m.exec(await response.text()) ?? [];
    return JSON.parse(data).result;
  };
  const client = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const { capabilities, protocolVersion } = await call('initialize', client);
  const byName = (list: unknown) =>
    Object.fromEntries((list as readonly { readonly name: string }[]).map((one) => [one.name, one]));
  const { tools } = await call('tools/list');
  const { resourceTemplates } = await call('resources/templates/list');
  return { protocolVersion, capabilities, tools: byName(tools), resources: byName(resourceTemplates) };
}

/** Attaches, sends one message that no model can answer, and follows the events until each type has come. */
async function readEventTypes({ base_url: url, token_file: tokenFile }: Started): Promise<readonly string[]> {
  const patience = AbortSignal.timeout(patienceMs);
  const stream = await fetch(`${url}/api/code/events`, { signal: patience });
  const seen = new Set<string>();
  const post = async (path: string, body: object, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${url}/api/code/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-svc-control-token': readFileSync(tokenFile, 'utf8').trim(),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Readonly<Record<string, string>>;
  };
  const { controllerToken = '' } = await post(
    'controller/attach',
    { clientId: 'test', kind: 'automation' },
    {},
  );
  await post('messages', { text: '/ask What is here?' }, { 'x-code-controller-token': controllerToken });
  const decoder = new TextDecoder();
  const types = ['controller_changed', 'session_updated', 'status_changed'];
  let rest = '';
  try {
    for await (const chunk of stream.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      for (const [, type = ''] of rest.matchAll(/^event: (.*)$/gm)) seen.add(type);
      rest = rest.slice(rest.lastIndexOf('\n') + 1);
      if (types.every((type) => seen.has(type))) break;
    }
  } catch (fault) {
    // Where a type does not come, those that came say so.
    if (!patience.aborted) throw fault;
  }
  return [...seen].sort();
}

/** The lines that a browser shows of the session's page. */
async function readSessionPage({ base_url: url }: Started): Promise<readonly string[] | undefined> {
  if (!existsSync(browserPath)) return undefined;
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(patienceMs);
    await page.goto(`${url}/`);
    await page.locator('.state-idle').waitFor();
    // What the session may do comes with its first event: until then the page offers more.
    await page.getByText('sandbox', { exact: true }).waitFor();
    return linesOf(await page.locator('body').innerText());
  } finally {
    await browser.close();
  }
}

/**
 * What the demo prints, and the visible text of its pages: reports of a sealed and of a refused run, the graph of the
 * thread of the run that a model made. Ids, digests, times, sizes and places are replaced by words.
 */
export async function readPages(): Promise<Readonly<Record<string, unknown>>> {
  return await inRepository(async ({ cwd, env }) => {
    const out = join(cwd, 'demo');
    const writ = async (...argv: readonly string[]): Promise<string> => {
      const home = argv[0] === 'demo' ? env.HOME : join(out, 'home');
      const started = startWrit(argv, { cwd, env: { ...env, HOME: home } });
      const code = await started.ended;
      if (code !== 0) throw new Error(`writ ${argv.join(' ')} ended with ${code}: ${started.err()}`);
      return started.out();
    };
    const printed = await writ('demo', '--out', out);
    const inside = ['--repo', join(out, 'orders')];
    const { data } = JSON.parse(await writ('runs', '--json', ...inside)) as {
      readonly data: { readonly runs: readonly ListedRun[] };
    };
    const newestThat = (decision: string): ListedRun | undefined =>
      data.runs.find((run) => run.decision === decision);
    const report = async (run: ListedRun | undefined): Promise<readonly string[]> => {
      const file = join(cwd, `${run?.run_id}.html`);
      await writ('report', run?.run_id ?? '', '--html', file, ...inside);
      return visibleLines(readFileSync(file, 'utf8'));
    };
    const graph = await writ('graph', newestThat('commit')?.thread_id ?? '', '--html', '-', ...inside);
    const snapshots = {
      'demo-output': linesOf(printed.replaceAll(out, '<out>')),
      'page-demo-report': visibleLines(readFileSync(join(out, 'report.html'), 'utf8')),
      'page-report-of-a-model': await report(newestThat('commit')),
      'page-report-refused': await report(newestThat('abandon')),
      'page-graph': visibleLines(graph),
    };
    return Object.fromEntries(Object.entries(snapshots).map(([name, lines]) => [name, { lines }]));
  });
}

interface ListedRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly decision?: string;
}

const ownLine =
  /<\/?(?:article|aside|br|dd|details|div|dl|dt|figure|footer|h\d|header|hr|li|main|nav|ol|p|pre|section|summary|table|td|text|th|title|tr|ul)\b[^>]*>/gi;
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** The text of a page without scripts, a line for each block. */
function visibleLines(html: string): readonly string[] {
  const text = html
    .replaceAll(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, '\n')
    .replaceAll(ownLine, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole);
  return linesOf(text);
}

/** Words for what differs from run to run, the more special first. */
const changing: readonly (readonly [RegExp, string])[] = [
  // A narrow drawing cuts ids.
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-(?:[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f-]*…)/g, '<id>'],
  [/SHA256:[A-Za-z0-9+/]{43}/g, '<fingerprint>'],
  [/\b[0-9a-f]{32,64}\b/g, '<digest>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,16}\b/g, '<digest>'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?/g, '<time>'],
  [/\d{4}-\d\d-\d\d/g, '<date>'],
  [/\b\d+ min \d+ s\b|\b\d+(?:\.\d+)? ?(?:ms|s|min)\b/g, '<duration>'],
  [/\b\d+(?:\.\d+)? (?:B|KiB|MiB)\b/g, '<size>'],
  [/\b(wall_clock_seconds|took ms): \d+(?:\.\d+)?/g, '$1: <duration>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
];

/** Lines that are not blank, with single spaces and without what differs from run to run. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return lines
    .filter((line) => line !== '')
    .map((line) => changing.reduce((known, [pattern, word]) => known.replaceAll(pattern, word), line));
}
