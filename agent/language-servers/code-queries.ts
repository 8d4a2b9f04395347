/* The `code` tool: questions to language servers. */
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import {
  type CodeAction,
  type CodeDoor,
  type CodeUse,
  codeActions,
  type HandAnswer,
} from '../../core/interfaces/worker.ts';
import { shownPaths } from '../../workspace/command-acl/acl.ts';
import { allowRules } from '../../workspace/command-acl/constraints.ts';
import type { AgentRun } from '../agent-run.ts';
import type { ToolPlace } from '../tool-calls/tool-entry.ts';
import { ServerFault } from './connection.ts';
import type { GivenDirectory, LanguageServer } from './language-server.ts';
import { openSession, type Session, type SessionTimes, usualTimes } from './session.ts';
import { digestServer, type FoundServer, findServers, startServer } from './start-server.ts';
import { type Visible, workspaceSymbolsText } from './texts.ts';

/** Its name in tool rules. */
export const codeTool = 'workspace.lsp';

/** Language servers in the record of an attempt. */
export interface KeptCode {
  /** Those that answered. */
  readonly servers: readonly DigestedThing[];
  /** Languages of the workspace without a language server here. */
  readonly missing: readonly string[];
}

/** Code queries of an attempt. Disposing of it ends every server. */
export interface OpenCode extends AsyncDisposable {
  /** Absent without a server to query. */
  readonly door?: CodeDoor;
  /** A use that was allowed; `real` is where its path leads. */
  ask(use: CodeUse, judged: Pick<Visible, 'shows'> & { readonly real: string }): Promise<HandAnswer>;
  /** Files of the workspace may have changed. */
  touch(): void;
  /** Absent where no rule names the tool. */
  kept(): Promise<KeptCode | undefined>;
}

const closed: OpenCode = {
  ask: async () => ({ outcome: 'failed', text: 'failed: there is no language server' }),
  touch: () => {},
  kept: async () => undefined,
  [Symbol.asyncDispose]: async () => {},
};

/** A server that fails so often in one attempt is not started again. */
const maxDeaths = 3;
/** If more files than this changed, the server restarts instead of receiving each change. */
const maxRefreshed = 100;

/**
 * Looks for language servers for the files of an attempt's workspace. `given` finds the directories that checks of the
 * base would be given.
 */
export async function openCode(
  run: AgentRun,
  place: ToolPlace,
  given: () => Promise<readonly GivenDirectory[]>,
  times: SessionTimes = usualTimes,
): Promise<OpenCode> {
  const { sandbox, config } = run.environment;
  const { toolAcl } = run.identity.contract.effective.security;
  const actions = codeActions.filter((action) => allowRules(toolAcl.allow, codeTool, action).length > 0);
  const asksModel = run.services.worker?.usesModel === true && run.services.model?.agent === undefined;
  // A program that is talked with is let loose nowhere.
  if (actions.length === 0 || !asksModel || sandbox.unconfined) return closed;
  const all = [...config.lsp];
  const wanted = await ofWorkspace(place.workspace, all);
  if (wanted.length === 0) return closed;
  const provided = await given();
  const found = await findServers(run, join(dirname(place.workspace), 'find'), wanted, provided);
  const missing = wanted.map(([name]) => name).filter((name) => found.every((one) => one.name !== name));
  const shown = actions.map((action) => shownPaths(toolAcl, codeTool, action));
  const one: ServerSetting = {
    run,
    place,
    provided,
    times,
    shows: (path) => shown.every((shows) => shows(path)),
  };
  const servers = found.map((server) => openServer(one, server));
  return {
    ...(found.length === 0 ? {} : { door: doorOf(actions, found) }),
    async ask(use, { real, shows }) {
      const visible = {
        workspace: place.workspace,
        inside: sandbox.pathsInside(place).workspace,
        shows: (path: string) => shows(path) && one.shows(path),
      };
      if (use.action === 'workspace-symbols') return askAll(servers, use, visible);
      const server = servers.find(({ knows }) => knows(real));
      if (server === undefined) return failed('no language server here knows such a file');
      if (needsName(use.action) && !use.symbol) return failed('name the symbol that is meant');
      return server.ask(use, real, visible);
    },
    touch() {
      for (const server of servers) server.touch();
    },
    async kept() {
      const things = await Promise.all(
        servers.map(({ told, found: server }) =>
          told() === undefined ? undefined : digestServer(server, told() ?? ''),
        ),
      );
      return { servers: things.filter((thing) => thing !== undefined), missing };
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close();
    },
  };
}

interface ServerSetting {
  readonly run: AgentRun;
  readonly place: ToolPlace;
  readonly provided: readonly GivenDirectory[];
  readonly times: SessionTimes;
  /** What every action may show: what one may not, the server does not see. */
  readonly shows: (path: string) => boolean;
}

interface OpenServer {
  readonly found: FoundServer;
  knows(path: string): boolean;
  ask(use: CodeUse, path: string, visible: Visible): Promise<HandAnswer>;
  /** Symbols by name; empty if the server knows no file. */
  find(query: string): Promise<unknown>;
  touch(): void;
  /** Its name and version as reported by the server itself, once it has answered. */
  told(): string | undefined;
  close(): Promise<void>;
}

/** One server for the attempt: started on first use, restarted when necessary. */
function openServer({ run, place, provided, times, shows }: ServerSetting, found: FoundServer): OpenServer {
  const { server, name } = found;
  const endings = Object.keys(server.files);
  let session: Session | undefined;
  let files: SourceFiles | undefined;
  let isTouched = true;
  let deaths = 0;
  let told: string | undefined;
  const close = async (): Promise<void> => {
    const open = session;
    session = undefined;
    await open?.[Symbol.asyncDispose]();
  };
  /** In step with what the workspace holds now. */
  const ready = async (): Promise<Session> => {
    if (session !== undefined && !isTouched) return session;
    const now = await readSources(place.workspace, { endings, project: server.project, shows });
    if (now === undefined) throw new ServerFault('is not started: the workspace has too many files');
    const changed = files === undefined ? undefined : changedTexts(files, now);
    if (session === undefined || changed === undefined || changed.length > maxRefreshed) {
      await close();
      const started = await startServer(run, place, found, provided, now.hidden);
      const inside = run.environment.sandbox.pathsInside(place).workspace;
      session = await openSession(started, server, { workspace: place.workspace, inside }, times);
      told = session.told;
    } else await session.refresh(changed);
    files = now;
    isTouched = false;
    return session;
  };
  const use = async <T>(act: (open: Session) => Promise<T>): Promise<T> => {
    if (deaths >= maxDeaths) throw new ServerFault(`failed ${maxDeaths} times and is not asked any more`);
    try {
      return await act(await ready());
    } catch (fault) {
      run.services.signal.throwIfAborted();
      if (fault instanceof ServerFault) {
        deaths += 1;
        await close();
      }
      throw fault;
    }
  };
  return {
    found,
    knows: (path) => endings.some((ending) => path.endsWith(ending)),
    ask: (wanted, path, visible) =>
      use((open) => open.ask(wanted, path, visible)).then(
        ({ isDone, text }) => (isDone ? { outcome: 'done' as const, text } : failed(text)),
        (fault: unknown) => {
          if (fault instanceof ServerFault) return failed(sentence(name, fault));
          throw fault;
        },
      ),
    find: (query) =>
      use(async (open) => {
        const [some] = files?.sources.keys() ?? [];
        return some === undefined ? [] : open.find(query, some);
      }),
    touch() {
      isTouched = true;
    },
    told: () => told,
    close,
  };
}

async function askAll(servers: readonly OpenServer[], use: CodeUse, visible: Visible): Promise<HandAnswer> {
  if (!use.symbol) return failed('name what is looked for');
  const answers: unknown[] = [];
  const faults: string[] = [];
  for (const { find, found } of servers) {
    try {
      answers.push((await find(use.symbol)) ?? []);
    } catch (fault) {
      if (!(fault instanceof ServerFault)) throw fault;
      faults.push(sentence(found.name, fault));
    }
  }
  if (answers.length === 0) return failed(faults.join('\n'));
  return { outcome: 'done', text: [workspaceSymbolsText(answers, visible), ...faults].join('\n') };
}

function sentence(name: string, { message }: ServerFault): string {
  return `the language server of ${name} ${message}`;
}

function failed(text: string): HandAnswer {
  return { outcome: 'failed', text: `failed: ${text}` };
}

function needsName(action: CodeAction): boolean {
  return action !== 'document-symbols' && action !== 'diagnostics';
}

function doorOf(actions: readonly CodeAction[], found: readonly FoundServer[]): CodeDoor {
  return { actions, endings: [...new Set(found.flatMap(({ server }) => Object.keys(server.files)))] };
}

/** The servers for the languages found in a workspace. */
async function ofWorkspace(
  workspace: string,
  all: readonly (readonly [name: string, server: LanguageServer])[],
): Promise<typeof all> {
  const endings = [...new Set(all.flatMap(([, { files }]) => Object.keys(files)))];
  const files = await readSources(workspace, { endings, project: [], shows: () => true });
  const there = endings.filter((ending) =>
    [...(files?.sources.keys() ?? [])].some((path) => path.endsWith(ending)),
  );
  return all.filter(([, server]) => there.some((ending) => Object.hasOwn(server.files, ending)));
}

/** What a server is to know of a workspace at one moment. */
interface SourceFiles {
  /** Files of its language, each with a value that changes when the file changes. */
  readonly sources: ReadonlyMap<string, string>;
  /** The same of files that set a project up. */
  readonly project: ReadonlyMap<string, string>;
  /** What it may not see: the topmost of each, directories with a slash behind. */
  readonly hidden: readonly string[];
}

interface SourceQuestion {
  readonly endings: readonly string[];
  readonly project: readonly string[];
  readonly shows: (path: string) => boolean;
}

const maxEntries = 200_000;

/**
 * Lists a workspace in which no process runs; `undefined` if it is too large. Symlinks are not followed: their target
 * is visited at its own path.
 */
async function readSources(
  workspace: string,
  { endings, project, shows }: SourceQuestion,
): Promise<SourceFiles | undefined> {
  const found = { sources: new Map<string, string>(), project: new Map<string, string>() };
  const hidden: string[] = [];
  const pending = ['.'];
  let entries = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const names = await readdir(join(workspace, at), { withFileTypes: true }).catch(() => []);
    entries += names.length;
    if (entries > maxEntries) return undefined;
    for (const entry of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = posix.join(at, entry.name);
      if (!entry.isFile() && !entry.isDirectory()) continue;
      if (path === '.git' || !shows(path)) hidden.push(entry.isDirectory() ? `${path}/` : path);
      else if (entry.isDirectory()) pending.push(path);
      else {
        const isProject = project.includes(entry.name);
        if (!isProject && !endings.some((ending) => entry.name.endsWith(ending))) continue;
        found[isProject ? 'project' : 'sources'].set(path, await stateOf(join(workspace, path)));
      }
    }
  }
  return { ...found, hidden };
}

/** What of a workspace a server may not see. Throws ServerFault for one with too many files. */
export async function hiddenPaths(
  workspace: string,
  shows: (path: string) => boolean,
): Promise<readonly string[]> {
  const found = await readSources(workspace, { endings: [], project: [], shows });
  if (found === undefined) throw new ServerFault('is not started: the workspace has too many files');
  return found.hidden;
}

async function stateOf(file: string): Promise<string> {
  const status = await lstat(file, { bigint: true }).catch(() => undefined);
  return status === undefined ? '' : `${status.ino}.${status.size}.${status.mtimeNs}.${status.ctimeNs}`;
}

/**
 * Returns the source files with changed text between two moments. `undefined` if more than text changed, so that a
 * running server cannot be updated.
 */
function changedTexts(before: SourceFiles, after: SourceFiles): readonly string[] | undefined {
  const isSame = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((one, index) => one === b[index]);
  if (!isSame(before.hidden, after.hidden)) return undefined;
  if (changedIn(before.project, after.project)?.length !== 0) return undefined;
  return changedIn(before.sources, after.sources);
}

function changedIn(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] | undefined {
  if (before.size !== after.size) return undefined;
  const changed: string[] = [];
  for (const [path, state] of after) {
    const was = before.get(path);
    if (was === undefined) return undefined;
    if (was !== state) changed.push(path);
  }
  return changed;
}
