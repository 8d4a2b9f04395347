import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { SessionSetting } from '../../../../session/open-session.ts';
import type { Snapshot } from '../../../../session/state/snapshot.ts';
import { launcherOptions, writProgram } from '../../../starter/program.ts';
import type { Door, Refusal } from './door.ts';
import { serveDoor } from './serve-door.ts';

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: { readonly code?: string } };
}

interface Attached {
  readonly controllerToken?: string;
  readonly error?: Refusal;
}

/** A `writ code-control --stdio` for each client, which finds the session and its token by itself. */
export async function openStdioDoor(
  setting: SessionSetting,
  env: Readonly<Record<string, string>>,
  report: (fault: unknown) => void,
): Promise<Door> {
  const { served } = await serveDoor(setting, report);
  const programs = new Map<string, ReturnType<typeof startProgram>>();
  const programOf = (client: string) => {
    const known = programs.get(client) ?? startProgram(setting.repositoryPath, env);
    programs.set(client, known);
    return known;
  };
  /** Leases of browsers, which attach over HTTP: code-control has automation leases only. */
  const leases = new Map<string, string>();
  const attachBrowser = async (clientId: string): Promise<Refusal | undefined> => {
    const response = await fetch(`${served.baseUrl}/api/code/controller/attach`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: served.baseUrl },
      body: JSON.stringify({ clientId, kind: 'browser' }),
    });
    const { controllerToken, error } = (await response.json()) as Attached;
    if (controllerToken !== undefined) leases.set(clientId, controllerToken);
    return error && { code: error.code, message: error.message };
  };
  const told = async (client: string, method: string, params: object = {}): Promise<Refusal | undefined> => {
    const controllerToken = leases.get(client);
    const own = controllerToken === undefined ? params : { ...params, controllerToken };
    const { error } = await programOf(client).call(method, own);
    return error && { code: error.data?.code ?? 'NO_CODE', message: error.message };
  };
  return {
    async attach(clientId, kind) {
      if (kind === 'browser') return attachBrowser(clientId);
      leases.delete(clientId);
      return told(clientId, 'controller.attach', { clientId, kind });
    },
    detach: (clientId) => told(clientId, 'controller.detach', { clientId }),
    say: (client, text, commandId) => told(client, 'message.submit', { text, commandId }),
    answer: (client, interactionId, given) =>
      told(client, 'interaction.respond', { interactionId, ...given }),
    cancel: (client) => told(client, 'turn.cancel'),
    goal: (client, objective, criteria) => told(client, 'goal.start', { objective, criteria }),
    giveUp: (client, reason) => told(client, 'goal.cancel', { reason }),
    async snapshot() {
      const [one] = programs.values();
      const { result } = await (one ?? programOf('watcher')).call('session.get', {});
      return result as Snapshot;
    },
    async [Symbol.asyncDispose]() {
      for (const program of programs.values()) {
        const code = await program.end();
        if (code !== 0) report(new Error(`code-control ended with ${code}`));
      }
      await served[Symbol.asyncDispose]();
    },
  };
}

function startProgram(cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [...launcherOptions, writProgram, 'code-control', '--stdio'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  createInterface(child.stdout).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id ?? 0)?.resolve(answer);
  });
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  void ended.then((code) => {
    for (const one of waiting.values()) one.reject(new Error(`code-control ended with ${code}`));
  });
  let ids = 0;
  return {
    call(method: string, params: object): Promise<Answer> {
      ids += 1;
      const answered = Promise.withResolvers<Answer>();
      waiting.set(ids, answered);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ids, method, params })}\n`);
      return answered.promise;
    },
    end(): Promise<number> {
      child.stdin.end();
      return ended;
    },
  };
}
