/* One session with a language server. */
import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../../core/base/json-pointer.ts';
import type { CodeUse } from '../../core/interfaces/worker.ts';
import { readWorkspaceFile } from '../../workspace/process/workspace-file.ts';
import { type Connection, openConnection, ServerFault } from './connection.ts';
import type { LanguageServer } from './language-server.ts';
import type { StartedServer } from './start-server.ts';
import {
  diagnosticsText,
  hoverText,
  type LinesOf,
  placeOfName,
  placesText,
  plain,
  renameText,
  symbolsText,
  uriOf,
  type Visible,
} from './texts.ts';

/** A server that answers. */
export interface Session extends AsyncDisposable {
  /** Name and version by its own word. */
  readonly told: string;
  /** Sends the current content of these files. */
  refresh(paths: readonly string[]): Promise<void>;
  /** ServerFault ends it; what the model did wrong is a text. */
  ask(use: CodeUse, path: string, visible: Visible): Promise<SessionAnswer>;
  /** The symbols that it knows by a name; `some` is a file of the project. */
  find(query: string, some: string): Promise<unknown>;
}

export interface SessionAnswer {
  readonly isDone: boolean;
  readonly text: string;
}

/** Time for the first word of a server, for an answer, and for diagnostics that it sends by itself. */
export interface SessionTimes {
  readonly startMs: number;
  readonly answerMs: number;
  readonly quietMs: number;
}

export const usualTimes: SessionTimes = { startMs: 60_000, answerMs: 60_000, quietMs: 1500 };

const maxFileBytes = 4 * 1024 * 1024;
const maxPublished = 1000;

/** Greets a server. ServerFault where it is none. */
export async function openSession(
  started: StartedServer,
  server: LanguageServer,
  { workspace, inside }: Pick<Visible, 'workspace' | 'inside'>,
  times: SessionTimes,
): Promise<Session> {
  const opened = new Map<string, { version: number; text: string }>();
  const published = new Map<string, { readonly items: readonly unknown[]; readonly order: number }>();
  const working = new Set<unknown>();
  let order = 0;
  const connection = openConnection(started.pipes, {
    notified(method, params) {
      if (!isRecord(params)) return;
      if (method === '$/progress' && isRecord(params.value)) {
        if (params.value.kind === 'begin' && working.size < maxPublished) working.add(params.token);
        if (params.value.kind === 'end') working.delete(params.token);
      }
      if (method !== 'textDocument/publishDiagnostics') return;
      const { uri, diagnostics } = params;
      if (typeof uri !== 'string' || !Array.isArray(diagnostics)) return;
      if (published.size >= maxPublished && !published.has(uri)) return;
      order += 1;
      published.set(uri, { items: diagnostics, order });
    },
    answer: serverAnswers(server.settings ?? {}, uriOf(inside, '')),
  });
  started.ended.then((how) => connection.end(new ServerFault(how)));
  const close = async (): Promise<void> => {
    connection.end(new ServerFault('was ended'));
    await started[Symbol.asyncDispose]();
  };
  let capabilities: Readonly<Record<string, unknown>>;
  let told: string;
  try {
    ({ capabilities, told } = await greet(connection, server, uriOf(inside, ''), times.startMs));
  } catch (fault) {
    await close();
    throw fault;
  }

  const read = async (path: string): Promise<string> => {
    const { bytes, totalBytes } = await readWorkspaceFile(workspace, path, maxFileBytes);
    if (bytes.length < totalBytes || !isUtf8(bytes))
      throw new UnusableFile(`\`${path}\` is too large, or no text`);
    return bytes.toString('utf8');
  };
  const open = async (path: string, isForced = false): Promise<string> => {
    const text = await read(path);
    const uri = uriOf(inside, path);
    const known = opened.get(path);
    if (known === undefined) {
      const ending = Object.keys(server.files).find((one) => path.endsWith(one)) ?? '';
      const languageId = server.files[ending] ?? 'plaintext';
      opened.set(path, { version: 1, text });
      connection.tell('textDocument/didOpen', { textDocument: { uri, languageId, version: 1, text } });
      if (server.warmsUp === true && opened.size === 1) await warm();
    } else if (known.text !== text || isForced) {
      const version = known.version + 1;
      opened.set(path, { version, text });
      connection.tell('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    }
    return text;
  };
  /** Until what it began is done. */
  const warm = async (): Promise<void> => {
    for (let waited = 0; waited < times.answerMs; waited += 250) {
      const why = await Promise.race([connection.ended, sleep(250)]);
      if (why) throw why;
      if (waited >= times.quietMs && working.size === 0) return;
    }
  };

  const request = async (method: string, params: object): Promise<unknown> => {
    let why: string | undefined;
    const answer = await connection.ask(method, params, times.answerMs, (message) => {
      why = plain(message, 300);
    });
    if (why !== undefined) throw new RefusedQuestion(why);
    return answer;
  };

  const diagnose = async (path: string): Promise<readonly unknown[]> => {
    const uri = uriOf(inside, path);
    if (capabilities.diagnosticProvider) {
      await open(path);
      const answer = await request('textDocument/diagnostic', { textDocument: { uri } });
      return isRecord(answer) && Array.isArray(answer.items) ? answer.items : [];
    }
    // The server sends diagnostics unprompted and in parts; the last one counts.
    const before = order;
    await open(path, true);
    let last = before;
    let quiet = 0;
    for (let waited = 0; waited < times.answerMs; waited += 100) {
      const why = await Promise.race([connection.ended, sleep(100)]);
      if (why) throw why;
      const now = published.get(uri);
      if (now === undefined || now.order <= before) continue;
      quiet = now.order === last ? quiet + 100 : 0;
      last = now.order;
      if (quiet >= times.quietMs) return now.items;
    }
    throw new RefusedQuestion(`nothing was said of the file within ${times.answerMs / 1000} s`);
  };

  const answer = async (use: CodeUse, path: string, visible: Visible): Promise<SessionAnswer> => {
    const textDocument = { uri: uriOf(inside, path) };
    if (use.action === 'diagnostics') return done(diagnosticsText(await diagnose(path)));
    const text = await open(path);
    if (use.action === 'document-symbols')
      return done(symbolsText(await request('textDocument/documentSymbol', { textDocument })));
    const found = placeOfName(text, use.symbol ?? '', use.line);
    if ('wrong' in found) return failed(found.wrong);
    const at = { textDocument, position: found.at };
    const lines = new Map<string, Promise<readonly string[] | undefined>>();
    const linesOf: LinesOf = (file) => {
      const known =
        lines.get(file) ??
        read(file).then(
          (all) => all.split('\n'),
          () => undefined,
        );
      lines.set(file, known);
      return known;
    };
    switch (use.action) {
      case 'hover':
        return done(hoverText(await request('textDocument/hover', at)));
      case 'goto-definition':
        return done(await placesText(await request('textDocument/definition', at), visible, linesOf));
      case 'find-references': {
        const more = { ...at, context: { includeDeclaration: true } };
        return done(await placesText(await request('textDocument/references', more), visible, linesOf));
      }
      default: {
        const edit = await request('textDocument/rename', { ...at, newName: use.newName ?? '' });
        return done(await renameText(edit, visible, linesOf));
      }
    }
  };

  return {
    told,
    async refresh(paths) {
      for (const path of paths)
        await open(path).catch((fault) => {
          if (!(fault instanceof UnusableFile)) throw fault;
        });
    },
    async ask(use, path, visible) {
      try {
        return await answer(use, path, visible);
      } catch (fault) {
        if (fault instanceof UnusableFile || fault instanceof RefusedQuestion) return failed(fault.message);
        throw fault;
      }
    },
    async find(query, some) {
      await open(some);
      return request('workspace/symbol', { query }).catch((fault) => {
        if (!(fault instanceof RefusedQuestion)) throw fault;
        return [];
      });
    },
    [Symbol.asyncDispose]: close,
  };
}

class UnusableFile extends Error {}
class RefusedQuestion extends Error {}

function done(text: string): SessionAnswer {
  return { isDone: true, text };
}

function failed(text: string): SessionAnswer {
  return { isDone: false, text };
}

async function greet(connection: Connection, server: LanguageServer, uri: string, withinMs: number) {
  let why: string | undefined;
  const answer = await connection.ask(
    'initialize',
    {
      processId: null,
      clientInfo: { name: 'writ' },
      rootUri: uri,
      workspaceFolders: [{ uri, name: 'workspace' }],
      initializationOptions: server.initialization ?? {},
      capabilities: {
        general: { positionEncodings: ['utf-16'] },
        workspace: { configuration: true, workspaceFolders: true, symbol: {} },
        window: { workDoneProgress: true },
        textDocument: {
          synchronization: {},
          hover: { contentFormat: ['markdown', 'plaintext'] },
          definition: { linkSupport: true },
          references: {},
          documentSymbol: { hierarchicalDocumentSymbolSupport: true },
          publishDiagnostics: {},
          diagnostic: {},
          rename: {},
        },
      },
    },
    withinMs,
    (message) => {
      why = message;
    },
  );
  if (why !== undefined || !isRecord(answer) || !isRecord(answer.capabilities))
    throw new ServerFault('does not say what it can');
  const { capabilities, serverInfo } = answer;
  const { positionEncoding = 'utf-16' } = capabilities;
  if (positionEncoding !== 'utf-16') throw new ServerFault('counts characters in its own way');
  connection.tell('initialized', {});
  const info = isRecord(serverInfo) ? [plain(serverInfo.name, 60), plain(serverInfo.version, 60)] : [];
  return { capabilities, told: info.filter((part) => part !== '').join('@') };
}

const maxSections = 100;

/** Answers a server's requests; no request for an action is carried out. `undefined`: unknown method. */
function serverAnswers(
  settings: Readonly<Record<string, unknown>>,
  uri: string,
): (method: string, params: unknown) => unknown {
  return (method, params) => {
    switch (method) {
      case 'workspace/configuration': {
        const items: readonly unknown[] =
          isRecord(params) && Array.isArray(params.items) ? params.items.slice(0, maxSections) : [];
        return items.map((item) => sectionOf(settings, isRecord(item) ? item.section : undefined));
      }
      case 'workspace/workspaceFolders':
        return [{ uri, name: 'workspace' }];
      case 'workspace/applyEdit':
        return { applied: false, failureReason: 'this client only asks' };
      case 'window/showDocument':
        return { success: false };
      case 'window/showMessageRequest':
      case 'window/workDoneProgress/create':
      case 'client/registerCapability':
      case 'client/unregisterCapability':
        return null;
      default:
        return /^workspace\/[A-Za-z]+\/refresh$/.test(method) ? null : undefined;
    }
  };
}

/** A dotted section of the settings. */
function sectionOf(settings: Readonly<Record<string, unknown>>, section: unknown): unknown {
  if (typeof section !== 'string' || section.length > 200) return null;
  let at: unknown = settings;
  for (const part of section === '' ? [] : section.split('.'))
    at = isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  return at ?? null;
}
