import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answeringModel, type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import type { Asked } from '../../providers/model-server.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { outputOf } from '../../starter/run-program.ts';
import { openTerminalScene } from './open-terminal-scene.ts';

const key = { OPENAI_API_KEY: 'sk-planted-0123456789' };

/** `writ code` in a real terminal, over the sample's repository, with a model that answers from its script. */
export async function openCodeScene(
  replies: readonly ScriptedReply[] | ((asked: Asked) => ScriptedReply),
  ...more: readonly string[]
) {
  const sample = makeSample();
  const model = await (typeof replies === 'function' ? answeringModel(replies) : scriptModel(replies));
  const home = join(sample.root, '..', 'home');
  mkdirSync(home, { recursive: true });
  const lineIn = (env: Readonly<Record<string, string>>, ...args: readonly string[]) => ({
    program: process.execPath,
    args: [
      ...launcherOptions,
      writProgram,
      'code',
      ...['--port', '0', '--mcp-port', '0', '--provider', 'openai', '--model', 'gpt-6-luna'],
      ...['--api-base', model.base, ...more, ...args],
    ],
    cwd: sample.root,
    env: { ...sample.env, HOME: home, TERM: 'xterm-256color', ...env },
    columns: 100,
    rows: 30,
  });
  const startIn = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
    openTerminalScene(lineIn(env, ...args));
  return {
    sample,
    key,
    /** How it is started, by whoever starts it. */
    line: () => lineIn(key),
    start: (...args: readonly string[]) => startIn(key, ...args),
    startIn,
    /** Nothing of a repository is known before `open` is called: an environment in which a start waits for that. */
    gate: () => gateIn(home, sample.env),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      sample.remove();
    },
  };
}

function gateIn(home: string, env: Readonly<Record<string, string>>) {
  const [tools, open] = [join(home, 'tools'), join(home, 'open')];
  const git = outputOf('sh', ['-c', 'command -v git'], { cwd: home, env }).toString().trim();
  mkdirSync(tools, { recursive: true });
  rmSync(open, { force: true });
  const shim = `#!/bin/sh\nwhile [ ! -e '${open}' ]; do sleep 0.05; done\nexec '${git}' "$@"\n`;
  writeFileSync(join(tools, 'git'), shim);
  chmodSync(join(tools, 'git'), 0o755);
  return {
    env: { ...key, PATH: `${tools}:${env.PATH}` },
    open: () => writeFileSync(open, ''),
    shut: () => rmSync(open),
  };
}
