/* The `writ lsp` command: a language server that shows findings and faults of specs in an editor. */
import { realpathSync } from 'node:fs';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  frameBounds,
  openConnection,
  RequestFault,
  ServerFault,
} from '../../agent/language-servers/connection.ts';
import { readVersion } from '../../api/build.ts';
import { WritError } from '../../core/base/errors.ts';
import { valueAt } from '../../core/base/json-pointer.ts';
import type { Severity } from '../../core/interfaces/finding.ts';
import { rules } from '../../gates/rules.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { isFreePid } from '../../workspace/process/process-lock.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { type EditedText, findProblems, type Problem } from '../command-parts/diagnose.ts';
import { openEngine } from '../command-parts/engine.ts';
import { changesIn } from '../command-parts/scan-sources.ts';

/** A message carries a whole document; an editor works for days. */
const bounds = {
  ...frameBounds,
  message: 64 * 1024 * 1024,
  messages: Number.POSITIVE_INFINITY,
  requests: Number.POSITIVE_INFINITY,
  octets: Number.POSITIVE_INFINITY,
};
/** Most UTF-16 units of a document that is looked at, and most documents. */
const [maxText, maxDocuments] = [2 * 1024 * 1024, 1000];
/** Interval of looking whether the editor is still there, whose end of the pipe another process may hold. */
const parentMs = 3000;

/** `writ lsp`: serves an editor until it says `exit`. Only the protocol is written to stdout. LSP_ENDED. */
export async function lspCommand(context: CommandContext): Promise<CommandResult> {
  const { print, stdin } = context;
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  await using engine = await openEngine(context);
  context.signal.throwIfAborted();
  const input = new Writable({
    write(chunk: Buffer, _, done) {
      print.raw(chunk);
      void print.taken().then(() => done());
    },
  });
  const editor = openEditor({
    say: (method, params) => connection.tell(method, params),
    written: () => print.taken(),
    end: (why) => connection.end(new ServerFault(why)),
    find: (document, folders, onRepository) =>
      findProblems({ ...context, signal }, engine, document, folders, onRepository),
    signal,
  });
  const connection = openConnection({ input, output: stdin }, editor, bounds);
  context.signal.addEventListener('abort', () => connection.end(new ServerFault('was interrupted')));
  const { message } = await connection.ended;
  context.signal.throwIfAborted();
  over.abort();
  await editor.settled();
  if (editor.isShutDown()) return succeeded({}, () => {});
  return refused(new WritError('LSP_ENDED', { message: `the editor ${message}` }), {}, () => {});
}

interface Editor {
  say(method: string, params: unknown): void;
  /** Resolves when the editor has read what was said. */
  written(): Promise<unknown>;
  /** Ends the conversation. */
  end(why: string): void;
  find(
    document: EditedText,
    folders: readonly string[],
    onRepository: (repository: Repository) => void,
  ): Promise<readonly Problem[]>;
  readonly signal: AbortSignal;
}

/** A document that is open; each change makes another one. */
interface OpenDocument extends EditedText {
  readonly version: number | undefined;
}

type Encoding = 'utf-8' | 'utf-16';

/** The server's side of the conversation. */
function openEditor({ say, written, end, find, signal }: Editor) {
  const documents = new Map<string, OpenDocument>();
  /** Documents to be looked at, in the order of their first change. */
  const waiting = new Set<string>();
  const shown = new Map<string, { readonly text: string; readonly problems: readonly Problem[] }>();
  /** Git directories whose HEAD is followed. */
  const followed = new Set<string>();
  let folders: readonly string[] = [];
  let encoding: Encoding = 'utf-16';
  let state: 'new' | 'open' | 'shut-down' = 'new';
  let isWorking = false;
  let work: Promise<void> | undefined;

  const lookAt = (uris: Iterable<string>): void => {
    for (const uri of uris) waiting.add(uri);
    if (!isWorking) work = lookAtWaiting();
  };
  const lookAtWaiting = async (): Promise<void> => {
    isWorking = true;
    try {
      for (const uri of waiting) {
        waiting.delete(uri);
        const document = documents.get(uri);
        if (document === undefined) continue;
        const problems = await find(document, folders, follow);
        // Else a newer text is waiting, or the document was closed.
        if (documents.get(uri) === document) publish(uri, document, problems);
        await written();
      }
    } catch (fault) {
      if (!signal.aborted) throw fault;
    } finally {
      isWorking = false;
    }
  };
  const publish = (uri: string, { text, version }: OpenDocument, problems: readonly Problem[]): void => {
    const position = positionsIn(text, encoding);
    shown.set(uri, { text, problems });
    say('textDocument/publishDiagnostics', {
      uri,
      ...(version === undefined ? {} : { version }),
      diagnostics: problems.map(({ from, to, severity, code, message }) => ({
        range: { start: position(from), end: position(to) },
        severity: severities[severity],
        code,
        source: 'writ',
        message,
      })),
    });
  };
  /** What a document changes is relative to HEAD. */
  const follow = (repository: Repository): void => {
    const { gitDir } = repository;
    if (followed.has(gitDir)) return;
    followed.add(gitDir);
    const head = async (): Promise<unknown> => (await readHead(repository).catch(() => undefined))?.commit;
    void (async () => {
      let last = await head();
      for await (const _ of changesIn(async () => [gitDir], signal)) {
        const now = await head();
        if (now !== last) lookAt(documents.keys());
        last = now;
      }
    })().catch(() => followed.delete(gitDir));
  };

  const initialize = (params: unknown): unknown => {
    const parent = valueAt(params, '/processId');
    const isGone = (): boolean => typeof parent === 'number' && isFreePid(parent);
    const timer = setInterval(() => {
      if (isGone()) end('is gone');
    }, parentMs).unref();
    signal.addEventListener('abort', () => clearInterval(timer));
    if (isGone()) end('is gone');
    const listed = valueAt(params, '/workspaceFolders');
    const root = valueAt(params, '/rootUri');
    folders = foldersOf(Array.isArray(listed) ? listed : [{ uri: root }]);
    const offered = valueAt(params, '/capabilities/general/positionEncodings');
    encoding = Array.isArray(offered) && offered.includes('utf-8') ? 'utf-8' : 'utf-16';
    state = 'open';
    return {
      serverInfo: { name: 'writ', version: readVersion() },
      capabilities: {
        positionEncoding: encoding,
        textDocumentSync: { openClose: true, change: 1 },
        hoverProvider: true,
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  };
  /** Explains the rules of the problems at a position. */
  const hover = (params: unknown): unknown => {
    const { text = '', problems = [] } = shown.get(textAt(params, '/textDocument/uri')) ?? {};
    const line = valueAt(params, '/position/line');
    const position = positionsIn(text, encoding);
    const character = Number(valueAt(params, '/position/character'));
    const here = problems.filter(({ from, to }) => {
      const [start, end] = [position(from), position(to)];
      return start.line === line && start.character <= character && character <= end.character;
    });
    const words = [...new Set(here.map(({ code }) => code))].flatMap((code) => explain(code) ?? []);
    return words.length === 0 ? null : { contents: { kind: 'markdown', value: words.join('\n\n---\n\n') } };
  };
  const open = (uri: string, text: string, version: unknown): void => {
    const path = pathOf(uri);
    if (path === undefined) return;
    const document = { path, text, version: typeof version === 'number' ? version : undefined };
    documents.delete(uri);
    if (text.length <= maxText && documents.size < maxDocuments) {
      documents.set(uri, document);
      lookAt([uri]);
      return;
    }
    const message = `writ does not look at this document: it looks at ${maxDocuments} of at most ${maxText} characters`;
    publish(uri, { ...document, text: '' }, [
      { severity: 'warning', code: 'INPUT_TOO_LARGE', message, from: 0, to: 0 },
    ]);
  };

  return {
    isShutDown: () => state === 'shut-down',
    settled: async () => work,
    answer(method: string, params: unknown): unknown {
      if (state === 'shut-down') throw new RequestFault(-32600, 'the server was shut down');
      if (method === 'initialize') {
        if (state === 'open') throw new RequestFault(-32600, 'the server is initialized');
        return initialize(params);
      }
      if (state === 'new') throw new RequestFault(-32002, 'expected `initialize` first');
      if (method === 'textDocument/hover') return hover(params);
      if (method !== 'shutdown') return undefined;
      state = 'shut-down';
      return null;
    },
    notified(method: string, params: unknown): void {
      if (method === 'exit') end('ended before `shutdown`');
      if (state !== 'open') return;
      if (method === 'textDocument/didOpen') {
        const uri = textAt(params, '/textDocument/uri');
        open(uri, textAt(params, '/textDocument/text'), valueAt(params, '/textDocument/version'));
      }
      if (method === 'textDocument/didChange') {
        const changes = valueAt(params, '/contentChanges');
        const last = `/contentChanges/${Array.isArray(changes) ? changes.length - 1 : 0}`;
        const uri = textAt(params, '/textDocument/uri');
        open(uri, textAt(params, `${last}/text`), valueAt(params, '/textDocument/version'));
      }
      if (method === 'textDocument/didClose') {
        const uri = textAt(params, '/textDocument/uri');
        documents.delete(uri);
        if (shown.has(uri)) publish(uri, { path: '', text: '', version: undefined }, []);
        shown.delete(uri);
      }
      if (method === 'workspace/didChangeWorkspaceFolders') {
        const [added, removed] = ['/event/added', '/event/removed'].map((at) => {
          const listed = valueAt(params, at);
          return Array.isArray(listed) ? foldersOf(listed) : [];
        });
        folders = [...folders.filter((one) => removed?.includes(one) !== true), ...(added ?? [])];
        lookAt(documents.keys());
      }
    },
  };
}

const severities: Readonly<Record<Severity, number>> = { error: 1, warning: 2, note: 3 };

/** A text in the parameters of a message. */
function textAt(params: unknown, pointer: string): string {
  const found = valueAt(params, pointer);
  if (typeof found !== 'string') throw new ServerFault(`sent a message without a text at \`${pointer}\``);
  return found;
}

/** The path of a `file:` URI; `undefined` for any other document. */
function pathOf(uri: unknown): string | undefined {
  try {
    return typeof uri === 'string' && uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

function foldersOf(listed: readonly unknown[]): readonly string[] {
  return listed.flatMap((one) => {
    const path = pathOf(valueAt(one, '/uri'));
    try {
      return path === undefined ? [] : [realpathSync(path)];
    } catch {
      return [];
    }
  });
}

/** Converts offsets of a text into positions of LSP: CR, LF and both end a line. */
function positionsIn(
  text: string,
  encoding: Encoding,
): (offset: number) => { readonly line: number; readonly character: number } {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    const before = text.slice(starts[low], offset);
    return { line: low, character: encoding === 'utf-8' ? Buffer.byteLength(before) : before.length };
  };
}

function explain(id: string): string | undefined {
  const guide = rules.find((rule) => rule.id === id)?.guide;
  if (guide === undefined) return undefined;
  const { refuses, example, mend, allow = 'it cannot be allowed' } = guide;
  return [
    `**${id}**: ${refuses}`,
    `Example: ${example}`,
    `Mend: ${mend}`,
    `Allow: ${allow}`,
    `\`writ rules ${id}\``,
  ].join('\n\n');
}
