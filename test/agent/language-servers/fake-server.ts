import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Test } from 'tap';
import { frame, readFrames } from '../../../agent/language-servers/connection.ts';
import type { LanguageServer } from '../../../agent/language-servers/language-server.ts';
import { openSession, type SessionTimes } from '../../../agent/language-servers/session.ts';
import type { Visible } from '../../../agent/language-servers/texts.ts';
import type { CodeUse } from '../../../core/interfaces/worker.ts';

export type Message = Readonly<Record<string, unknown>>;

/** What a server that is made up may do. */
export interface Wire {
  /** Octets as they are. */
  raw(bytes: string | Uint8Array): void;
  send(message: object): void;
  die(how?: string): void;
}

/** What is played of a request that stays without an answer. */
export const silence = Symbol('silence');

/** Answers a message of the client: an answer to a request, or `undefined` where it does what it likes. */
export type Play = (message: Message, wire: Wire) => unknown;

export const server: LanguageServer = {
  files: { '.fake': 'fake' },
  project: [],
  commands: [],
  settings: { fake: { deep: { key: 7 } } },
};

/** Answers that take any time, and those that do not come. */
export const patient: SessionTimes = { startMs: 60_000, answerMs: 60_000, quietMs: 50 };
export const hasty: SessionTimes = { startMs: 300, answerMs: 300, quietMs: 50 };

const able = { capabilities: {}, serverInfo: { name: 'fake', version: '1' } };
export const inside = '/workspace';

/** A workspace with these files, and a session with a server that plays. */
export async function playServer(
  t: Test,
  play: Play,
  {
    times = patient,
    capabilities = {},
    files = {},
    hidden = [],
  }: {
    readonly times?: SessionTimes;
    readonly capabilities?: object;
    readonly files?: Readonly<Record<string, string>>;
    readonly hidden?: readonly string[];
  } = {},
) {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'writ-code-')));
  t.teardown(() => rmSync(workspace, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ 'a.fake': 'let name = 1;\nuse(name);\n', ...files })) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  const visible: Visible = { workspace, inside, shows: (path) => !hidden.includes(path) };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { promise: ended, resolve: die } = Promise.withResolvers<string>();
  const seen: Message[] = [];
  let isEnded = false;
  const wire: Wire = {
    raw: (bytes) => void (output.destroyed || output.write(bytes)),
    send: (message) => wire.raw(frame(message)),
    die(how = 'ended with 1') {
      output.end();
      die(how);
    },
  };
  const serve = async (): Promise<void> => {
    for await (const message of readFrames(input)) {
      seen.push(message);
      const { id, method } = message;
      const played = play(message, wire);
      if (id === undefined || method === undefined || played === silence) continue;
      if (played !== undefined) wire.send({ id, result: played });
      else if (method === 'initialize')
        wire.send({ id, result: { ...able, capabilities: { ...able.capabilities, ...capabilities } } });
    }
  };
  serve().catch(() => {});
  const started = {
    pipes: { input, output },
    ended,
    said: () => '',
    async [Symbol.asyncDispose]() {
      isEnded = true;
      input.destroy();
      die('was ended by SIGKILL');
    },
  };
  let session: ReturnType<typeof openSession> | undefined;
  const ask = async (use: Partial<CodeUse>) => {
    session ??= openSession(started, server, visible, times);
    return (await session).ask(
      { kind: 'code', action: 'hover', path: 'a.fake', ...use },
      use.path ?? 'a.fake',
      visible,
    );
  };
  return { workspace, seen, wire, ask, isEnded: () => isEnded };
}

/** Plays one answer to one method. */
export function answering(method: string, answer: (message: Message, wire: Wire) => unknown): Play {
  return (message, wire) => (message.method === method ? answer(message, wire) : undefined);
}
