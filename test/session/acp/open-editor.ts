import { type ChildProcess, spawn } from 'node:child_process';
import { PassThrough, Readable, type Writable } from 'node:stream';
import {
  type ClientContext,
  client,
  type InitializeResponse,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { dispatch } from '../../../bin/dispatch.ts';
import { openSink } from '../../../bin/terminal/print.ts';
import { answeringModel, type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { sharedPool } from '../../engine/shared-pool.ts';
import type { Asked, ModelServer } from '../../providers/model-server.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';

/** What a person chooses: an option by its name, one that was not offered as `#ID`, or nothing. */
export type Chooses = (asked: RequestPermissionRequest) => string | undefined | Promise<string | undefined>;

/** An editor with the client of the SDK, and `writ code --acp` behind it. */
export interface Editor {
  readonly sample: Sample;
  readonly model: ModelServer;
  readonly agent: ClientContext;
  readonly hello: InitializeResponse;
  /** Every update and permission request, in order. */
  readonly updates: readonly SessionUpdate[];
  readonly asked: readonly RequestPermissionRequest[];
  /** Messages of the agent since the last call. */
  said(): string;
  begin(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<string>;
  /** Writes a line as it is. */
  raw(line: string): void;
  /** What writ wrote to standard output and standard error. */
  readonly out: () => string;
  readonly err: () => string;
  /** Ends the standard input; answers the exit code. */
  end(): Promise<number>;
  readonly ended: Promise<number>;
  readonly child: ChildProcess | undefined;
}

interface EditorSetting {
  readonly chooses?: Chooses;
  /** Starts a process; absent: the same command line in this process. */
  readonly isProgram?: boolean;
  readonly argv?: readonly string[];
  readonly sample?: Sample;
}

export async function openEditor(
  t: Test,
  replies: readonly ScriptedReply[] | ((asked: Asked) => ScriptedReply),
  { chooses = () => undefined, isProgram = false, argv = [], sample = makeSample() }: EditorSetting = {},
): Promise<Editor> {
  const model = await (typeof replies === 'function' ? answeringModel(replies) : scriptModel(replies));
  const words = ['code', '--acp', '--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
  const env = { ...sample.env, OPENAI_API_KEY: 'key-of-nobody-1234567890' };
  const { stdin, stdout, stderr, ended, child } = (isProgram ? startProgram : startHere)(
    [...words, ...argv],
    sample.root,
    env,
  );
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  const read = new PassThrough();
  stdout.on('data', (chunk: Buffer) => {
    out.push(chunk);
    read.write(chunk);
  });
  stdout.on('end', () => read.end());
  stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  let heard = 0;
  const app = client({ name: 'editor' })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const name = await chooses(params);
      const found = params.options.find((one) => one.name === name)?.optionId;
      const optionId = name?.startsWith('#') ? name.slice(1) : found;
      if (optionId === undefined) return { outcome: { outcome: 'cancelled' as const } };
      return { outcome: { outcome: 'selected' as const, optionId } };
    })
    .onNotification(methods.client.session.update, ({ params: { update } }) => void updates.push(update));
  const connection = app.connect(
    ndJsonStream(
      // Lines of tests go between.
      new WritableStream<Uint8Array>({ write: (chunk) => void stdin.write(chunk) }),
      Readable.toWeb(read) as ReadableStream<Uint8Array>,
    ),
  );
  const agent = connection.agent;
  const end = async (): Promise<number> => {
    stdin.end();
    return ended;
  };
  t.teardown(async () => {
    await end();
    await model[Symbol.asyncDispose]();
    sample.remove();
  });
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {},
  });
  return {
    sample,
    model,
    agent,
    hello,
    updates,
    asked,
    said() {
      const texts = updates
        .slice(heard)
        .flatMap((one) =>
          one.sessionUpdate === 'agent_message_chunk' && one.content.type === 'text'
            ? [one.content.text]
            : [],
        );
      heard = updates.length;
      return texts.join('');
    },
    async begin() {
      const { sessionId } = await agent.request(methods.agent.session.new, {
        cwd: sample.root,
        mcpServers: [],
      });
      return sessionId;
    },
    async prompt(sessionId, text) {
      const { stopReason } = await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text }],
      });
      return stopReason;
    },
    raw: (line) => void stdin.write(line),
    out: () => Buffer.concat(out).toString(),
    err: () => Buffer.concat(err).toString(),
    end,
    ended,
    child,
  };
}

interface Started {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<number>;
  readonly child?: ChildProcess;
}

type Start = (argv: readonly string[], cwd: string, env: Readonly<Record<string, string>>) => Started;

const startProgram: Start = (argv, cwd, env) => {
  const child = spawn(process.execPath, [...launcherOptions, writProgram, ...argv], {
    cwd,
    env,
    stdio: 'pipe',
  });
  const { stdin, stdout, stderr } = child;
  stdin.on('error', () => {});
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  return { stdin, stdout, stderr, ended, child };
};

const startHere: Start = (argv, cwd, env) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ended = dispatch(argv, commands, {
    out: openSink(stdout),
    err: openSink(stderr),
    outTerminal: {},
    errTerminal: {},
    stdin,
    cwd,
    env,
    pool: sharedPool(),
    signal: new AbortController().signal,
  });
  void ended.then(() => stdout.end());
  return { stdin, stdout, stderr, ended };
};
